"""Pages of the console, and the brand of a workspace."""

from __future__ import annotations

from assent.engine.core import brands as brands
from assent.serving.web.runs import name_operator as name_operator
from assent.serving.web.shell import charts as charts
from assent.serving.web.shell import lists as lists
from assent.serving.web.shell import markdown as markdown
from assent.serving.web.shell import times as times
from assent.serving.web.shell.console import LOOK as LOOK
from assent.serving.web.shell.console import LOOK_AND_SEND as LOOK_AND_SEND
from assent.serving.web.shell.console import SEND as SEND
from assent.serving.web.shell.console import Screen as Screen
from assent.serving.web.shell.console import Visit as Visit
from assent.serving.web.shell.errors_to_pages import Endpoint as Endpoint
from assent.serving.web.shell.errors_to_pages import make_routes as make_routes
from assent.serving.web.shell.headers import PAGE_HEADERS as PAGE_HEADERS
from assent.serving.web.shell.page_site import PageRate as PageRate
from assent.serving.web.shell.picture_files import PICTURE_HEADERS as PICTURE_HEADERS
from assent.serving.web.shell.picture_files import answer as answer
from assent.serving.web.shell.problems import NOT_FOUND as NOT_FOUND
from assent.serving.web.shell.problems import Link as Link
from assent.serving.web.shell.problems import PageProblem as PageProblem
from assent.serving.web.shell.problems import PageRefused as PageRefused
from assent.serving.web.shell.rendering import Badge as Badge
from assent.serving.web.shell.rendering import NavigationEntry as NavigationEntry
from assent.serving.web.shell.rendering import page as page
