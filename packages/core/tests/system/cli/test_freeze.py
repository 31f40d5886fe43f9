"""`assent freeze` and `assent unfreeze`."""

from __future__ import annotations

from tests.support.cli.fixtures import Assent


def test_a_freeze_says_how_long_it_took_and_doctor_shows_it(assent: Assent) -> None:
    assert assent("init").code == 0
    done = assent("freeze", "--why", "a wrong price", "--json").data
    assert done["inEffect"] is True
    assert 0 < done["effectiveAfterMs"] < 5_000
    assert (done["inFlight"], done["scope"]) == (0, "on the whole server")
    again = assent("freeze", "--json").data
    assert again["since"] == done["since"]
    checks = {check["name"]: check for check in assent("doctor", "--json").data["checks"]}
    assert checks["sending"]["detail"].startswith("stopped: the whole server since ")
    said = assent("freeze").out
    assert "It took effect after" in said and "unfreeze" in said
    assert assent("unfreeze", "--json").data["since"] == done["since"]
    assert assent("unfreeze").code == 1


def test_one_workspace_is_frozen_by_its_name_and_the_server_stays_named(assent: Assent) -> None:
    assert assent("init").code == 0
    assert assent("workspace", "create", "acme").code == 0
    assert assent("freeze", "--workspace", "acme", "--json").data["scope"] == "in the workspace 'acme'"
    assert assent("freeze").code == 0
    assert "The whole server is still stopped" in assent("unfreeze", "--workspace", "acme").out
    assert assent("freeze", "--workspace", "acme").code == 0
    assert "Still stopped: " in assent("unfreeze").out
    wrong = assent("freeze", "--workspace", "nowhere")
    assert wrong.code == 1 and "There is no workspace 'nowhere'" in wrong.err
