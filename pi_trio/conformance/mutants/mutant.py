"""What a mutant is: a subject that is right but for one thing, and the clause that this one thing breaks.

A suite that finds nothing may be one that can find nothing. So for each clause there is somebody who breaks it, and the
suite has to say so: a mutant is *killed* if a clause that it breaks is named. That something or other looks wrong is
not enough, for whoever reads the report would look in the wrong place. One change may break several clauses at once; it
proves those that are named, and no others.

Four kinds. In the *runtime* one function is replaced; there a mutant reads as the difference that it makes. On the
*wire* everything is right but for what is said, which works on any implementation. And where a field of a profile
decides, the mutant is the runtime with nothing but that *field* as another release has it. The fourth is no agent: a
*transport* that has a fault, in one function of an adapter or in what it says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

import attrs

from ..clauses import RELEASES, Clause, Clauses
from ..keeper import Opener

Kind: TypeAlias = Literal["runtime", "wire", "field", "transport"]

KINDS: Final[tuple[Kind, ...]] = ("runtime", "wire", "field", "transport")

#: The subject under a profile, given the runtime's patience for a reply, in seconds.
Open: TypeAlias = Callable[[str, float], Opener]


@attrs.frozen(kw_only=True, eq=False)
class Mutant:
    """One mutant.

    Attributes:
        name: what is wrong, in a few words; unique.
        clauses: the ids of the clauses that it breaks, the one that it is about first.
        title: what is wrong, in a sentence.
        open: opens it.
        shows: scenarios in which it shows, besides the evidence of the clauses.
        release: as which it is judged; without one, the newest in which the first clause is in force.
        fault: the id of the fault in the catalogue of what was found in ports.
    """

    name: str
    clauses: tuple[str, ...]
    title: str
    kind: Kind
    open: Open
    shows: tuple[str, ...] = ()
    release: str | None = None
    fault: str = ""

    def judged_as(self, clauses: Clauses) -> str:
        """The name of the profile under which it breaks its clauses."""
        return f"pi-{self.release or newest(clauses[self.clauses[0]])}"


def newest(clause: Clause) -> str:
    """The newest release in which a clause is in force."""
    return next(release for release in reversed(RELEASES) if release in clause.releases)


def words(name: str) -> str:
    """A function's name as a mutant's: `no_poll_after_a_text` is "no poll after a text"."""
    return name if " " in name else name.strip("_").replace("_", " ")


def sentence(docstring: str | None) -> str:
    """The first sentence of a docstring, without the dot."""
    return (docstring or "").strip().partition("\n\n")[0].replace("\n", " ").rstrip(".")


def several(given: str | tuple[str, ...]) -> tuple[str, ...]:
    """One or several, as a tuple."""
    return (given,) if isinstance(given, str) else given
