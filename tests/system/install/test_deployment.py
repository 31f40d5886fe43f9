"""The files of deploy/ work: the container's commands, the settings they name, the reverse proxy, server.json."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import skillsaw
import yaml
from jsonschema import Draft7Validator
from tests.support.certificates import write_certificate
from tests.support.processes.running import SECRETS, Serve, ask, environment, eventually, free_port

from assent import __version__
from assent.extensions.hooks import list_own_settings
from assent.kernel.distribution import PUBLISHED
from assent.settings.table import TABLE

ROOT: Final = Path(__file__).parents[3]
DEPLOY: Final = ROOT / "deploy"
SETTINGS: Final = {row.env for row in (*TABLE, *list_own_settings())}
OTHERS: Final = {"PATH", "PYTHONDONTWRITEBYTECODE", "POSTGRES_PASSWORD"}
HOST: Final = "assent.example.com"
NGINX: Final = shutil.which("nginx") or str(ROOT / ".programs/usr/sbin/nginx")


def read_containerfile() -> dict[str, str]:
    """The last value of each instruction, with its lines joined."""
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    return dict(re.findall(r"^([A-Z]+) +(.*)$", text, re.MULTILINE))


@pytest.mark.slow
def test_the_commands_of_the_container_serve_and_keep_their_volume_over_a_kill(
    tmp_path: Path, wheel: Path
) -> None:
    file, port = read_containerfile(), free_port()
    declared = dict(part.split("=", 1) for part in shlex.split(file["ENV"]))
    declared |= {"PATH": f"{wheel}:/usr/bin:/bin", "ASSENT_DATA_DIR": str(tmp_path), "ASSENT_PORT": str(port)}
    command = [*json.loads(file["ENTRYPOINT"]), *json.loads(file["CMD"])]
    command[0] = str(wheel / command[0])
    check = json.loads(file["HEALTHCHECK"].partition("CMD ")[2])
    check[0] = str(wheel / "python")

    def start() -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            command, env=declared, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        eventually(
            lambda: subprocess.run(check, env=declared, capture_output=True, check=False).returncode == 0,
            "the health check passes",
        )
        return process

    first = start()
    try:
        made = subprocess.run(
            [command[0], "keys", "create", "--label", "test"],
            env=declared,
            capture_output=True,
            text=True,
            check=True,
        )
        key = made.stdout.strip()
        staged = ask(
            port,
            "chieflab_post",
            key,
            channel="site",
            title="Hours",
            body="We open at nine on Monday.",
            idempotencyKey="1",
        )
        action_id = staged["actions"][0]["id"]
    finally:
        first.kill()
        first.wait()
    assert subprocess.run(check, env=declared, capture_output=True, check=False).returncode != 0
    second = start()
    try:
        found = ask(port, "chieflab_get_action", key, actionId=action_id)
        assert found["status"] == "awaiting_approval"
    finally:
        second.terminate()
        assert second.wait(30) == 0


def list_variables(found: Any) -> Iterator[str]:
    """Every variable that a manifest sets."""
    for document in found:
        for key, value in document.get("stringData", {}).items():
            yield key
            assert value
        pod = document.get("spec", {}).get("template", {}).get("spec", {})
        for container in pod.get("containers", ()):
            yield from (each["name"] for each in container.get("env", ()))


def test_the_files_name_settings_that_exist() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    named = set(compose["services"]["assent"]["environment"])
    named |= set(re.findall(r"^(\w+)=", (DEPLOY / "env.example").read_text(), re.MULTILINE))
    named |= set(list_variables(yaml.safe_load_all((DEPLOY / "kubernetes/assent.yaml").read_text())))
    named |= set(re.findall(r"#\s+(\w+)=", (DEPLOY / "nginx.conf").read_text()))
    named |= {part.partition("=")[0] for part in shlex.split(read_containerfile()["ENV"])}
    assert named >= {"ASSENT_DATABASE_URL", "ASSENT_SECRET", "RUN_TOKEN_SECRET", "ASSENT_BASE_URL"}
    assert named - SETTINGS <= OTHERS


def test_the_image_and_its_pods_have_no_root_and_a_root_file_system_that_is_read_only() -> None:
    user, _ = read_containerfile()["USER"].split(":")
    documents = list(yaml.safe_load_all((DEPLOY / "kubernetes/assent.yaml").read_text()))
    (pod,) = (each["spec"]["template"]["spec"] for each in documents if each["kind"] == "StatefulSet")
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == int(user) > 0
    assert container["securityContext"]["readOnlyRootFilesystem"]
    written = {each["mountPath"] for each in container["volumeMounts"]}
    assert written == {"/tmp", read_containerfile()["VOLUME"]}  # noqa: S108
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["assent"]
    assert compose["read_only"] and compose["tmpfs"] == ["/tmp"]  # noqa: S108


def test_the_pods_of_the_manifest_keep_their_data_drain_in_time_and_are_walled_in() -> None:
    documents = {
        each["kind"]: each for each in yaml.safe_load_all((DEPLOY / "kubernetes/assent.yaml").read_text())
    }
    spec = documents["StatefulSet"]["spec"]
    pod = spec["template"]["spec"]
    claimed = {each["metadata"]["name"] for each in spec["volumeClaimTemplates"]}
    mounted = {each["mountPath"]: each["name"] for each in pod["containers"][0]["volumeMounts"]}
    assert mounted[read_containerfile()["VOLUME"]] in claimed
    environment = {each["name"]: each["value"] for each in pod["containers"][0]["env"]}
    probe = pod["containers"][0]["readinessProbe"]
    seen_after = probe["periodSeconds"] * probe.get("failureThreshold", 3)
    assert seen_after <= int(environment["ASSENT_DRAIN_SECONDS"]) < pod["terminationGracePeriodSeconds"]
    policy = documents["NetworkPolicy"]["spec"]
    assert policy["podSelector"] == spec["selector"] and set(policy["policyTypes"]) == {"Ingress", "Egress"}


def test_the_unit_of_systemd_starts_the_command_with_settings_that_exist() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "assent.service")
    program, command, *flags = unit["Service"]["ExecStart"].split()
    assert (Path(program).name, command) == ("assent", "serve")
    named = set(re.findall(r"^Environment=(\w+)=", (DEPLOY / "assent.service").read_text(), re.MULTILINE))
    assert named and named <= SETTINGS
    known = subprocess.run(
        [sys.executable, "-m", "assent", "serve", "--help"], capture_output=True, text=True
    )
    assert all(flag in known.stdout for flag in flags)


@pytest.mark.slow
def test_the_probes_of_the_manifest_answer_by_the_address_of_a_pod(
    tmp_path: Path, own_database_url: str
) -> None:
    documents = list(yaml.safe_load_all((DEPLOY / "kubernetes/assent.yaml").read_text()))
    (container,) = next(
        each["spec"]["template"]["spec"]["containers"] for each in documents if each["kind"] == "StatefulSet"
    )
    probes = {container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness", "readiness")}
    settings = {"ASSENT_BASE_URL": f"https://{HOST}", "ASSENT_DATABASE_URL": own_database_url, **SECRETS}
    with Serve(tmp_path, settings) as serve:
        for path in sorted(probes):
            answer = httpx.get(
                f"http://127.0.0.1:{serve.port}{path}", headers={"Host": f"10.42.0.17:{serve.port}"}
            )
            assert answer.status_code == 200, path


class Proxy:
    """nginx with deploy/nginx.conf, on a port and with a certificate of its own."""

    def __init__(self, folder: Path, serve_port: int) -> None:
        self.port = free_port()
        certificate, key = write_certificate(folder, HOST)
        text = (DEPLOY / "nginx.conf").read_text()
        for before, after in {
            "listen 443 ssl": f"listen 127.0.0.1:{self.port} ssl",
            "server 127.0.0.1:8080": f"server 127.0.0.1:{serve_port}",
            "/etc/ssl/assent.example.com.pem": str(certificate),
            "/etc/ssl/assent.example.com.key": str(key),
        }.items():
            assert text.count(before) == 1
            text = text.replace(before, after)
        places = "".join(
            f"{name}_temp_path {folder}/{name};"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (folder / "nginx.conf").write_text(
            f"daemon off; master_process off; pid {folder}/pid; error_log stderr;\n"
            f"events {{}}\nhttp {{ access_log off; {places}\n{text}\n}}\n"
        )
        self.process = subprocess.Popen(
            [NGINX, "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")], env=environment({})
        )
        self.context = ssl.create_default_context(cafile=str(certificate))

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {"Host": HOST, **options.pop("headers", {})}
        with httpx.Client(verify=self.context, timeout=20) as client:
            url = f"https://127.0.0.1:{self.port}{path}"
            return client.request(method, url, headers=headers, extensions={"sni_hostname": HOST}, **options)


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[tuple[Proxy, Serve]]:
    settings = {
        "ASSENT_BASE_URL": f"https://{HOST}",
        "ASSENT_TRUST_PROXY_HEADERS": "true",
        "ASSENT_SIGNUPS_PER_HOUR": "1",
    }
    with Serve(tmp_path / "data", settings) as serve:
        (tmp_path / "proxy").mkdir()
        proxy = Proxy(tmp_path / "proxy", serve.port)
        try:
            eventually(lambda: _answers(proxy), "nginx answers")
            yield proxy, serve
        finally:
            proxy.process.terminate()
            proxy.process.wait(20)


def _answers(proxy: Proxy) -> bool:
    assert proxy.process.poll() is None
    try:
        return proxy.request("GET", "/").status_code == 200
    except httpx.TransportError:
        return False


def sign_up(proxy: Proxy, address: str) -> str:
    return proxy.request(
        "POST",
        "/api/tools/chieflab_signup_workspace",
        json={"name": "Acme", "email": "ada@example.org"},
        headers={"X-Forwarded-For": address},
    ).text


@pytest.mark.slow
@pytest.mark.skipif(not Path(NGINX).exists(), reason="nginx could not be had; `make test` says so")
def test_behind_the_proxy_links_are_public_and_a_client_cannot_choose_its_address(
    proxied: tuple[Proxy, Serve],
) -> None:
    proxy, serve = proxied
    page = proxy.request("GET", "/")
    assert page.status_code == 200 and f"127.0.0.1:{serve.port}" not in page.text
    assert "strict-transport-security" in page.headers
    for path in ("/healthz", "/readyz", "/metrics"):
        assert proxy.request("GET", path).status_code == 404
    assert proxy.request("GET", "/", headers={"Host": "evil.example"}).status_code == 421
    # One address may sign up once, whatever it says about itself; the server's own listener believes the header.
    assert f"https://{HOST}/" in sign_up(proxy, "198.51.100.1")
    assert "rate_limited" in sign_up(proxy, "198.51.100.2")


def test_server_json_is_valid_and_names_this_version() -> None:
    found = json.loads((ROOT / "server.json").read_text())
    year = re.search(r"/schemas/([\d-]+)/", found["$schema"])
    assert year is not None
    folder = Path(skillsaw.__file__).parent / "schemas/mcp_registry" / f"v{year[1].replace('-', '_')}"
    schema = json.loads((folder / "server.schema.json").read_text())
    assert list(Draft7Validator(schema).iter_errors(found)) == []
    packages = found.get("packages", [])
    assert len(packages) == PUBLISHED
    assert {found["version"], *(package["version"] for package in packages)} == {__version__}
    for package in packages:
        assert {each["name"] for each in package["environmentVariables"]} <= SETTINGS
    assert f"<!-- mcp-name: {found['name']} -->" in (ROOT / "README.md").read_text()
