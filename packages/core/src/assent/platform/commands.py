"""What a command of an extension gets and raises."""

from __future__ import annotations

from assent.cli.session import CommandSession as CommandSession
from assent.cli.session import Failure as Failure
