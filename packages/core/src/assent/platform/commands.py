"""What a command of an extension gets and raises."""

from __future__ import annotations

from assent.app import App as App
from assent.cli.workspaces import BY as BY
from assent.cli.workspaces import WhichWorkspace as WhichWorkspace
from assent.cli.workspaces import use_workspace as use_workspace
from assent.engine.core.tenancy import Workspace as Workspace
