"""How `@tool` makes a tool of a function; see `tools.decorated`, which is the face of this.

`signature.py` reads the function, `docstring.py` its docstring. `types.py` knows pydantic, which makes schemas of
Python types and turns JSON into them and back; `shadows.py` adds the types that pydantic does not take, `patterns.py`
the dialect of patterns, and `unordered.py` the order in which sets are written. `arguments.py` and `answers.py` are the
two ways through: what the model gave becomes what the function takes, and what it returns becomes a result.
`definition.py` puts them together.

What needs more than the runtime does (the extra `tools`) is in this package and nowhere else. It is imported when the
first function is decorated.
"""

from __future__ import annotations
