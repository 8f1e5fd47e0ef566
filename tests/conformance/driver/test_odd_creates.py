"""What `create` and `setTools` cannot mean is refused, and not quietly taken for something else.

`tests/upstream/test_adapter_commands.py` asks the adapter of real Pi the same.
"""

from __future__ import annotations

from typing import Any

import pytest

from .odd import ODD
from .talk import TOOL, talking


@pytest.mark.parametrize("target", ["agent", "loop"])
@pytest.mark.parametrize("odd", ODD, ids=repr)
async def test_what_makes_no_sense_is_refused(odd: dict[str, Any], target: str) -> None:
    async with talking() as talk:
        said = await talk.reply("create", target=target, **odd)
        assert said.get("error", "").startswith("driver: "), said
        if "tools" in odd:
            await talk.create(target=target)
            assert (await talk.reply("setTools", **odd))["error"].startswith("driver: ")


@pytest.mark.parametrize("level", ["off", "zork"])
async def test_a_thinking_level_is_any_text(level: str) -> None:
    """The releases know different ones, and hand on what they are given."""
    async with talking() as talk:
        await talk.create(initialState={"thinkingLevel": level})
        assert (await talk.do("state"))["thinkingLevel"] == level
        await talk.do("setOption", name="thinkingLevel", value="zork")


@pytest.mark.parametrize("behaviour", [{"set": {}}, {"throw": ""}])
async def test_what_prepares_nothing_prepares_all_the_same(behaviour: dict[str, Any]) -> None:
    async with talking() as talk:
        await talk.create(tools=[{**TOOL, "prepareArguments": behaviour}], snapshot=False)
