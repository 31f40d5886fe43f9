"""The tool set of each name, in one table, so that the size of each list is visible.

A tool without an entry is listed with the gate, where it is noticed.
"""

from __future__ import annotations

from typing import Final

from assent.kernel.toolsets import GATE, LEGACY, Toolset
from assent.tools.definition import Tool

_GROUPS: Final[dict[Toolset, tuple[str, ...]]] = {
    "gate": (
        "chieflab_status",
        "chieflab_report",
        "chieflab_post",
        "chieflab_send",
        "chieflab_approve_action",
        "chieflab_reject_action",
        "chieflab_edit_action",
        "chieflab_withdraw_approval",
        "chieflab_list_pending_actions",
        "chieflab_get_action",
        "chieflab_execute_approved_action",
        "chieflab_publish_approved_post",
        "chieflab_send_email",
        "chieflab_resolve_unknown_outcome",
        "chieflab_use_manual_fallback",
        "chieflab_record_manual_publish",
        "chieflab_list_connectors",
        "chieflab_connect_provider",
        "chieflab_retry_blocked_action",
        "chieflab_signup_workspace",
        "chieflab_get_workspace",
    ),
    "launch": (
        "chieflab_launch_product",
        "chieflab_create_social_graphics",
        "chieflab_take_down_post",
        "chieflab_save_contacts",
        "chieflab_measure",
        "chieflab_post_launch_review",
        "chieflab_record_manual_metrics",
        "chieflab_diagnose_marketing",
        "chieflab_get_run",
        "chieflab_list_assets",
    ),
    "workflows": (
        "workflow_list",
        "workflow_inspect",
        "workflow_start",
        "workflow_advance",
        "workflow_checkpoint",
        "workflow_resume",
    ),
    "memory": (
        "chieflab_brain_read",
        "chieflab_brain_record",
        "chieflab_add_voice_sample",
    ),
    "calls": (
        "chieflab_propose_call",
        "chieflab_claim_call",
        "chieflab_report_call",
    ),
    "admin": (
        "chieflab_help",
        "chieflab_disconnect_provider",
        "chieflab_check_measurement_due",
        "chieflab_list_voice_samples",
        "chieflab_list_tenants",
        "chieflab_create_tenant",
        "chieflab_query_audit",
        "chieflab_list_runs",
        "chieflab_get_asset",
        "chieflab_get_policy",
        "chieflab_set_policy",
    ),
    "legacy": ("chieflab_send_approved_email",),
}

TOOLSET_OF: Final[dict[str, Toolset]] = {name: group for group, names in _GROUPS.items() for name in names}


def list_groups(tool: Tool) -> dict[str, Toolset]:
    """Return a tool's listed names with their tool sets. Other aliases are never listed."""
    own = {tool.name: TOOLSET_OF.get(tool.name, GATE)}
    aliases = {name: TOOLSET_OF[name] for name in tool.aliases if name in TOOLSET_OF}
    return own | aliases | dict.fromkeys(tool.legacy_names, LEGACY)


def name_for_answers(tool: Tool) -> str:
    """Return the name of a tool in answers: the first that is not an old one."""
    return next((name for name, group in list_groups(tool).items() if group != LEGACY), tool.name)
