"""A QR code is offered only for an address that another device can reach."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.processes.running import find_own_address

from assent.settings.load import SettingsError, load_settings
from assent.settings.public_url import is_local, phone_url

ANY = "0.0.0.0"  # noqa: S104 - read, not bound


def load(tmp_path: Path, **flags: str) -> str:
    return phone_url(load_settings({"data_dir": str(tmp_path), **flags}, {"HOME": str(tmp_path)}).settings)


@pytest.mark.parametrize(
    "flags",
    [
        {},
        {"host": ANY},
        {"base_url": "http://localhost:8080"},
        {"base_url": "http://127.0.0.1:8080", "trust_proxy_headers": "true"},
        {"base_url": "http://192.168.1.20:8080"},
        {"base_url": "https://assent.example.com"},
        {"base_url": "http://192.0.2.77:8080", "host": ANY},
        {"base_url": "http://192.168.1.20:9090", "host": ANY},
        {"base_url": "http://192.168.1.20:8080", "host": "192.168.1.21"},
        {"base_url": "http://0.0.0.0:8080", "host": ANY},
    ],
)
def test_an_address_that_is_loopback_or_not_bound_is_not_offered(
    tmp_path: Path, flags: dict[str, str]
) -> None:
    assert load(tmp_path, **flags) == ""


def test_an_address_that_is_bound_or_behind_a_proxy_is_offered(tmp_path: Path) -> None:
    for flags in (
        {"base_url": f"http://{find_own_address()}:8080", "host": ANY},
        {"base_url": "http://192.168.1.20:8080", "host": "192.168.1.20"},
        {"base_url": "http://desk.local:8080", "host": ANY},
        {"base_url": "https://assent.example.com", "trust_proxy_headers": "true"},
    ):
        assert load(tmp_path, **flags) == flags["base_url"], flags


def test_names_of_this_machine_for_itself_are_local() -> None:
    assert all(map(is_local, ("localhost", "a.localhost", "127.0.0.2", "::1", "0.0.0.0", "::", "")))  # noqa: S104
    assert not any(map(is_local, ("192.168.1.20", "fd00::2", "desk.local", "assent.example.com")))


def test_a_certificate_makes_the_address_https_and_needs_its_key(tmp_path: Path) -> None:
    flags = {"data_dir": str(tmp_path), "tls_cert": "a.pem", "tls_key": "a.key"}
    settings = load_settings(flags, {"HOME": str(tmp_path)}).settings
    # The name where the machine has both loopback addresses.
    assert settings.base_url in ("https://localhost:8080", "https://127.0.0.1:8080")
    for missing in ("tls_cert", "tls_key"):
        with pytest.raises(SettingsError, match=f"{missing} is not"):
            load_settings({k: v for k, v in flags.items() if k != missing}, {"HOME": str(tmp_path)})
