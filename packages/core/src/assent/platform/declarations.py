"""What an extension declares before it runs (`assent.extensions.hooks`). A command that opens the store loads this
alone, and no service.

An extension declares its tables with a `Component`: name, table prefix, and the folder that contains
`migrations/{sqlite,postgres}/0001_name.sql` and `statements/*.sql`. `component.statements` binds
them for a transaction.
"""

from __future__ import annotations

from assent.extensions.hooks import Command as Command
from assent.extensions.hooks import DoctorCheck as DoctorCheck
from assent.extensions.hooks import Extension as Extension
from assent.extensions.hooks import ExtensionProcess as ExtensionProcess
from assent.extensions.hooks import OwnSetting as OwnSetting
from assent.kernel.distribution import word_install as word_install
from assent.sql.components import NOW as NOW
from assent.sql.components import Component as Component
from assent.sql.components import How as How
from assent.sql.components import Place as Place
