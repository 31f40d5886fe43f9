"""What an extension declares before it runs (`assent.extensions.hooks`). A command that opens the store loads this
alone, and no service.

An extension declares its tables with a `Component`: name, table prefix, and the folder that contains
`migrations/{sqlite,postgres}/0001_name.sql` and `statements/*.sql`. `component.statements` binds
them for a transaction.
"""

from __future__ import annotations

from assent.extensions.hooks import AgentWords as AgentWords
