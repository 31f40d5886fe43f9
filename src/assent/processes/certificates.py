"""A certificate authority of this installation, and the certificate of its server, for https in a
local network.

A phone that trusts the authority accepts its certificates, so its power is limited: it may vouch for
private addresses, `.local` names and the names it was made for, and for no other site (name
constraints). Its key stays in the data directory.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assent.kernel.structs import Record
from assent.settings.load import SettingsError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, GeneralName, KeyUsage

FOLDER: Final = "tls"
AUTHORITY_DAYS: Final = 3_650
SERVER_DAYS: Final = 397
"""Phones refuse certificates with a longer life."""
PRIVATE: Final = (
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "fc00::/7",
    "fe80::/10",
    "::1/128",
)
OWN_NAMES: Final = ("localhost", "127.0.0.1", "::1")
DISTANT: Final = (("192.0.2.1", socket.AF_INET), ("2001:db8::1", socket.AF_INET6))
"""Addresses of the documentation. Connecting a datagram socket sends nothing."""


class CertificateFiles(Record):
    """The files, and whether the authority is new, so that devices must trust it again."""

    authority: Path
    certificate: Path
    key: Path
    names: tuple[str, ...]
    fingerprint: str
    is_new: bool


def list_own_names() -> tuple[str, ...]:
    """Return the addresses of this machine in its networks, and its name in the local one."""
    found: list[str] = []
    for distant, family in DISTANT:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((distant, 9))
                found.append(str(probe.getsockname()[0]).partition("%")[0])
        except OSError:
            continue
    name = socket.gethostname().partition(".")[0].lower()
    return tuple(dict.fromkeys([*found, *([f"{name}.local"] if name else [])]))


def make_certificate(data_dir: Path, names: tuple[str, ...], now_ms: int) -> CertificateFiles:
    """Write a certificate for these names, and the authority if there is none that may vouch for
    them. Raises `SettingsError` for a name that is none."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding

    wanted = tuple(dict.fromkeys([*names, *OWN_NAMES]))
    general = [_general_name(each) for each in wanted]
    folder, now = data_dir / FOLDER, datetime.fromtimestamp(now_ms / 1000, UTC)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    paths = {name: folder / name for name in ("ca.pem", "ca.key", "server.pem", "server.key")}
    known = _read_authority(paths["ca.pem"], paths["ca.key"])
    is_new = known is None or not _covers(known[0], wanted, now)
    if known is None or is_new:
        known = _make_authority(wanted, now)
        _write(paths["ca.key"], _key_bytes(known[1]), 0o600)
        _write(paths["ca.pem"], known[0].public_bytes(Encoding.PEM), 0o644)
    authority, authority_key = known
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _make_server(authority, authority_key, key, general, now)
    _write(paths["server.key"], _key_bytes(key), 0o600)
    _write(paths["server.pem"], certificate.public_bytes(Encoding.PEM), 0o644)
    return CertificateFiles(
        paths["ca.pem"],
        paths["server.pem"],
        paths["server.key"],
        names,
        authority.fingerprint(hashes.SHA256()).hex(":").upper(),
        is_new,
    )


def _make_authority(names: tuple[str, ...], now: datetime) -> tuple[Certificate, EllipticCurvePrivateKey]:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Assent on {socket.gethostname()}")])
    permitted: list[GeneralName] = [x509.IPAddress(ipaddress.ip_network(each)) for each in PRIVATE]
    for each in (*names, "local"):
        address = _address(each)
        permitted.append(
            x509.IPAddress(ipaddress.ip_network(address)) if address is not None else x509.DNSName(each)
        )
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=AUTHORITY_DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .add_extension(x509.NameConstraints(permitted, None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return made, key


def _make_server(
    authority: Certificate,
    authority_key: EllipticCurvePrivateKey,
    key: EllipticCurvePrivateKey,
    names: list[GeneralName],
    now: datetime,
) -> Certificate:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Assent")]))
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=SERVER_DAYS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(issuer, critical=False)
        .sign(authority_key, hashes.SHA256())
    )


def _usage(*, signs: bool) -> KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=not signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _read_authority(certificate: Path, key: Path) -> tuple[Certificate, EllipticCurvePrivateKey] | None:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
        private = load_pem_private_key(key.read_bytes(), None)
    except (OSError, ValueError):
        return None
    return (found, private) if isinstance(private, EllipticCurvePrivateKey) else None


def _covers(authority: Certificate, names: tuple[str, ...], now: datetime) -> bool:
    """Whether the authority may vouch for all names as long as a certificate lives."""
    from cryptography import x509

    limits = authority.extensions.get_extension_for_class(x509.NameConstraints).value.permitted_subtrees or []
    networks = [ipaddress.ip_network(each.value) for each in limits if isinstance(each, x509.IPAddress)]
    suffixes = [each.value for each in limits if isinstance(each, x509.DNSName)]

    def is_permitted(name: str) -> bool:
        address = _address(name)
        if address is not None:
            return any(address in each for each in networks)
        return any(name == each or name.endswith(f".{each}") for each in suffixes)

    lasts = authority.not_valid_after_utc > now + timedelta(days=SERVER_DAYS)
    return lasts and all(map(is_permitted, names))


def _general_name(name: str) -> GeneralName:
    from cryptography import x509

    address = _address(name)
    if address is not None:
        return x509.IPAddress(address)
    if not name.isascii() or not name.replace("-", "").replace(".", "").isalnum():
        raise SettingsError(
            f"{name!r} is neither an address nor a host name, so no certificate can be made for it.\n"
            "Name what stands between https:// and the port, such as 192.168.1.20 or assent.local."
        )
    return x509.DNSName(name.lower())


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _key_bytes(key: EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _write(path: Path, content: bytes, mode: int) -> None:
    """Replace a file as a whole, with its mode from the first byte on."""
    draft = path.with_suffix(f"{path.suffix}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    draft.replace(path)
