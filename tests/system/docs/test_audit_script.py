"""`make audit`: what it reads from a lock file and what it writes."""

from __future__ import annotations

import http.server
import importlib.util
import json
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit_script", ROOT / "scripts" / "audit.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Osv(http.server.BaseHTTPRequestHandler):
    """Knows one vulnerability of every package that is called msgspec."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        results = [
            {"vulns": [{"id": "GHSA-1"}]} if each["package"]["name"] == "msgspec" else {} for each in asked
        ]
        body = json.dumps({"results": results}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


def test_the_lock_file_becomes_an_sbom_with_every_package_its_hashes_and_its_licence(
    audit: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sbom = tmp_path / "made" / "sbom.json"
    code = audit.main(["--sbom", str(sbom), "--osv", "http://127.0.0.1:9/none"])
    said = capsys.readouterr().out
    assert code == 0 and "NOT CHECKED" in said
    document = json.loads(sbom.read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    lock = (ROOT / "requirements.lock").read_text()
    assert len(document["components"]) == sum("==" in line for line in lock.splitlines())
    found = {each["name"]: each for each in document["components"]}
    assert found["msgspec"]["hashes"] and "BSD" in found["msgspec"]["licenses"][0]["license"]["name"]
    first = sbom.read_bytes()
    audit.main(["--sbom", str(sbom), "--osv", "http://127.0.0.1:9/none"])
    assert sbom.read_bytes() == first


def test_a_known_vulnerability_is_named_and_ends_the_report_with_1(
    audit: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), Osv) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        code = audit.main(
            ["--sbom", str(tmp_path / "s.json"), "--osv", f"http://127.0.0.1:{server.server_port}/"]
        )
        server.shutdown()
    said = capsys.readouterr().out
    assert code == 1 and "GHSA-1" in said and said.count("GHSA-") == 1
