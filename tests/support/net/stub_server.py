"""A server that answers as a test says: plain or with TLS, on loopback, one thread, no framework in between."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.certificates import write_certificate


class Asked(msgspec.Struct, frozen=True):
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What to answer. `endless` repeats the body until the other side goes away; `stall` sends headers and waits."""

    status: int = 200
    body: bytes = b"<title>Here</title>"
    headers: dict[str, str] = msgspec.field(
        default_factory=lambda: {"Content-Type": "text/html; charset=utf-8"}
    )
    endless: bool = False
    stall: bool = False


class StubServer:
    """The server, what it was asked, and what it answers by path."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.asked: list[Asked] = []
        self.answers: dict[str, Answer] = {}
        self.over = threading.Event()

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"


@contextmanager
def stub_server(tls: ssl.SSLContext | None = None) -> Iterator[StubServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            here.asked.append(Asked(self.command, self.path, headers, self.rfile.read(length)))
            answer = here.answers.get(self.path, Answer())
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if not (answer.endless or answer.stall):
                self.send_header("Content-Length", str(len(answer.body)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            try:
                if answer.stall:
                    self.wfile.flush()
                    here.over.wait(20)
                    return
                self.wfile.write(answer.body)
                while answer.endless and not here.over.is_set():
                    self.wfile.write(answer.body)
            except OSError:
                pass

        def do_POST(self) -> None:
            self.do_GET()

        def do_PUT(self) -> None:
            self.do_GET()

        def do_DELETE(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: Any) -> None:
            """Silent."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that hangs up is part of the tests."""

    server = Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    here = StubServer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield here
    finally:
        here.over.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


def redirect(to: str) -> Answer:
    return Answer(status=302, headers={"Location": to}, body=b"")


def packed_bomb(megabytes: int) -> bytes:
    return gzip.compress(b"\0" * (megabytes * 1_000_000), compresslevel=9)


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def certificate(directory: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context for a name, and a client's that trusts it."""
    files = write_certificate(directory, name)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*files)
    client = ssl.create_default_context(cafile=str(files[0]))
    return server, client


@pytest.fixture
def stub() -> Iterator[StubServer]:
    """A server on loopback for one test."""
    with stub_server() as made:
        yield made
