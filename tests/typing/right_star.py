"""All public names are there for who imports everything."""

from __future__ import annotations

from typing import assert_type

from pi_trio import *  # noqa: F403

agent = Agent()  # noqa: F405
assert_type(agent, Agent)  # noqa: F405


async def main(text: str) -> str:
    result = await agent.prompt(text)
    assert_type(result, RunResult)  # noqa: F405
    return result.text
