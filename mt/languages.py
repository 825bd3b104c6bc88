"""What language codes say about writing: two letters for three, and who writes no spaces.

Codes come from users and file names: `de`, `de-AT`, `deu`, `deu_Latn`, `zh-Hant`.
"""

from __future__ import annotations

_CODES = (
    "afr:af amh:am ara:ar asm:as aze:az bel:be ben:bn bul:bg cat:ca ces:cs cze:cs dan:da deu:de "
    "ger:de ell:el gre:el eng:en epo:eo est:et eus:eu baq:eu fas:fa per:fa fin:fi fra:fr fre:fr "
    "gle:ga glg:gl guj:gu heb:he hin:hi hrv:hr hun:hu hye:hy arm:hy ind:id isl:is ice:is ita:it "
    "jpn:ja kan:kn kat:ka geo:ka kaz:kk khm:km kor:ko lao:lo lav:lv lit:lt mal:ml mar:mr mkd:mk "
    "mac:mk mya:my bur:my nep:ne nld:nl dut:nl nob:nb nor:no nno:nn ory:or ori:or pan:pa pol:pl "
    "por:pt ron:ro rum:ro rus:ru sin:si slk:sk slo:sk slv:sl som:so spa:es sqi:sq alb:sq srp:sr "
    "swa:sw swe:sv tam:ta tel:te tha:th tur:tr ukr:uk urd:ur uzb:uz vie:vi zho:zh chi:zh bod:bo "
    "tib:bo dzo:dz"
)
_TWO_LETTERS = dict(code.split(":") for code in _CODES.split())
"""ISO 639-1 codes by those of ISO 639-2 and -3, of languages with rules of their own somewhere."""

_NO_SPACES = {"zh", "ja", "cmn", "yue", "wuu", "gan", "hak", "hsn", "lzh"}
_SPACES_BETWEEN_PHRASES = {"th", "lo", "km", "my", "bo", "dz", "shn", "nod"}


def base_code(language: str) -> str:
    """The language alone, in two letters where it has them: "deu_Latn" and "de-AT" give "de"."""
    code = _subtags(language)[0]
    return _TWO_LETTERS.get(code, code)


def writes_no_spaces(language: str) -> bool:
    """Whether sentences follow each other without a space, as in Chinese and Japanese."""
    return base_code(language) in _NO_SPACES and "latn" not in _subtags(language)


def writes_spaces_between_phrases(language: str) -> bool:
    """Whether spaces part phrases and sentences, not words, as in Thai, Khmer and Burmese."""
    return base_code(language) in _SPACES_BETWEEN_PHRASES and "latn" not in _subtags(language)


def _subtags(language: str) -> list[str]:
    return language.lower().replace("_", "-").split("-")
