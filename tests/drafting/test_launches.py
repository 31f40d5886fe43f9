"""Drafts for twelve launches of real projects: what a maker would publish as it is, on every channel."""

from __future__ import annotations

import re

from tests.drafting.launch_data import LAUNCHES


def test_the_twelve_launches_name_no_address_outside_the_example_domains() -> None:
    assert len({launch.name for launch in LAUNCHES}) == 12
    for launch in LAUNCHES:
        hosts = re.findall(r"https?://([^/\s)\"'>\]]+)", str(launch).replace("\\n", "\n"))
        assert [host for host in hosts if not re.search(r"(?:^|\.)example\.org\.?$|^localhost", host)] == []
