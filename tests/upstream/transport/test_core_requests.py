"""What a provider is given by way of a collection, against three real releases; or what the request fails with."""

from __future__ import annotations

from typing import Any

import pytest

from pi_trio.models.dialect import Dialect, dialect_of

from .core_asking import theirs
from .core_requests import RequestMaker, given_here

EACH = 600

pytestmark = pytest.mark.upstream


def adapted(answer: Any, dialect: Dialect) -> Any:
    """An answer of Pi with what is decided otherwise: T-04, an identity means nothing before 1.6.0."""
    if not dialect.identity:
        answer.get("given", {}).pop("identity", None)
    return answer


def in_order(answer: Any) -> Any:
    """An answer in which the order of the headers counts."""
    headers = answer.get("given", {}).get("headers")
    return answer, None if headers is None else list(headers)


@pytest.mark.parametrize("any_pi", ["0.85.0", "1.0.3", "1.6.0"], indirect=True)
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
