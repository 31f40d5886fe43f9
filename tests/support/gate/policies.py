"""Random policies, facts and decisions, for properties."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

PEOPLE = {"ada@example.org": "ada", "bob@example.org": "bob"}
ROLES = {"ada": "role:owner", "bob": "role:member", "cleo": "role:member"}
AMOUNTS = st.sampled_from([1, 499, 500, 500.5, 501, 10_000])
VALUES: st.SearchStrategy[Any] = st.one_of(
    AMOUNTS,
    st.sampled_from(["x", "y", "500", "499.5", "500 EUR", "600 EUR", "600 NOK", True, None, [1, 2, 3], {}]),
    st.sampled_from([" X\u200b", "\u2179", "\u0445", "x y", " 500 ", "\uff15\uff10\uff10", "true"]),
)

CONDITIONS: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(["x", "500", True, 500, ["x", "y"], [500, 501], ["500 EUR"], [500, "y"], [True, "x"]]),
    st.builds(
        dict,
        at_least=st.sampled_from([500, "500 EUR", 0]),
    ),
    st.builds(dict, at_most=st.sampled_from([500, "500 EUR", 1_000])),
    st.builds(dict, count_at_least=st.integers(0, 4)),
)

WHEN = st.fixed_dictionaries(
    {},
    optional={
        "operator": st.sampled_from(["billing", "launch", ["billing", "post"]]),
        "effect": st.sampled_from(["billing_refund", "linkedin_post"]),
        "channel": st.sampled_from(["billing", "LinkedIn"]),
        "caller": st.sampled_from(["key:1", "ci", "local"]),
        "risk": st.sampled_from(["low", "high", ["low", "medium"]]),
        "reversible": st.booleans(),
        "recipients": st.one_of(
            st.builds(dict, at_least=st.integers(0, 3)),
            st.just({"outside": ["@example.org"]}),
            st.just({"any_of": ["@other.org", "a@example.org"]}),
            st.just({"any_of": ["b@example.org"], "outside": ["@other.org"]}),
        ),
        "amount": CONDITIONS,
        "currency": st.sampled_from(["EUR", ["eur", "NOK"]]),
        "arguments": st.dictionaries(st.sampled_from(["a", "b"]), CONDITIONS, min_size=1, max_size=2),
    },
)

ASK = st.fixed_dictionaries(
    {},
    optional={
        "assurance": st.sampled_from(["agent", "client", "person", "passkey"]),
        "approvers": st.integers(1, 3),
        "people": st.sampled_from(
            [["role:owner"], ["ada@example.org", "bob@example.org"], ["bob@example.org"]]
        ),
        "not_proposer": st.booleans(),
    },
)


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Any]:
    rules = []
    for index in range(draw(st.integers(0, 3))):
        rule: dict[str, Any] = {"name": f"rule {index}", "when": draw(WHEN)}
        if draw(st.integers(0, 4)) == 0:
            rule["deny"] = "No."
        else:
            rule["ask"] = draw(ASK)
        rules.append(rule)
    presets = ["relay", "people", "two_people", *(["none"] if rules else [])]
    return {"preset": draw(st.sampled_from(presets)), "rule": rules}


FACTS = st.fixed_dictionaries(
    {
        "effect": st.sampled_from(["billing_refund", "linkedin_post"]),
        "risk": st.sampled_from(["low", "medium", "high"]),
        "reversible": st.booleans(),
        "operator": st.sampled_from(["billing", "launch", ""]),
        "caller": st.sampled_from(["key:1", "local", ""]),
        "recipients": st.lists(
            st.sampled_from(["a@example.org", "b@example.org", "c@Other.org", "c@\u043ether.org"]),
            unique=True,
            max_size=3,
        ),
        "amount": st.sampled_from(["", "499.99", "500", "600"]),
        "currency": st.sampled_from(["", "EUR", "NOK"]),
        "without": st.lists(st.sampled_from(["recipients", "amount", "arguments"]), unique=True),
        "arguments": st.dictionaries(st.sampled_from(["a", "b"]), VALUES, max_size=2),
        "proposer": st.sampled_from(["ada", "bob", ""]),
    }
)

YESES = st.lists(
    st.fixed_dictionaries(
        {
            "who": st.sampled_from(["ada", "bob", "cleo"]),
            "assurance": st.sampled_from(["agent", "link", "client", "person", "passkey"]),
        }
    ),
    max_size=5,
)
