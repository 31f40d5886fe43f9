"""Reports on the locked dependencies: known vulnerabilities, licences, and an SBOM.

    scripts/audit.py [--lock requirements.lock] [--sbom dist/sbom.cdx.json]

Vulnerabilities come from the database of osv.dev. If that cannot be reached, the report says so and goes on: it then
says nothing about vulnerabilities. Licences are those that the installed packages declare. The SBOM is CycloneDX 1.5,
with the version, the hashes and the licence of each package. Exits with 1 if a vulnerability is known.
"""

from __future__ import annotations

import argparse
import importlib.metadata as installed
import json
import re
import sys
import urllib.error
import urllib.request
import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OSV = "https://api.osv.dev/v1/querybatch"
SECONDS = 20
UNKNOWN = "not declared"

_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True)
class Package:
    """One locked package."""

    name: str
    version: str
    hashes: tuple[str, ...] = ()

    @property
    def purl(self) -> str:
        return f"pkg:pypi/{self.name}@{self.version}"


def read_lock(text: str) -> list[Package]:
    """The packages of a lock file, in its order."""
    found: list[Package] = []
    for block in re.split(r"\n(?=\S)", text):
        if (pin := _PIN.match(block.strip())) is not None:
            found.append(Package(pin[1].lower().replace("_", "-"), pin[2], tuple(_HASH.findall(block))))
    return found


def find_licence(name: str) -> str:
    """The licence that an installed package declares: its expression, its classifier, or its short text."""
    try:
        about = installed.metadata(name)
    except installed.PackageNotFoundError:
        return "not installed here"
    if expression := about.get("License-Expression"):
        return str(expression)
    classifiers = [
        value.rpartition(" :: ")[2]
        for value in about.get_all("Classifier") or ()
        if value.startswith("License :: ")
    ]
    if classifiers:
        return " or ".join(sorted(set(classifiers)))
    text = str(about.get("License") or "").strip()
    return text if text and "\n" not in text and len(text) < 80 else UNKNOWN


def ask_osv(packages: Iterable[Package], url: str = OSV) -> dict[str, list[str]]:
    """The known vulnerabilities by package. Raises OSError if the database cannot be reached."""
    asked = list(packages)
    queries = [
        {"package": {"name": each.name, "ecosystem": "PyPI"}, "version": each.version} for each in asked
    ]
    request = urllib.request.Request(  # noqa: S310 - a fixed address
        url, json.dumps({"queries": queries}).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
        results = json.load(answer)["results"]
    return {
        f"{each.name} {each.version}": [vuln["id"] for vuln in result["vulns"]]
        for each, result in zip(asked, results, strict=True)
        if result.get("vulns")
    }


def make_sbom(packages: Iterable[Package], licences: dict[str, str], version: str) -> dict[str, Any]:
    """The packages as a CycloneDX document. The same packages give the same document."""
    components = [
        {
            "type": "library",
            "bom-ref": each.purl,
            "name": each.name,
            "version": each.version,
            "purl": each.purl,
            "hashes": [{"alg": "SHA-256", "content": digest} for digest in each.hashes],
            "licenses": [{"license": {"name": licences[each.name]}}],
        }
        for each in packages
    ]
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "assent-gate", "version": version}},
        "components": components,
    }


def say(line: str) -> None:
    sys.stdout.write(line + "\n")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lock", type=Path, default=ROOT / "requirements.lock")
    parser.add_argument("--sbom", type=Path, default=ROOT / "dist" / "sbom.cdx.json")
    parser.add_argument("--osv", default=OSV, help="address of the database")
    given = parser.parse_args(arguments)
    packages = read_lock(given.lock.read_text(encoding="utf-8"))
    licences = {each.name: find_licence(each.name) for each in packages}
    given.sbom.parent.mkdir(parents=True, exist_ok=True)
    sbom = make_sbom(packages, licences, installed.version("assent-gate"))
    given.sbom.write_text(json.dumps(sbom, indent=1) + "\n", encoding="utf-8")
    by_licence: dict[str, list[str]] = defaultdict(list)
    for name, licence in licences.items():
        by_licence[licence].append(name)
    say(f"{len(packages)} locked packages; SBOM in {given.sbom}\n\nLicences")
    for licence, names in sorted(by_licence.items(), key=lambda each: -len(each[1])):
        say(f"  {len(names):>3}  {licence}: {', '.join(names)}")
    say("\nKnown vulnerabilities")
    try:
        known = ask_osv(packages, given.osv)
    except (OSError, ValueError, KeyError) as error:
        reason = getattr(error, "reason", error)
        say(f"  NOT CHECKED: the database at {given.osv} cannot be reached from here ({reason}).")
        return 0
    for package, ids in known.items():
        say(f"  {package}: {', '.join(ids)}")
    if not known:
        say("  none")
    return 1 if known else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
