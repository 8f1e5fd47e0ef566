"""The built-in tools against those of Pi's releases: the same calls, on the same files, to the last byte.

Left out are the decisions of `otherwise`, which have to differ. Each release takes 170 MB and some time to install, and
what all three do is on record; so it is the newest alone that is asked, unless `PI_TRIO_TOOL_SEED` names other
generated calls: then all are, and more of them.
"""

from __future__ import annotations

import os

import pytest

from pi_trio.builtin import DIALECTS, builtin_tools
from pi_trio.jsonvalue import thaw

from ...builtin.cases import all_cases
from ...builtin.cases.editing import generated_edits
from ...builtin.cases.reading import generated_reads
from ...builtin.outcomes import our_outcomes, recorded
from .real_tools import RealTools, real_tools
from .record import their_outcomes

pytestmark = pytest.mark.upstream

SEED = os.environ.get("PI_TRIO_TOOL_SEED")


@pytest.fixture(scope="module", params=list(DIALECTS) if SEED else [*DIALECTS][-1:])
def tools(request: pytest.FixtureRequest) -> RealTools:
    return real_tools(request.param)


def test_the_recording_is_what_pi_does(tools, tmp_path):
    outcomes = their_outcomes(tools, list(all_cases()), tmp_path)
    assert outcomes == {name: outcome[tools.release] for name, outcome in recorded().items()}


async def test_generated_calls(tools, tmp_path):
    seed, share = (int(SEED), 1) if SEED else (1, 5)
    cases = [*generated_edits(seed, 1500 // share, 300 // share), *generated_reads(seed, 700 // share)]
    theirs = their_outcomes(tools, cases, tmp_path / "theirs")
    assert sum("error" in outcome for outcome in theirs.values()) < len(cases) / 2
    ours = await our_outcomes(cases, tools.release, tmp_path / "ours")
    assert [(name, ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]] == []


def test_the_declarations(tools):
    """Descriptions are our own. The rest is what Pi tells a provider."""
    (answer,) = tools.answers([{}])
    for theirs, ours in zip(answer, builtin_tools(dialect=DIALECTS[tools.release]), strict=True):
        mine = {
            "name": ours.name,
            "parameters": without_descriptions(ours.parameters),
            **(
                {}
                if ours.output_schema is None
                else {"outputSchema": without_descriptions(ours.output_schema)}
            ),
            **({"constrainedSampling": thaw(ours.constrained_sampling)} if ours.constrained_sampling else {}),
        }
        assert mine == without_descriptions(theirs)


def without_descriptions(schema):
    if isinstance(schema, dict):
        return {key: without_descriptions(item) for key, item in schema.items() if key != "description"}
    return [without_descriptions(item) for item in schema] if isinstance(schema, (list, tuple)) else schema
