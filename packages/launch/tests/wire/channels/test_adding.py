"""A channel is added by a row, or by a folder and its name in the registry."""

from __future__ import annotations

import filecmp
import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import assent_launch
from assent.gate.effects import EffectTypes
from assent.gate.records import Effect
from assent_launch.channels.factory import load_connectors
from assent_launch.channels.registry import MODULES, list_channels, list_connectors
from assent_launch.effect_types import list_types

SOURCE = Path(assent_launch.__file__).parent
CHANNELS = Path("channels")
REGISTRY = CHANNELS / "registry.py"
NETWORKS = CHANNELS / "networks.py"

MASTODON_IMPORTS = "from assent_launch.channels.channel import Channel, Limit, Size, post_form"

MASTODON = """
MASTODON = Channel(
    id="mastodon",
    label="Mastodon",
    aliases=("fediverse",),
    shape="post",
    connectors=("manual",),
    verb="post",
    body=Limit(500),
    habits="Plain words.",
    preview="post",
    picture=Size(1200, 675),
    look_at="https://mastodon.example/home",
    by_hand=post_form("https://mastodon.example/publish", Limit(500), "Name the picture."),
)
"""
PAGER = """
from assent.platform import ConnectorInfo
from assent_launch.channels.channel import Channel, Limit

CHANNEL = Channel(
    id="pager", label="Pager", shape="post", connectors=("pager",), verb="post", body=Limit(80), habits="Short."
)
INFO = ConnectorInfo("pager", "Pager", "Calls people.", "none", ("pager",), ("publish",))
CHANNELS = (CHANNEL,)
CONNECTORS = (INFO,)
"""
PAGER_TYPES = """
from assent_launch.channels.{name} import CHANNEL
from assent_launch.effect_types import make_types

TYPES = make_types(CHANNEL, noun="Call", done="Called")
"""
PAGER_CONNECTOR = """
from assent.platform import Delivered, Delivery, NoLookUp, Readiness, action_of
from assent_launch.channels.{name} import INFO


class PagerConnector(NoLookUp):
    info = INFO
    id = INFO.id
    delivery = Delivery("natural_key")

    async def readiness(self, workspace_id):
        return Readiness(ready=True)

    async def perform(self, ctx, effect):
        action_of(ctx, effect)
        return Delivered("call-1", "https://pager.example/1", {{"said": effect.body}})


def make_connectors(parts):
    return (PagerConnector(),)
"""


WRITTEN = ("pager/__init__.py", "pager/types.py", "pager/connector.py")


def write_pager(folder: Path, package: str) -> None:
    """Write a channel that is a folder."""
    (folder / "pager").mkdir(parents=True)
    for name, text in (("__init__", PAGER), ("types", PAGER_TYPES), ("connector", PAGER_CONNECTOR)):
        text = text.format(name="pager").replace("assent_launch.channels.pager", f"{package}.pager")
        (folder / "pager" / f"{name}.py").write_text(text)


def test_a_channel_of_another_package_is_registered_like_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pager(tmp_path / "other_channels", "other_channels")
    (tmp_path / "other_channels/mastodon.py").write_text(
        f"{MASTODON_IMPORTS}\n{MASTODON}\nCHANNELS = (MASTODON,)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    modules = (
        *MODULES,
        *(importlib.import_module(f"other_channels.{name}") for name in ("mastodon", "pager")),
    )

    assert [row.id for row in list_channels(modules)][-2:] == ["mastodon", "pager"]
    effects = EffectTypes(list_types(modules), list_connectors(modules))
    assert effects.connector("pager").description == "Calls people."
    assert load_connectors(modules)[-1].make_connectors(None)[0].id == "pager"

    called = Effect(channel="pager", verb="post", connector="pager", body="Come.")
    view = effects.describe(called, workspace_id="w", base_url="")
    assert (view.noun, view.done, view.via) == ("Call", "Called", "Pager")
    told = effects.describe(
        Effect(channel="mastodon", verb="post", connector="manual", body="Hi"), workspace_id="w", base_url=""
    )
    assert told.noun == "Mastodon post" and told.preview.kind == "post" and told.takes_picture
    assert told.fields[0].most == 500
    assert told.by_hand is not None and told.by_hand.advice == ("Name the picture.",)
    assert effects.find_channel("Fediverse") is not None


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with two channels more."""
    copy = tmp_path_factory.mktemp("extended") / "assent_launch"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    write_pager(copy / CHANNELS, "assent_launch.channels")
    registry = (copy / REGISTRY).read_text()
    (copy / REGISTRY).write_text(registry.replace("networks,", "networks, pager,"))
    networks = (copy / NETWORKS).read_text()
    table = "CHANNELS: Final = (\n"
    (copy / NETWORKS).write_text(networks.replace(table, f"{MASTODON}\n{table}    MASTODON,\n"))
    return copy


def changed_files(old: Path, new: Path) -> set[str]:
    """Return the files of `new` that `old` has not, or has otherwise."""
    files = {
        file.relative_to(new) for file in new.rglob("*") if file.is_file() and "__pycache__" not in file.parts
    }
    _, differ, missing = filecmp.cmpfiles(old, new, [str(file) for file in files], shallow=False)
    return {*differ, *missing}


@pytest.mark.slow
def test_a_row_or_a_folder_and_its_name_in_the_registry_make_a_channel(
    extended: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.channels.added_channel", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(extended.parent), str(Path.cwd())))},
    )
    told: dict[str, Any] = json.loads(done.stdout)

    assert changed_files(SOURCE, extended) == {
        str(REGISTRY),
        str(NETWORKS),
        *(str(CHANNELS / name) for name in WRITTEN),
    }
    assert told["posted"]["actions"][0]["type"] == "mastodon_post"
    for refused in ("long", "edited"):
        assert told[refused]["problems"][0]["expected"] == "The text has 501 characters; Mastodon takes 500."
    assert "https://mastodon.example/publish" in json.dumps(told["by_hand"])
    assert told["executed"]["status"] == "executed", told["executed"]
    assert told["executed"]["externalUrl"] == "https://pager.example/1"
    assert "Ledgerleaf imports bank statements." in told["page"] and "Pager" in told["page"]
    assert "pager" in {each["id"] for each in told["connectors"]["connectors"]}
    launch = next(tool for tool in told["tools"] if tool["name"] == "chieflab_launch_product")
    assert "mastodon" in launch["inputSchema"]["properties"]["channels"]["description"]
