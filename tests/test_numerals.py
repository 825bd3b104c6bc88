"""Numbers of two texts, by value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.numerals import numbers_differ

SAME = [
    ("1,000.5", "1.000,5"),
    ("1 000,5 m", "1,000.5 m"),
    ("1'000", "1000"),
    ("1\u202f000\u202f000", "1,000,000"),
    ("12,34,567", "1,234,567"),
    ("3,14", "3.14"),
    ("0.125", "0,125"),
    ("١٢٣", "123"),
    ("१२३ ", "123"),
    ("２０２４年", "2024"),
    ("50 %", "50%"),
    ("am 21. Mai", "on the 21st of May"),
    ("12.05.2010", "05/12/2010"),
    ("12.05.2010", "May 12, 2010"),
    ("14. Mai 2010 um 8", "8 o'clock on May 14, 2010"),
    ("in 2010 200 Menschen", "200 people in 2010"),
    ("10:30", "10.30"),
    ("15:30 Uhr", "3:30 p.m."),
    ("1.5 million", "1,500,000"),
    ("1,5 Mio. Euro", "1.500.000 euros"),
    ("1億2,500万ポンド", "£125m"),
    ("28亿", "2.8bn"),
    ("zwei Hunde", "2 dogs"),
    ("100 Leute", "a hundred people"),
    ("in den 90er Jahren", "in the 1990s"),
    ("XXI век", "21st century"),
    ("v2.200.112", "v2.200.112"),
    ("2.200.112", "2,200,112"),
    ("030 123 45 67", "030 1234567"),
    ("2010 war es so, 2010", "in 2010"),
    ("nichts", "nothing"),
]
DIFFERENT = [
    ("kostet 95 Euro", "costs 59 euros"),
    ("95 Euro", "euros"),
    ("95 Euro", "95,000 euros"),
    ("1.000", "1"),
    ("2.500 Euro", "2.5 euros"),
    ("2.200.112", "200000000."),
    ("2.200.112", "2.200.113"),
    ("v1.2.3", "v1.2.4"),
    ("192.168.0.1", "192.168.0.2"),
    ("0301234567", "0301234568"),
    ("0012345", "12345"),
    ("1995", "1996"),
    ("3 Hunde", "4 dogs"),
    ("3,14", "3.41"),
    ("12.05.2010", "13.05.2010"),
    ("10:30", "10:45"),
    ("1.5 million", "2.5 million"),
    ("١٢٣", "124"),
    ("25 %", "52 %"),
]


@pytest.mark.parametrize(("source", "target"), SAME)
def test_forms_of_one_number_are_no_difference(source: str, target: str) -> None:
    assert not numbers_differ(source, target)
    assert not numbers_differ(target, source)


@pytest.mark.parametrize(("source", "target"), DIFFERENT)
def test_other_numbers_are_a_difference_whichever_side_they_are_on(
    source: str, target: str
) -> None:
    assert numbers_differ(source, target)
    assert numbers_differ(target, source)


@given(st.text(st.sampled_from("0123456789.,: '’१٣IVX-p.m年億万 million\u00a0")))
def test_a_text_has_the_numbers_of_itself(text: str) -> None:
    assert not numbers_differ(text, text)
    assert not numbers_differ(text, f"{text} .")
