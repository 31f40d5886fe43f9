"""The store, the services of a process, and the tables and statements of an extension.

An extension declares its tables with a `Component`: name, table prefix, and the folder that contains
`migrations/{sqlite,postgres}/0001_name.sql` and `statements/*.sql`. `component.statements` binds
them for a transaction.
"""

from __future__ import annotations

from assent.engine.core import journal as journal
from assent.engine.core import tenancy as tenancy
from assent.engine.core.services import Services as Services
from assent.engine.core.tenancy import Principal as Principal
from assent.ports.store import Clock as Clock
from assent.ports.store import Row as Row
from assent.ports.store import Store as Store
from assent.ports.store import StoreUnavailable as StoreUnavailable
from assent.ports.store import Transaction as Transaction
from assent.sql.components import Component as Component
from assent.sql.personal import NOW as NOW
from assent.sql.personal import How as How
from assent.sql.personal import Place as Place
