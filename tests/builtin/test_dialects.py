"""The release that the tools follow, and how it is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pi_trio.builtin import (
    TOOLS_1_0_3,
    UnknownToolDialectError,
    bash_tool,
    builtin_tools,
    edit_tool,
    read_tool,
    write_tool,
)
from pi_trio.models.dialect import DIALECT_1_0_3

MAKERS = (read_tool, bash_tool, edit_tool, write_tool)


@pytest.mark.parametrize("dialect", ["1.0.3", "pi-1.0.3", TOOLS_1_0_3])
def test_a_release_by_its_name(dialect):
    schemas = [tool.output_schema for tool in builtin_tools(dialect=dialect)]
    assert schemas == [tool.output_schema for tool in builtin_tools(dialect=TOOLS_1_0_3)]
    assert schemas != [tool.output_schema for tool in builtin_tools()]


@pytest.mark.parametrize("make", [*MAKERS, builtin_tools])
@pytest.mark.parametrize(
    ("dialect", "error", "text"),
    [
        ("1.0", UnknownToolDialectError, r"'1\.0'; known are: 0\.85\.0, 1\.0\.3, 1\.6\.0"),
        (None, TypeError, "not None"),
        (DIALECT_1_0_3, TypeError, "a dialect is a ToolDialect"),
    ],
)
def test_what_is_no_dialect_is_refused_at_once(
    make: Callable[..., Any], dialect: Any, error: type[Exception], text: str
):
    with pytest.raises(error, match=text):
        make(dialect=dialect)
