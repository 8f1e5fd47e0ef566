"""Whether a context was too long, told by words and by numbers."""

from __future__ import annotations

import pytest

from pi_trio.models.dialect import DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0, DIALECTS
from pi_trio.models.failure_texts import ACCOUNT_LIMIT, NO_OVERFLOW, OVERFLOW, TRANSIENT
from pi_trio.models.overflow import is_context_overflow, is_recoverable_length

from .modelling import failed, response, usage


@pytest.mark.parametrize(
    ("text", "overflow"),
    [
        ("prompt is too long: 213462 tokens > 200000 maximum", True),
        ("PROMPT IS TOO LONG", True),
        ("Input token count (1196265) really exceeds the maximum", True),
        ("input token count\nexceeds the maximum", False),
        ("exceeds maximum context length of 1,000 tokens", True),
        ("exceeds maximum context length (262,144)", True),
        ("Throttling error: Too many tokens", False),
        ("ThrottlingException: Too many tokens, please wait", True),
        ("rate limit: too many tokens", False),
        ("insufficient_quota 429", False),
        ("", False),
    ],
)
def test_words(text, overflow):
    for dialect in DIALECTS.values():
        assert is_context_overflow(failed(text), dialect=dialect) is overflow


@pytest.mark.parametrize(
    ("text", "releases"),
    [
        ("Prompt too long", "1.0.3 1.6.0"),
        ("413 Payload Too Large", "1.6.0"),
        ("413", "1.6.0"),
        ("some provider API error (413): no", "1.6.0"),
        ("it said 413", ""),
        ("400 status code (no body)", "0.80.2 0.85.0"),
        ("prompt has 5 tokens, but the configured context size is 4 tokens", "0.85.0 1.0.3 1.6.0"),
    ],
)
def test_words_that_not_every_release_knows(text, releases):
    known = [name for name, dialect in DIALECTS.items() if is_context_overflow(failed(text), dialect=dialect)]
    assert known == releases.split()


def test_an_answer_without_a_body_is_one_providers_overflow():
    message = failed("413 (no body)", provider="cerebras")
    assert is_context_overflow(message, dialect=DIALECT_1_0_3)
    assert is_context_overflow(failed("413 (no body)"), dialect=DIALECT_0_85_0)
    assert not is_context_overflow(failed("413 (no body)"), dialect=DIALECT_1_0_3)


@pytest.mark.parametrize(
    ("message", "overflow"),
    [
        (response(usage=usage(60, 5, 41)), True),
        (response(usage=usage(60, 5, 40)), False),
        (response(usage=usage(60, 5, 41), stop="toolUse"), False),
        (response(usage=usage(59, 0, 40), stop="length"), True),
        (response(usage=usage(58, 0, 40), stop="length"), False),
        (response(usage=usage(59, 1, 40), stop="length"), False),
    ],
)
def test_numbers(message, overflow):
    assert is_context_overflow(message, 100) is overflow
    assert not is_context_overflow(message)


def test_a_response_that_was_cut_below_what_was_wanted():
    cut = response(usage=usage(output=10), stop="length")
    assert [is_recoverable_length(cut, wanted) for wanted in (0, 10, 11)] == [False, False, True]
    assert not is_recoverable_length(response(usage=usage(output=10)), 11)


@pytest.mark.parametrize("table", [OVERFLOW, NO_OVERFLOW, ACCOUNT_LIMIT, TRANSIENT])
def test_a_word_is_added_once_and_dropped_when_it_is_there(table):
    for dialect in DIALECTS.values():
        known = table.known_to(dialect.release)
        assert len(set(known)) == len(known)
    added = [word for words in table.added.values() for word in words]
    assert len(set(added)) == len(added)


def test_case_is_that_of_ascii_alone():
    assert not is_context_overflow(failed("too many to\N{KELVIN SIGN}ens"), dialect=DIALECT_1_6_0)
