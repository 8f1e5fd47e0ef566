"""Reads a docstring: what it says of the whole, and of each parameter; in Google's, numpy's or Sphinx's style."""

from __future__ import annotations

from inspect import cleandoc

import docstring_parser


def read_docstring(text: str | None) -> tuple[str, dict[str, str]]:
    """The description, without the sections, and the descriptions of the parameters by name."""
    text = cleandoc(text or "")
    try:
        read = docstring_parser.parse(text)
    except Exception:  # a text that looks like the beginning of a section, and is none
        return text.strip(), {}
    parameters = {one.arg_name: one.description for one in read.params if one.description}
    return (read.description or "").strip(), parameters
