"""What follows when an action gets another content, on scripted rows."""

from __future__ import annotations

import pytest
from tests.support.builders import stage
from tests.support.scripted import Script

from assent.engine.actions import actions
from assent.gate.records import CHANGES_ASKED


@pytest.mark.parametrize("with_agent", [True, False])
def test_other_content_takes_an_action_back_from_its_agent(with_agent: bool) -> None:
    """Also where nobody edits it: an account is bound."""
    wish = {CHANGES_ASKED: [{"text": "Shorter.", "by": "Ada", "revision": 1}]}
    before = stage(revision=1, metadata=wish if with_agent else {})
    script = Script(
        keep_revision=[], store_view=[], lock_search_texts=[], put_search_texts=[], hold_action=[]
    )

    script.run(actions.revise(before, stage(revision=2, metadata=before.metadata)))

    assert ("hold_action" in script.names) == with_agent
    if with_agent:
        assert script.find("hold_action")["held"] == actions.SHOWN
