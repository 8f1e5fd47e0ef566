"""What a provider is given by way of a collection, against three real releases; or what the request fails with."""

from __future__ import annotations

from typing import Any

import pytest

from pi_trio.models.dialect import Dialect, dialect_of
from pi_trio.models.environment_keys import KEY_VARIABLES

from .core_asking import compared, theirs
from .core_requests import RequestMaker, configured_here, deferred_here, given_here

EACH = 600

pytestmark = pytest.mark.upstream
each_release = pytest.mark.parametrize("any_pi", ["0.85.0", "1.0.3", "1.6.0"], indirect=True)


def adapted(answer: Any, dialect: Dialect) -> Any:
    """An answer of Pi with what is decided otherwise: T-04, an identity means nothing before 1.6.0."""
    if not dialect.identity:
        answer.get("given", {}).pop("identity", None)
    return answer


def in_order(answer: Any) -> Any:
    """An answer in which the order of the headers counts."""
    headers = answer.get("given", {}).get("headers")
    return answer, None if headers is None else list(headers)


@each_release
def test_generated_requests(any_pi):
    dialect = dialect_of(any_pi.release)
    maker = RequestMaker(1, dialect)
    requests = [maker.request() for _ in range(EACH)]
    answers = theirs(any_pi, [("request", (request,)) for request in requests])
    different = [
        (request, mine, answer)
        for request, answer in zip(requests, answers, strict=True)
        if in_order(mine := given_here(dialect, request)) != in_order(adapted(answer, dialect))
    ]
    assert different == []
    assert EACH / 3 < sum("given" in answer for answer in answers) < EACH * 0.9


@each_release
@pytest.mark.parametrize(("ask", "here"), [("deferred", deferred_here), ("configured", configured_here)])
def test_what_can_be_asked_besides(any_pi, ask, here):
    dialect = dialect_of(any_pi.release)
    maker = RequestMaker(2, dialect)
    requests = [maker.deferred() for _ in range(EACH)]
    answers = theirs(any_pi, [(ask, (request,)) for request in requests])
    different = [
        (request, mine, answer)
        for request, answer in zip(requests, answers, strict=True)
        if (mine := here(dialect, request)) != answer
    ]
    assert different == []
    assert len({repr(answer) for answer in answers}) > 5


def test_keys_in_the_environment(pi_install, monkeypatch):
    """The newest release's; no other variable is set."""
    for name in {name for names in KEY_VARIABLES.values() for name in names}:
        monkeypatch.delenv(name, raising=False)
    questions: list[Any] = [("keys", ("nobody", {}))]
    for provider, names in KEY_VARIABLES.items():
        every = {name: f"value of {name}" for name in names}
        one_less = [{name: value for name, value in every.items() if name != left} for left in names]
        questions += [("keys", (provider, env)) for env in ({}, every, *one_less, dict.fromkeys(names, ""))]
    assert [one for one in compared(pi_install, questions) if not one.equal] == []
