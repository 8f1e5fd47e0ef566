"""What is printed of fields of the profile that explain failures."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from pi_trio.conformance.fitting import Concern, Explanation
from pi_trio.conformance.report.fitted import show_explanation

NAMES = ("a", "b", "c", "d")


def shown(*vanished: str) -> list[str]:
    concerns = (
        Concern(field="identity", releases=("pi-0.80.2", "pi-0.85.0", "pi-1.0.3"), scenarios=NAMES),
        Concern(field="durations", releases=("pi-0.80.2",), scenarios=NAMES[:1]),
    )
    explanation = Explanation(profile="pi-1.6.0,identity=pi-1.0.3", concerns=concerns, vanished=vanished)
    console = Console(file=StringIO(), width=40, markup=False, highlight=False)
    show_explanation(console, "pi-1.6.0", explanation)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("wholly", [1, 2, 4])
def test_the_fields_that_explain_failures_are_named_with_examples(wholly: int) -> None:
    assert shown(*NAMES[:wholly]) == [
        f"{wholly} {'failure is' if wholly == 1 else 'failures are'} what other releases do, and nothing else:",
        "  identity   as 0.80.2–1.0.3: shows in 4 (a, b, c, …)",
        "  durations  as 0.80.2: shows in 1 (a)",
        *["  a failure in which a field shows may have other causes too, and is not counted above then"][
            : wholly < 4
        ],
        "  judged as pi-1.6.0; it is nearer to --profile pi-1.6.0,identity=pi-1.0.3",
        "",
    ]
