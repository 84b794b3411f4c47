"""Ids of decisions cannot be forged, altered, spelt otherwise or moved."""

import string
from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest

from thrifty.serve.tokens import LENGTH, Signer, Token

TOKEN = Token(
    2**62 + 5, 7, 2**32 - 1, 2**63 - 1, 12, 1_700_000_000_000_000, 1_700_086_400_000_000, 0.25, True
)
SECRET, OTHER = bytes(range(32)), bytes(range(1, 33))
SIGNER = Signer({1: SECRET})
TEXT = SIGNER.write(TOKEN)


def test_an_id_says_what_was_written() -> None:
    assert len(TEXT) == LENGTH
    assert SIGNER.read(TEXT) == TOKEN
    plain = TOKEN._replace(probability=None, control=False)
    assert SIGNER.read(SIGNER.write(plain)) == plain


@pytest.mark.parametrize("place", range(LENGTH))
def test_no_letter_can_be_changed(place: int) -> None:
    for letter in string.ascii_letters + string.digits + "-_+/=. é":
        if letter != TEXT[place]:
            assert SIGNER.read(TEXT[:place] + letter + TEXT[place + 1 :]) is None


def test_other_spellings_and_lengths_are_refused() -> None:
    raw = urlsafe_b64decode(TEXT)
    signed = next(text for n in range(1000) if "-" in (text := SIGNER.write(TOKEN._replace(number=n))))
    others = (
        f"{TEXT}=",
        f" {TEXT}",
        TEXT[:-4],
        TEXT + "AAAA",
        "",
        f"{TEXT[:-1]}\n",
        signed.replace("-", "+"),
    )
    for other in (*others, urlsafe_b64encode(raw[:-3]).decode(), "A" * LENGTH):
        assert SIGNER.read(other) is None


def test_a_secret_that_was_replaced_still_reads_and_an_unknown_one_does_not() -> None:
    both = Signer({1: SECRET, 2: OTHER})
    assert both.read(TEXT) == TOKEN
    new = both.write(TOKEN)
    assert both.read(new) == TOKEN
    assert SIGNER.read(new) is None
    assert Signer({1: OTHER}).read(TEXT) is None
