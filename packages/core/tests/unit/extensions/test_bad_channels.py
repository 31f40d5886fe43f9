"""Channels and connectors that cannot be used: each extension is left out with a message and its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.extensions.registry import Names, load_extensions

START = """
import assent
mine = assent.Operator("mine")
def declare(**changes):
    given = {"description": "Post it. USE WHEN asked.", "via": ("room",), "shape": assent.Message()}
    return mine.channel(assent.EffectType("wall", "post", **{**given, **changes}))
class Room(assent.Connector):
    id = "room"
    def perform(self, ctx, effect):
        return assent.Receipt("1")
"""
GOOD = START + "declare()\nmine.connector(Room)\n"
OAUTH = "authorize_url='https://a.example', token_url='https://a.example/t', scopes=('w',)"

BAD = {
    "no connector": (START + "declare()\n", "wall_post goes via room, which is no connector"),
    "no channel": (START + "mine.connector(Room)\n", "the operator mine has no effects"),
    "a text as via": (GOOD.replace('("room",)', '"room"'), "via is 'room', which names no connectors"),
    "an empty via": (GOOD.replace('("room",)', "()"), "names no connectors"),
    "no description": (GOOD.replace("Post it. USE WHEN asked.", " "), "it has no description"),
    "an odd shape": (GOOD.replace("assent.Message()", "{}"), "the shape is dict"),
    "an odd limit": (GOOD.replace("Message()", "Message(title=80)"), "the limit of title is int"),
    "a limit of nothing": (
        GOOD.replace("Message()", "Message(body=assent.Limit(0))"),
        "the limit of body is 0",
    ),
    "a count that is a number": (
        GOOD.replace("Message()", "Message(body=assent.Limit(9, count=3))"),
        "the count of body is no function",
    ),
    "too many recipients": (GOOD.replace("Message()", "Message(recipients=10**6)"), "recipients is 1000000"),
    "a picture of words": (GOOD.replace("Message()", "Message(picture='yes')"), "picture is 'yes'"),
    "an odd risk": (GOOD.replace("declare()", "declare(risk='tiny')"), "the risk is 'tiny'"),
    "an odd lack": (GOOD.replace("declare()", "declare(without='amount')"), "without is 'amount'"),
    "a label of two lines": (GOOD.replace("declare()", r"declare(label='a\nb')"), "label is not one line"),
    "a channel of the core": (GOOD.replace('"wall"', '"workflow"'), "the channel workflow is reserved"),
    "a channel with blanks": (GOOD.replace('"wall"', '"the wall"'), "the channel 'the wall' is no name"),
    "a long tool": (
        GOOD.replace('"wall"', f'"{"w" * 40}"').replace('"post"', f'"{"p" * 40}"'),
        "longer than 64",
    ),
    "one type twice": (GOOD + "declare()\n", "the tool mine_wall_post exists already"),
    "one connector twice": (GOOD + "mine.connector(Room)\n", "the connector room exists already"),
    "a connector of the core": (
        GOOD.replace('"room"', '"workflow"'),
        "the connector id workflow is reserved",
    ),
    "a connector of the suite": (
        GOOD.replace('"room"', '"zernio"'),
        "the connector zernio exists already: Assent",
    ),
    "a channel that is no type": (START + "mine.channel('wall')\n", "a channel of mine is str"),
    "a connector that is no class": (START + "mine.connector(3)\n", "a connector of mine is int"),
    "a connector without an id": (GOOD.replace('id = "room"', 'id = ""'), "its id is ''"),
    "a connector that needs arguments": (
        GOOD.replace("    def perform", "    def __init__(self, url): ...\n    def perform"),
        "making a Room raised TypeError",
    ),
    "a connector that performs nothing": (GOOD.replace("def perform", "def do"), "it has no perform"),
    "a delivery of words": (GOOD + "Room.delivery = 'once'\nmine.connector(Room)", "its delivery is str"),
    "nothing that reads back": (
        GOOD + "Room.delivery = assent.read_back()\nmine.connector(Room)",
        "but has no look_up",
    ),
    "two ways to connect": (
        GOOD + f"Room.key, Room.oauth = assent.Key('a', 'b'), assent.OAuth({OAUTH})\nmine.connector(Room)",
        "both oauth and key",
    ),
    "an account without a name": (
        GOOD + f"Room.oauth = assent.OAuth({OAUTH})\nmine.connector(Room)",
        "nothing names the account that people approve",
    ),
    "a key of words": (GOOD + "Room.key = 'yes'\nmine.connector(Room)", "its key is str"),
    "tokens in the clear": (
        GOOD + f"Room.oauth = assent.OAuth({OAUTH.replace('https', 'http')})\nmine.connector(Room)",
        "authorize_url of its oauth is 'http://a.example'",
    ),
    "scopes of words": (
        GOOD + f"""Room.oauth = assent.OAuth({OAUTH.replace("('w',)", "'w'")})\nmine.connector(Room)""",
        "scopes of its oauth are 'w'",
    ),
    "parameters of words": (
        GOOD
        + f"Room.oauth = assent.OAuth({OAUTH}, account_field='id', parameters='w')\nmine.connector(Room)",
        "parameters of its oauth are 'w'",
    ),
    "an account field that is a number": (
        GOOD + f"Room.oauth = assent.OAuth({OAUTH}, account_field=3)\nmine.connector(Room)",
        "account_field of its oauth is 3",
    ),
    "a variable that is a number": (
        GOOD
        + f"Room.oauth = assent.OAuth({OAUTH}, account_field='id', client_id_variable=3)\nmine.connector(Room)",
        "client_id_variable of its oauth is 3",
    ),
    "a key without words": (
        GOOD + "Room.key = assent.Key(3, 'b')\nmine.connector(Room)",
        "where of its key is not one line",
    ),
    "a time limit of nothing": (
        GOOD + "Room.timeout_seconds = 0\nmine.connector(Room)",
        "timeout_seconds is 0",
    ),
    "an asynchronous check": (
        GOOD + "@mine.channels[0].check\nasync def _(effect): ...\n",
        "asynchronous, but it only computes",
    ),
    "a description of another part": (
        GOOD + "@mine.channels[0].describe\ndef _(text): ...\n",
        "the parameter text, which is no part of a message",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_an_extension_with_a_bad_channel_is_left_out_with_its_place(name: str, tmp_path: Path) -> None:
    text, said = BAD[name]
    bad, good = tmp_path / "bad.py", tmp_path / "good.py"
    bad.write_text(text)
    good.write_text(GOOD.replace('"mine"', '"yours"').replace('"wall"', '"door"').replace('"room"', '"hall"'))
    taken = Names(connectors={"zernio": "Assent"})
    loaded = load_extensions((str(bad), str(good)), taken)
    (failure,) = loaded.failures
    assert said in failure.why
    assert "bad.py" in f"{failure.source} {failure.why}"
    assert [operator.id for operator in loaded.operators] == ["yours"]
    assert [channel.tool for channel in loaded.channels] == ["yours_door_post"]
