"""`assent stdio` as a client meets it: protocol on stdout and nothing else, whatever happens inside (W75)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.support.processes.running import ASSENT, ODD, StdioClient, environment, eventually, free_port
from tests.support.warm_processes import run

from assent.kernel.limits import MAX_BODY_BYTES

pytestmark = pytest.mark.slow

PUBLIC = "chieflab_list_connectors"


def only_protocol(lines: list[bytes]) -> list[dict[str, object]]:
    """Every line that was written, as the JSON-RPC answer it must be."""
    answers = [json.loads(line) for line in lines]
    for line, answer in zip(lines, answers, strict=True):
        assert line.endswith(b"\n")
        assert answer["jsonrpc"] == "2.0"
        assert ("result" in answer) != ("error" in answer)
    return answers


@pytest.mark.rule("W75")
def test_nothing_but_protocol_is_written_whatever_a_tool_prints(tmp_path: Path) -> None:
    port = {"ASSENT_PORT": str(free_port())}
    with StdioClient(
        tmp_path, {"ODD_TOOL": "noisy", **port}, flags=("--log-level", "debug"), command=ODD
    ) as client:
        client.ask("initialize")
        for _ in range(3):
            answer = client.ask("tools/call", {"name": PUBLIC, "arguments": {}})
            assert answer["error"]["code"] == -32000
            assert "noise" not in json.dumps(answer)
        client.ask("tools/call", {"name": "chieflab_get_workspace", "arguments": {}})
        client.write(b"not json\n")
        client.line()
        client.ask("nope")
        assert client.end() == 0

    only_protocol(client.seen)
    assert len(client.seen) == 7
    assert b"noise" not in b"".join(client.seen)
    for noise in (
        "print",
        "sys.stdout",
        "the first sys.stdout",
        "descriptor 1",
        "a child",
        "a logger",
        "an exception",
    ):
        assert f"noise from {noise}" in client.log


def test_no_tool_can_read_what_the_client_says(tmp_path: Path) -> None:
    port = {"ASSENT_PORT": str(free_port())}
    with StdioClient(tmp_path, {"ODD_TOOL": "greedy", **port}, command=ODD) as client:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": PUBLIC}}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        client.write(json.dumps(call).encode() + b"\n" + json.dumps(ping).encode() + b"\n")
        assert client.end() == 0

    assert sorted(answer["id"] for answer in only_protocol(client.seen)) == [1, 2]  # type: ignore[type-var]
    assert "took ''" in client.log


def test_a_line_that_is_too_long_is_refused_and_the_next_is_served(tmp_path: Path) -> None:
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    with StdioClient(tmp_path, {"ASSENT_PORT": str(free_port())}) as client:
        client.write(ping + b" " * (MAX_BODY_BYTES - len(ping)) + b"\n")
        assert json.loads(client.line() or b"")["result"] == {}
        for excess in (1, 2, 65_536, 5 * MAX_BODY_BYTES):
            client.write(ping + b" " * (MAX_BODY_BYTES - len(ping) + excess) + b"\n" + ping + b"\n")
            refused = json.loads(client.line() or b"")
            assert (refused["error"]["code"], refused["id"]) == (-32600, 1)
            assert json.loads(client.line() or b"")["result"] == {}
        # The id may also come last.
        client.write(
            b'{"method":"ping","params":{"x":"' + b"y" * MAX_BODY_BYTES + b'"},"jsonrpc":"2.0","id":"z"}\n'
        )
        assert json.loads(client.line() or b"")["id"] == "z"
        assert client.end() == 0


def test_what_was_asked_before_the_end_is_answered_before_the_end(tmp_path: Path) -> None:
    calls = [
        {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "chieflab_get_workspace"}}
        for n in range(200)
    ]
    with StdioClient(tmp_path, {"ASSENT_PORT": str(free_port())}) as client:
        client.write(b"".join(json.dumps(call).encode() + b"\n" for call in calls))
        assert client.end() == 0

    answers = only_protocol(client.seen)
    assert sorted(answer["id"] for answer in answers) == list(range(200))  # type: ignore[type-var]
    assert all("result" in answer for answer in answers)


def test_a_last_line_without_its_end_is_served(tmp_path: Path) -> None:
    with StdioClient(tmp_path, {"ASSENT_PORT": str(free_port())}) as client:
        client.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
        assert client.end() == 0
    assert [answer["id"] for answer in only_protocol(client.seen)] == [1]


def test_a_client_that_stops_reading_and_goes_does_not_leave_a_process_behind(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*ASSENT, "stdio", "--data-dir", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment({"ASSENT_PORT": str(free_port())}),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.close()
    for n in range(50):
        process.stdin.write(b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"}\n' % n)
    process.stdin.close()
    assert process.wait(30) == 0


@pytest.mark.rule("W75")
@pytest.mark.parametrize(
    ("flags", "code"),
    [(["--no-such-flag"], 2), (["--data-dir"], 2), (["--config", "/no/such/file.toml"], 1)],
    ids=lambda value: str(value),
)
def test_a_start_that_fails_says_so_on_stderr_alone(tmp_path: Path, flags: list[str], code: int) -> None:
    done = subprocess.run(
        [*ASSENT, "stdio", *flags],
        input=b"",
        capture_output=True,
        env=environment({}),
        timeout=30,
        check=False,
    )

    assert done.returncode == code
    assert done.stdout == b""
    assert done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.rule("W75")
def test_a_data_directory_that_cannot_be_is_said_and_not_traced(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    done = subprocess.run(
        [*ASSENT, "stdio", "--data-dir", str(in_the_way / "data")],
        input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        capture_output=True,
        env=environment({}),
        timeout=30,
        check=False,
    )

    assert b"Traceback" not in done.stderr
    assert done.returncode == 1 or only_protocol(done.stdout.splitlines(keepends=True))
    if done.returncode == 1:
        assert done.stdout == b""
        assert str(in_the_way).encode() in done.stderr


def test_the_key_in_the_environment_decides_whose_calls_these_are(tmp_path: Path) -> None:
    port = {"ASSENT_PORT": str(free_port())}
    made = run(
        [*ASSENT, "workspace", "create", "Mine", "--json", "--data-dir", str(tmp_path)],
        capture_output=True,
        env=environment({}),
        timeout=30,
        check=True,
    )
    key = json.loads(made.stdout)["apiKey"]

    with StdioClient(tmp_path, {"ASSENT_API_KEY": key, **port}) as client:
        assert client.call("chieflab_get_workspace")["name"] == "Mine"
    with StdioClient(tmp_path, port) as client:
        assert client.call("chieflab_get_workspace")["name"] == "local"
    with StdioClient(tmp_path, {"ASSENT_API_KEY": key[:-2] + "AA", **port}) as client:
        refused = client.call(PUBLIC)
        assert (refused["reason"], refused["statusCode"]) == ("invalid_api_key", 401)
        eventually(lambda: "the key in ASSENT_API_KEY does not work" in client.log, "stderr says so")
        assert key[:-2] not in client.log
