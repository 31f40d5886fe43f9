"""The ASCII form of a domain, and where it is shown."""

from __future__ import annotations

import subprocess
import sys

import pytest

from assent.kernel.domains import ascii_domain, ascii_form, with_ascii_form


@pytest.mark.parametrize(
    ("mailbox", "domain"),
    [
        ("ann@straße.de", "xn--strae-oqa.de"),
        ("Ann <ann@Straße.de>", "xn--strae-oqa.de"),
        ("ann@exаmple.org", "xn--exmple-4nf.org"),  # with a Cyrillic letter
        ("ann@example.org", None),
        ("Löwe <ann@example.org>", None),
        ("nobody", None),
        ("ann@ex\u200dämple.org", None),
    ],
)
def test_a_domain_that_is_not_ascii_is_shown_as_the_mail_system_knows_it(
    mailbox: str, domain: str | None
) -> None:
    assert ascii_form(mailbox) == domain
    assert with_ascii_form(mailbox) == (mailbox if domain is None else f"{mailbox} ({domain})")


@pytest.mark.parametrize(
    "domain", ["ex\u200dämple.org", "\uff45xämple.org", "exämple\u3002org", "ä..org", "ä_b.org"]
)
def test_no_domain_is_mapped_to_another(domain: str) -> None:
    with pytest.raises(ValueError, match="no domain"):
        ascii_domain(domain)


def test_an_ascii_domain_loads_no_tables() -> None:
    code = (
        "import sys; from assent.net.mail_server import Mailbox; Mailbox.parse('Ann <a@b.org>');"
        "assert 'idna' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
