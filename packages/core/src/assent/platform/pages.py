"""Pages of the console, and the brand of a workspace."""

from __future__ import annotations

from assent.serving.web.runs import name_operator as name_operator
from assent.serving.web.shell import charts as charts
from assent.serving.web.shell import lists as lists
from assent.serving.web.shell import times as times
