"""Plural forms of gettext: how many a language has, and which of them is the singular.

The expressions are those of the GNU gettext manual ("Plural forms") and, for languages that it
lacks, of Unicode CLDR's plural rules for whole numbers.
"""

from __future__ import annotations

import gettext
import re
from dataclasses import dataclass

from mt.languages import base_code, normal_code

_ONE_OR_MORE = "nplurals=2; plural=(n != 1);"
_MORE_THAN_ONE = "nplurals=2; plural=(n > 1);"
_EAST_SLAVIC = (
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 "
    "&& (n%100<10 || n%100>=20) ? 1 : 2);"
)

_HEADERS: tuple[tuple[str, str], ...] = (
    (
        "bo dz id ig ja jv km ko lo ms my sah su th to tt vi wo yo zh",
        "nplurals=1; plural=0;",
    ),
    (
        "af an as ast az bg bn brx ca ce ckb da de dv ee el en eo es et eu fi fo fur fy gl gu ha "
        "haw he hi hu hy ia is it ka kk kn ks ku ky lb lg mg ml mn mr nah nb nd ne nl nn no nr ny "
        "om or os pa pap ps pt rm rw sa sc sd si sm sn so sq ss st sv sw ta te tk tn tr ts ug ur "
        "uz ve vo xh yi zu",
        _ONE_OR_MORE,
    ),
    ("ak am br fa fil fr ff ln mi oc pt-br tg ti tl wa", _MORE_THAN_ONE),
    ("be bs hr ru sh sr uk", _EAST_SLAVIC),
    ("cs sk", "nplurals=3; plural=(n==1 ? 0 : n>=2 && n<=4 ? 1 : 2);"),
    (
        "pl csb szl",
        "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);",
    ),
    (
        "lt",
        "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) "
        "? 1 : 2);",
    ),
    ("lv", "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2);"),
    ("ro", "nplurals=3; plural=(n==1 ? 0 : (n==0 || (n%100 > 0 && n%100 < 20)) ? 1 : 2);"),
    ("sl", "nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);"),
    ("hsb dsb", "nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);"),
    ("gd", "nplurals=4; plural=(n==1 || n==11) ? 0 : (n==2 || n==12) ? 1 : (n>2 && n<20) ? 2 : 3;"),
    ("cy", "nplurals=4; plural=(n==1) ? 0 : (n==2) ? 1 : (n != 8 && n != 11) ? 2 : 3;"),
    (
        "mt",
        "nplurals=4; plural=(n==1 ? 0 : n==0 || (n%100>1 && n%100<11) ? 1 "
        ": (n%100>10 && n%100<20) ? 2 : 3);",
    ),
    (
        "ar",
        "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 "
        ": n%100>=11 ? 4 : 5);",
    ),
    ("mk", "nplurals=2; plural=(n%10==1 && n%100!=11 ? 0 : 1);"),
    ("ga iu naq se smn", "nplurals=3; plural=(n==1 ? 0 : n==2 ? 1 : 2);"),
)
_BY_LANGUAGE = {code: header for codes, header in reversed(_HEADERS) for code in codes.split()}
_FORM = re.compile(r"\s*nplurals\s*=\s*(\d{1,2})\s*;\s*plural\s*=\s*([^;]+?)\s*;?\s*")


@dataclass(frozen=True, kw_only=True)
class PluralForms:
    """What the field Plural-Forms of a header says."""

    header: str
    number: int
    singular: int | None
    """The form of one thing; None where all numbers have the same."""


def plural_forms(header: str) -> PluralForms | None:
    """What a field of a header says; None where it says nothing (a template)."""
    found = _FORM.fullmatch(header)
    if found is None or not 0 < int(found[1]) < 20:
        return None
    number = int(found[1])
    try:
        singular = gettext.c2py(found[2])(1)
    except (ValueError, ArithmeticError, RecursionError):
        return None
    is_any = number == 1 or not 0 <= singular < number
    return PluralForms(header=header, number=number, singular=None if is_any else singular)


def plural_forms_of(language: str) -> PluralForms | None:
    """The forms of a language, by its code; None where they are not known here."""
    header = _BY_LANGUAGE.get(normal_code(language)) or _BY_LANGUAGE.get(base_code(language))
    return plural_forms(header) if header else None
