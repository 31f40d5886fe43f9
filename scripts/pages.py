"""Writes the parts of the documentation that are made from tables of the code: `python scripts/pages.py`.

Such a part begins with a line such as `<!-- made: tools -->` and ends with `<!-- end -->`. The function of that name
returns the text between them.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import typer

from assent.cli.commands import app
from assent.extensions.hooks import list_own_settings
from assent.gate.effects import EffectType
from assent.gate.records import Effect, Severity
from assent.gate.webhooks import EVENT_AFTER, ActionEvent, EventAction
from assent.kernel.reasons import STANDARD_REASONS, Reason
from assent.serving.discovery import ABOUT_REFUSALS, write_reason, write_tool
from assent.settings.load import DEFAULTS
from assent.settings.table import TABLE, Kind, Setting
from assent.tools.catalog import Catalog, arrange, input_schema
from assent.tools.definition import Tool
from assent.workflow.contracts import criteria
from assent.workflow.definition import format
from assent_launch.effect_types import effect_types
from assent_launch.extension import list_tools

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = re.compile(r"(<!-- made: (\w+)(?: (\w+))? -->\n).*?(<!-- end -->)", re.DOTALL)
COMMON = "Common options"
IDENTIFIER = "01a1e96a-e786-7e6f-8737-3ce7bd4a07bb"
DIGEST = "bf5eace2e4391624"
VALUES: dict[str, Any] = {
    "ackToken": "ack_9fQ2mXv7",
    "actionId": IDENTIFIER,
    "assetId": IDENTIFIER,
    "body": "Kettle 2 remembers your last three timers.",
    "channel": "site",
    "contacts": [{"email": "ada@example.com"}],
    "digest": DIGEST,
    "email": "ada@example.com",
    "entryId": IDENTIFIER,
    "goal": "first users for Kettle 2",
    "headline": "Kettle 2 remembers your timers",
    "kind": "brand_voice",
    "metrics": {"views": 120},
    "notesMarkdown": "Chose 1.1.0: only fixes.",
    "outcome": "did_not_happen",
    "policy": {"preset": "people"},
    "productUrl": "https://kettle.example.com",
    "provider": "resend",
    "query": "release",
    "reason": "The date is wrong.",
    "runId": IDENTIFIER,
    "source": "the statistics page of the site",
    "stateToken": "st_4Hc0ZkP1",
    "subject": "Kettle 2",
    "tenantId": "acme",
    "text": "Short sentences. No exclamation marks.",
    "to": ["ada@example.com"],
    "url": "https://kettle.example.com/2",
    "workflowId": "assent.merge-request-review",
}
"""A value for each argument that an example has."""
MORE = {
    "chieflab_approve_action": ("actionId", "digest"),
    "chieflab_brain_read": ("query",),
    "chieflab_diagnose_marketing": ("goal",),
    "chieflab_edit_action": ("body",),
    "chieflab_launch_product": ("productUrl", "goal"),
    "chieflab_post": ("body",),
    "chieflab_query_audit": ("runId",),
    "chieflab_record_manual_publish": ("url",),
    "chieflab_send": ("subject", "body"),
    "workflow_advance": ("ackToken", "notesMarkdown"),
    "workflow_list": ("query",),
    "workflow_resume": ("query",),
}
"""Optional arguments that an example has, too."""


def list_pages() -> list[Path]:
    """Return the pages that have a made part."""
    return [page for page in sorted(DOCS.rglob("*.md")) if MADE.search(page.read_text(encoding="utf-8"))]


def fill(text: str) -> str:
    """Write the made parts of a page again."""
    return MADE.sub(lambda part: f"{part[1]}\n{WRITERS[part[2]](*filter(None, [part[3]]))}\n{part[4]}", text)


def make_example(tool: Tool) -> dict[str, Any]:
    """Return arguments that a tool takes: the required ones and those of MORE."""
    required = input_schema(tool.request).get("required", ())
    return {name: VALUES[name] for name in (*required, *MORE.get(tool.name, ()))}


def write_tools() -> str:
    catalog = Catalog(arrange(list_tools()))
    return "\n".join(
        f"{write_tool(tool, listed=tool.name in catalog.offered)}\nExample:\n\n"
        f"```json\n{json.dumps(make_example(tool), indent=2, ensure_ascii=False)}\n```\n"
        for tool in catalog.tools
    )


def list_commands(group: Any = None, path: tuple[str, ...] = ("assent",)) -> Iterator[tuple[str, Any]]:
    """Yield each command with the words that call it."""
    for name, command in (typer.main.get_command(app) if group is None else group).commands.items():
        if hasattr(command, "commands"):
            yield from list_commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


def write_commands() -> str:
    sections, common = [], {}
    for words, command in list_commands():
        rows = []
        for parameter in command.params:
            row = _describe_parameter(parameter)
            if getattr(parameter, "rich_help_panel", None) == COMMON:
                common[row] = None
            else:
                rows.append(row)
        help_text = re.sub(r"[\f\b]", "", command.help or "").strip()
        sections.append(f"### `{words}`\n\n{_escape(help_text)}\n\n{_table(('option', ''), rows)}")
    return "\n".join(
        [*sections, "### Common options\n", "Most commands take these:\n", _table(("option", ""), common)]
    )


def _describe_parameter(parameter: Any) -> tuple[str, str]:
    names = ", ".join(f"`{each}`" for each in (*parameter.opts, *parameter.secondary_opts))
    return names, _escape(getattr(parameter, "help", None) or "")


def _say_reversible(kind: EffectType) -> str:
    found = next(filter(None, (kind.find_reverse(_via(kind, name)) for name in kind.via)), None)
    return "no" if found is None else "partly" if found.leaves else "yes"


def _via(kind: EffectType, connector: str) -> Effect:
    return Effect(channel=kind.channel, verb=kind.verb, connector=connector, body="")


def write_effects() -> str:
    rows = [
        (
            f"`{each.id}`",
            each.label or each.channel,
            each.risk.value if isinstance(each.risk, Severity) else "by its content",
            _say_reversible(each),
            ", ".join(f"`{name}`" for name in each.via) or "none",
            f"`{each.executor_tool}`",
        )
        for each in sorted(effect_types(), key=lambda each: each.id)
    ]
    return _table(("type", "where it appears", "risk", "can be undone", "connectors", "executed by"), rows)


def write_events() -> str:
    moves = defaultdict(list)
    for move, name in EVENT_AFTER.items():
        moves[name].append(move.value)
    events = [(f"`action.{name}`", ", ".join(f"`{each}`" for each in given)) for name, given in moves.items()]
    fields = [
        (f"`{prefix}{field.encode_name}`", _name_type(field.type))
        for prefix, struct in (("", ActionEvent), ("action.", EventAction))
        for field in msgspec.structs.fields(struct)
        if field.name != "action"
    ]
    return _table(("event", "after the move"), events) + "\n" + _table(("field", "type"), fields)


def _name_type(kind: Any) -> str:
    return f"`{_escape(getattr(kind, '__name__', str(kind)))}`"


def write_rules() -> str:
    sys.path.insert(0, str(ROOT))
    from tests.support.rules_manifest import load_manifest, scan

    proofs = defaultdict(dict)
    for claim in scan():
        proofs[claim.rule_id][claim.where.rpartition(":")[0]] = None
    manifest = load_manifest()
    rows = [
        (
            f"<a id='{rule.id.lower()}'></a>{rule.id}",
            _escape(
                " ".join(
                    [rule.sentence, *filter(None, [rule.deviation and f"*Deviation:* {rule.deviation}"])]
                )
            ),
            rule.source,
            f"`{rule.home}`",
            "<br>".join(f"`{file}`" for file in proofs[rule.id]),
        )
        for rule in manifest.rule
    ]
    sources = [(name, _escape(text)) for name, text in manifest.sources.items()]
    return (
        _table(("rule", "sentence", "source", "home", "proofs"), rows)
        + "\n## Sources\n\n"
        + _table(("source", ""), sources)
    )


SHAPES: dict[str, dict[str, Any]] = {
    "WORKFLOW": format.WORKFLOW,
    "FUNCTION": format.FUNCTION,
    "PARAMETER": format.PARAMETER,
    "ASSESSMENT": format.ASSESSMENT,
    "DIMENSION": format.DIMENSION,
    "STANDARD": format.STANDARD,
    "PROMPT_BLOCKS": format.PROMPT_BLOCKS,
    "FRAGMENT": format.FRAGMENT,
    "OUTPUT_CONTRACT": format.OUTPUT_CONTRACT,
    "CONSEQUENCE": format.CONSEQUENCE,
    "AUDIT": format.AUDIT,
    "VERIFICATION": format.VERIFICATION,
    "ACTION": format.ACTION,
    "LOOP": format.LOOP,
    "LOOP_CONFIG": format.LOOP_CONFIG,
    "PARALLEL": format.PARALLEL,
    "DELEGATION": format.DELEGATION,
    "SYNTHESIS": format.SYNTHESIS,
    "RULE": criteria.RULE,
}
"""The objects of a definition by the names of their shapes."""


def write_fields(name: str) -> str:
    """Write the fields of one object of a definition."""
    shape = SHAPES[name]
    rows = [
        (
            f"`{field}`",
            _describe(node),
            "yes" if field in shape["required"] else "",
            _escape(node.get("hint", "")),
        )
        for field, node in shape["properties"].items()
    ]
    return _table(("field", "value", "needed", ""), rows)


def _describe(node: dict[str, Any]) -> str:
    """Return the values that a field takes in a few words."""
    if "enum" in node:
        return ", ".join(f"`{each}`" for each in node["enum"])
    if "const" in node:
        return f"`{node['const']}`"
    kinds = node.get("type", "any value")
    words = " or ".join([kinds] if isinstance(kinds, str) else kinds)
    if kinds == "array" and node.get("items"):
        words = f"list of {_describe(node['items'])}"
    bounds = [
        f"{label} {node[key]:,}"
        for key, label in (
            ("minimum", "from"),
            ("maximum", "to"),
            ("maxLength", "at most"),
            ("minItems", "at least"),
            ("maxItems", "at most"),
        )
        if key in node
    ]
    return " ".join([words, *([f"({', '.join(bounds)})"] if bounds else [])])


KINDS = {
    Kind.TEXT: "text",
    Kind.HOST: "address",
    Kind.PATH: "directory",
    Kind.FILE: "file",
    Kind.DATABASE: "database address",
    Kind.ORIGIN: "web address",
    Kind.COUNT: "whole number",
    Kind.SECONDS: "seconds",
    Kind.SWITCH: "`true` or `false`",
    Kind.PRESENCE: "anything",
    Kind.NAMES: "list",
    Kind.FOLDERS: "folders",
    Kind.OPERATORS: "files and modules",
    Kind.ROLES: "list of value=workspace",
    Kind.PRICES: "list of prices",
    Kind.RISKS: "list of source:tool=risk",
    Kind.KEY: "workspace key",
    Kind.SECRET: "secret, 32 characters or more",
    Kind.SECRETS: "list of secrets",
    Kind.ENDPOINT: "web address",
    Kind.TOKEN: "key of the service",
    Kind.MAIL_SERVER: "mail server address",
    Kind.MAILBOX: "e-mail address",
}
"""What a setting takes, in words."""


def write_settings() -> str:
    head = ("key in the file", "variable", "flag", "value", "default", "")
    return _table(head, [_list_cells(row) for row in (*TABLE, *list_own_settings())])


def _list_cells(row: Setting) -> tuple[str, ...]:
    value = " ".join(f"`{word}`" for word in row.choices) or KINDS[row.kind]
    return (
        f"`{row.name}`" if row.in_file else "",
        f"`{row.env}`",
        f"`{row.flag}`" if row.flag else "",
        value,
        _describe_default(row),
        row.doc,
    )


def _describe_default(row: Setting) -> str:
    if row.default_text is not None:
        return row.default_text
    default = DEFAULTS.get(row.name, row.default)
    if default is None or default == ():
        return "none"
    if isinstance(default, tuple):
        return " ".join(f"`{each}`" for each in default)
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"`{default:g}`" if isinstance(default, float) else f"`{default}`"


def write_calls() -> str:
    """Write the calls that need an approval, and those that need none with the reason."""
    listed = tomllib.loads((ROOT / "contracts/calls.toml").read_text(encoding="utf-8"))["call"]
    kinds = {
        "port": "connectors and notifiers",
        "network": "the server itself",
        "wrap": "wrapped servers",
        "mode": "a wrapped call",
        "sender": "what sends for these",
        "socket": "what opens connections",
    }
    rows = [
        (
            kinds[each["registry"]],
            f"`{each['name']}`",
            _escape(each["under"].replace("approval", "**its approval**")),
        )
        for each in listed
    ]
    return _table(("", "call", "under"), rows)


def write_reasons() -> str:
    own = [reason for reason in Reason if reason not in STANDARD_REASONS]
    of_contract, ours = ("\n".join(map(write_reason, each)) for each in (STANDARD_REASONS, own))
    return f"{ABOUT_REFUSALS}\n## Of the contract\n\n{of_contract}\n## Our own\n\n{ours}"


def write_measured() -> str:
    """Write the rows of the last whole run that have a limit, and why a limit was missed as far as the row says it."""
    run = json.loads((ROOT / "benchmarks/results/latest.json").read_text(encoding="utf-8"))
    rows, notes = [], []
    for each in run["figures"]:
        if (limit := each["limit"]) is None:
            continue
        unit, most = each["unit"], limit["times"]
        found = f"{each['ratio']:.2f}×" if most is not None else f"{each['more']:+.2f} {unit}"
        if each["against"] in ("the budget", "the most it may be"):
            found = f"{_number(each['ours'])} of {_number(each['theirs'])} {unit}"
        kept = f"≤ {most:g}×" if most is not None else f"≤ +{limit['more']:g} {unit}"
        rows.append((each["work"], each["against"], found, kept if each["kept"] else f"**missed**: {kept}"))
        if each["note"] and not each["kept"]:
            notes.append(f"- {each['work']}: {each['note']}.")
    return (
        _table(("work", "against", "measured", "limit"), rows) + "".join(f"\n{each}" for each in notes) + "\n"
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def write_crossings() -> str:
    groups = tomllib.loads((ROOT / "contracts/crossings.toml").read_text(encoding="utf-8"))["crossing"]
    cells = [
        (group["when"], group["why"], " ".join(f"`{name}`" for name in group["statements"]))
        for group in groups
    ]
    return _table(("when", "why", "statements"), cells)


def _table(head: tuple[str, ...], rows: Any) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n" if rows else ""


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("{", "&#123;")


WRITERS: dict[str, Callable[..., str]] = {
    "calls": write_calls,
    "measured": write_measured,
    "commands": write_commands,
    "crossings": write_crossings,
    "effects": write_effects,
    "events": write_events,
    "fields": write_fields,
    "reasons": write_reasons,
    "rules": write_rules,
    "settings": write_settings,
    "tools": write_tools,
}

if __name__ == "__main__":
    for page in list_pages():
        page.write_text(fill(page.read_text(encoding="utf-8")), encoding="utf-8")
