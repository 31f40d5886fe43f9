"""The same commands where the store is PostgreSQL."""

from __future__ import annotations

import pytest
from tests.support.cli.fixtures import Assent
from tests.support.stores.pooler import pooled


@pytest.fixture
def on_postgres(empty_postgres_url: str, bare_environment: pytest.MonkeyPatch) -> None:
    bare_environment.setenv("ASSENT_DATABASE_URL", empty_postgres_url)
    bare_environment.setenv("RUN_TOKEN_SECRET", "k9Tz-3mWqLx8RfVb2NpYs7HdGc5JuEaQ")
    bare_environment.setenv("ASSENT_SECRET", "Zr4Xw9Kd-Lm2Qe7Tn5Vb8Yc3Hs6Fj1Pg")


@pytest.mark.usefixtures("on_postgres")
def test_migrate_create_list_and_doctor(assent: Assent) -> None:
    assert assent("migrate", "--json").data["fromVersion"] == 0
    made = assent("workspace", "create", "acme", "--json").data
    assert made["apiKey"].startswith("clp_live_")
    listed = assent("workspace", "list", "--json").data["workspaces"]
    assert made["workspaceId"] in [each["workspaceId"] for each in listed]
    rotated = assent("keys", "rotate", made["keyId"], "--workspace", "acme", "--json").data
    assert rotated["apiKey"] != made["apiKey"]
    found = {check["name"]: check for check in assent("doctor", "--json").data["checks"]}
    assert found["database"]["ok"]
    assert found["secrets"]["detail"] == "RUN_TOKEN_SECRET (set), ASSENT_SECRET (set)"
    assert found["jobs"]["ok"]
    assert "the last acknowledged writes are lost" in found["replication"]["detail"]
    assert "synchronous_standby_names" in found["replication"]["fix"]
    assert found["pooler"]["detail"] == "none is between; statements are kept prepared"
    frozen = assent("freeze", "--json").data
    assert frozen["inEffect"] is True and 0 < frozen["effectiveAfterMs"] < 10_000
    assert assent("unfreeze").code == 0


@pytest.mark.usefixtures("on_postgres")
def test_a_replica_with_another_secret_refuses_to_start(
    assent: Assent, bare_environment: pytest.MonkeyPatch
) -> None:
    assert assent("init").code == 0
    bare_environment.setenv("ASSENT_SECRET", "another-one-" + "k9Tz-3mWqLx8RfVb2NpYs7HdGc5JuEaQ")
    for words in (["serve"], ["workspace", "list"]):
        done = assent(*words)
        assert (done.code, done.out) == (1, "")
        assert "is not the secret this database was made with" in done.err


@pytest.mark.usefixtures("on_postgres")
def test_a_server_behind_a_pooler_is_set_up_and_a_cache_that_it_breaks_is_named(
    assent: Assent, empty_postgres_url: str, bare_environment: pytest.MonkeyPatch
) -> None:
    with pooled(empty_postgres_url) as url:
        bare_environment.setenv("ASSENT_DATABASE_URL", url)
        assert assent("init").code == 0
        assert assent("workspace", "create", "acme").code == 0
        done = assent("doctor", "--json")
        found = {check["name"]: check for check in done.data["checks"]}
        assert done.code == 0
        assert found["pooler"]["detail"] == "a pooler is between; statements are not kept prepared"
        assert assent("freeze", "--json").data["inEffect"] is True
        assert assent("audit", "verify").code == 0

        bare_environment.setenv("ASSENT_STATEMENT_CACHE", "on")
        for words in (["serve"], ["workspace", "list"]):
            refused = assent(*words)
            assert refused.code == 1
            assert "ASSENT_STATEMENT_CACHE" in refused.err
        done = assent("doctor", "--json")
        assert done.code == 1
        assert any("ASSENT_STATEMENT_CACHE" in check["detail"] for check in done.data["checks"])
