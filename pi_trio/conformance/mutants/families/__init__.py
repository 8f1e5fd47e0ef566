"""The mutants that were written, by what they break. Importing this enters them.

They are not annotated: an original is whatever it is, and its faulty version too.
"""

from __future__ import annotations

from . import aborts as aborts
from . import adapters_asking as adapters_asking
from . import adapters_reading as adapters_reading
from . import calls as calls
from . import failures as failures
from . import hooks as hooks
from . import messages as messages
from . import order as order
from . import ports_batch as ports_batch
from . import ports_call as ports_call
from . import ports_response as ports_response
from . import ports_run as ports_run
from . import queues as queues
from . import retold as retold
from . import runs as runs
from . import states as states
from . import streams as streams
from . import turns as turns
