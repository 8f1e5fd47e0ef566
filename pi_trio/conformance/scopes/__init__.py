"""Small scopes, played whole: what may come in another order comes in every order that there is.

A test picks some orders, and so does chance; here none is left out. `gates` opens what tools wait for one at a time,
in every order, with an abort and a steering message at every point; `schedules` lets everything run at once, and tries
every choice that trio's scheduler has. Each play is judged by the monitors, by what must hold of a batch (`laws`), and
by the other plays: the order may decide what is told when, and nothing else.
"""

from __future__ import annotations

from .catalogue import catalogue as catalogue
from .catalogue import catalogue_for_others as catalogue_for_others
from .covering import Coverage as Coverage
from .covering import Found as Found
from .gates import Gates as Gates
from .schedules import Schedules as Schedules
from .scope import Fault as Fault
from .scope import OrderError as OrderError
from .scope import Play as Play
from .scope import Scope as Scope
