"""Language codes: which of them mean the same language, and how that language is written.

Codes come from users, file names and files: `de`, `de-AT`, `deu`, `ger`, `deu_Latn`, `zh-Hant`,
`sr@latin`. This is the only module that takes them apart.
"""

from __future__ import annotations

import re
from functools import lru_cache

_ISO_639 = (
    "aar:aa abk:ab ave:ae afr:af aka:ak amh:am arg:an ara:ar asm:as ava:av aym:ay aze:az bak:ba "
    "bel:be bul:bg bih:bh bis:bi bam:bm ben:bn bod:bo tib:bo bre:br bos:bs cat:ca che:ce cha:ch "
    "cos:co cre:cr ces:cs cze:cs chu:cu chv:cv cym:cy wel:cy dan:da deu:de ger:de div:dv dzo:dz "
    "ewe:ee ell:el gre:el eng:en epo:eo spa:es est:et eus:eu baq:eu fas:fa per:fa ful:ff fin:fi "
    "fij:fj fao:fo fra:fr fre:fr fry:fy gle:ga gla:gd glg:gl grn:gn guj:gu glv:gv hau:ha heb:he "
    "hin:hi hmo:ho hrv:hr hat:ht hun:hu hye:hy arm:hy her:hz ina:ia ind:id ile:ie ibo:ig iii:ii "
    "ipk:ik ido:io isl:is ice:is ita:it iku:iu jpn:ja jav:jv kat:ka geo:ka kon:kg kik:ki kua:kj "
    "kaz:kk kal:kl khm:km kan:kn kor:ko kau:kr kas:ks kur:ku kom:kv cor:kw kir:ky lat:la ltz:lb "
    "lug:lg lim:li lin:ln lao:lo lit:lt lub:lu lav:lv mlg:mg mah:mh mri:mi mao:mi mkd:mk mac:mk "
    "mal:ml mon:mn mar:mr msa:ms may:ms mlt:mt mya:my bur:my nau:na nob:nb nde:nd nep:ne ndo:ng "
    "nld:nl dut:nl nno:nn nor:no nbl:nr nav:nv nya:ny oci:oc oji:oj orm:om ori:or oss:os pan:pa "
    "pli:pi pol:pl pus:ps por:pt que:qu roh:rm run:rn ron:ro rum:ro rus:ru kin:rw san:sa srd:sc "
    "snd:sd sme:se sag:sg hbs:sh sin:si slk:sk slo:sk slv:sl smo:sm sna:sn som:so sqi:sq alb:sq "
    "srp:sr ssw:ss sot:st sun:su swe:sv swa:sw tam:ta tel:te tgk:tg tha:th tir:ti tuk:tk tgl:tl "
    "tsn:tn ton:to tur:tr tso:ts tat:tt twi:tw tah:ty uig:ug ukr:uk urd:ur uzb:uz ven:ve vie:vi "
    "vol:vo wln:wa wol:wo xho:xh yid:yi yor:yo zha:za zho:zh chi:zh zul:zu"
)
"""ISO 639-2/T, which are those of ISO 639-3 too, and 639-2/B, with the code of ISO 639-1."""

_MEMBERS = (
    "als:sq arb:ar ayr:ay azj:az cmn:zh cwd:cr ekk:et esk:ik fat:ak fil:tl fuc:ff gaz:om gug:gn "
    "ike:iu khk:mn kmr:ku knc:kr kng:kg kpv:kv lvs:lv npi:ne ojg:oj ory:or pbt:ps pbu:ps pes:fa "
    "plt:mg prs:fa quy:qu quz:qu src:sc swc:sw swh:sw uzn:uz ydd:yi zsm:ms zyb:za"
)
"""Members of macrolanguages that CLDR, or FLORES-200, takes for the whole."""

_OLD = "in:id iw:he ji:yi jw:jv mo:ro mol:ro scc:sr scr:hr"
"""Codes that ISO has withdrawn and people still use."""

_TWO_LETTERS = dict(code.split(":") for code in f"{_ISO_639} {_MEMBERS} {_OLD}".split())

_ALSO_MEANS = {"no": {"nb", "nn"}, "sh": {"bs", "cnr", "hr", "sr"}}
"""Macrolanguages whose members have codes of ISO 639-1 too, which are not interchangeable."""

_CHINESE = {"zh", "cdo", "cjy", "cpx", "czh", "czo", "gan", "hak", "hsn", "lzh", "mnp", "nan"}
_CHINESE |= {"wuu", "yue"}
_SPACES_BETWEEN_PHRASES = {"th", "lo", "km", "my", "bo", "dz", "shn", "nod"}


def base_code(language: str) -> str:
    """The language alone, in two letters where it has them: "deu_Latn" and "de-AT" give "de".

    A code that is not known stays as it is, without region and script; private codes, whole.
    """
    return _subtags(language)[0]


def normal_code(language: str) -> str:
    """One spelling of a code with its region and script: "deu_AT" and "de-at" give "de-at"."""
    return "-".join(_subtags(language))


def is_same_language(one: str, other: str) -> bool:
    """Whether two codes can mean one language; Norwegian may be Bokmål or Nynorsk."""
    one, other = base_code(one), base_code(other)
    return one == other or one in _ALSO_MEANS.get(other, ()) or other in _ALSO_MEANS.get(one, ())


def is_chinese(language: str) -> bool:
    """Whether a language is Chinese or one of its kin, which share its characters: Cantonese."""
    return base_code(language) in _CHINESE


def writes_no_spaces(language: str) -> bool:
    """Whether sentences follow each other without a space, as in Chinese and Japanese."""
    of_them = is_chinese(language) or base_code(language) == "ja"
    return of_them and "latn" not in _subtags(language)


def writes_spaces_between_phrases(language: str) -> bool:
    """Whether spaces part phrases and sentences, not words, as in Thai, Khmer and Burmese."""
    return base_code(language) in _SPACES_BETWEEN_PHRASES and "latn" not in _subtags(language)


@lru_cache(maxsize=1024)
def _subtags(language: str) -> tuple[str, ...]:
    """The language in two letters where it has them, and what follows it, in small letters."""
    first, *others = re.split("[-_@]", language.lower())
    if first in ("x", "i") and others:
        return ("-".join([first, *others]),)
    first = _TWO_LETTERS.get(first, first)
    if first == "zh" and others and _TWO_LETTERS.get(others[0], others[0]) in _CHINESE:
        return _subtags("-".join(others))  # zh-yue
    return (first, *others)
