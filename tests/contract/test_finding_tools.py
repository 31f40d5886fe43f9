"""Clients with many tools show a model only those that a search finds. The words people type must find
the right one of the default list first."""

from __future__ import annotations

import math
import re

import pytest

from assent.suite.testing.catalog import ALL_TOOLS
from assent.tools.catalog import Catalog

PHRASINGS = {
    "chieflab_list_connectors": ("which channels can I publish to?", "which connectors are there?"),
    "chieflab_connect_provider": ("connect my LinkedIn account", "hook up Resend so we can send mail"),
    "chieflab_retry_blocked_action": ("I connected it now, try the blocked post again",),
    "chieflab_launch_product": ("launch my product", "I just shipped my app, help me get users"),
    "chieflab_post": (
        "share it on bluesky",
        "tweet this",
        "post this on LinkedIn",
        "write a tweet about the new release",
    ),
    "chieflab_send": (
        "email my investors about the round",
        "write an email to Anna",
        "draft a newsletter to my customers",
    ),
    "chieflab_take_down_post": (
        "remove that post from the site",
        "take that post down",
        "delete the page you published",
    ),
    "chieflab_create_social_graphics": ("make a banner image for the post", "create a graphic for twitter"),
    "chieflab_save_contacts": ("save her as a contact in HubSpot", "add these people to my CRM"),
    "chieflab_measure": (
        "how much traffic did it get?",
        "how did the launch go?",
        "how many clicks did we get?",
    ),
    "chieflab_post_launch_review": ("the measurement was empty yesterday, replay it",),
    "chieflab_record_manual_metrics": ("we got 120 points on Hacker News, note the numbers",),
    "chieflab_diagnose_marketing": ("why is my campaign not working?", "what is wrong with our marketing?"),
    "chieflab_brain_read": ("what do you know about our brand voice?", "what have we learned so far?"),
    "chieflab_brain_record": ("remember that we never use emojis", "don't forget that our price is 9 euros"),
    "chieflab_add_voice_sample": ("here is a text I wrote, learn my tone",),
    "chieflab_status": (
        "did that mail go out?",
        "how are things?",
        "what is the status?",
    ),
    "chieflab_report": (
        "what did you do for me last week",
        "prove what was sent and who approved it",
    ),
    "chieflab_approve_action": ("yes, I approve this", "looks good, go ahead"),
    "chieflab_reject_action": ("no, I don't want that", "reject the second draft"),
    "chieflab_edit_action": (
        "rewrite the headline",
        "change the subject line",
        "make the text shorter",
        "fix the typo in the title",
    ),
    "chieflab_withdraw_approval": (
        "cancel my approval",
        "undo my approval",
        "I changed my mind, take back my yes",
    ),
    "chieflab_list_pending_actions": (
        "what needs my approval",
        "what's open?",
        "show me what is waiting",
        "is anything waiting for my approval?",
    ),
    "chieflab_get_action": ("show me the current content of that action",),
    "chieflab_execute_approved_action": ("execute the approved action", "fire the action I approved"),
    "chieflab_publish_approved_post": ("publish the approved post",),
    "chieflab_send_email": ("send the approved email now",),
    "chieflab_resolve_unknown_outcome": (
        "the outcome is unknown, I looked and it did happen",
        "I checked at the provider, the mail never arrived",
    ),
    "chieflab_use_manual_fallback": ("I'd rather publish it by hand", "give me the text to copy and paste"),
    "chieflab_record_manual_publish": (
        "I posted it on Reddit myself",
        "I published it by hand, here is the link",
    ),
    "workflow_list": ("which workflows are there?",),
    "workflow_inspect": ("show me the steps of the workflow before we start",),
    "workflow_start": ("start the release workflow",),
    "workflow_advance": ("this step is done, what is the next one?",),
    "workflow_checkpoint": ("keep notes on this step",),
    "workflow_resume": ("continue where we left off yesterday", "find my earlier run again"),
    "chieflab_get_run": ("show me that run with its inputs and outputs",),
    "chieflab_list_assets": ("find the texts of an earlier run", "list all assets"),
    "chieflab_signup_workspace": (
        "create a workspace",
        "I have no key yet, sign me up",
    ),
    "chieflab_get_workspace": ("does my key work?", "which workspace is this?", "how many credits are left?"),
}
COMMON = (
    "a an and are as at be did do for i in is it its me my of on or our that the they this to us was we you"
)
"""Words that some search engines leave out."""
SHARPNESS, LENGTH_WEIGHT = 1.2, 0.75


def split(text: str, left_out: str) -> list[str]:
    """Return a text's words without the endings that English adds to a stem."""
    plain = text.lower().replace("n't", " not").replace("'s", "").replace("e-mail", "email").replace("_", " ")
    words = [word for word in re.findall(r"[a-z0-9]+", plain) if word not in left_out.split()]
    return [re.sub(r"(?<=..)(?:ing|ed|es|s|e|d)$", "", word) for word in words]


def find(words: list[str], texts: dict[str, list[str]]) -> str:
    """Return the name of the text that fits the words best (Okapi BM25)."""
    mean = sum(map(len, texts.values())) / len(texts)
    scores = dict.fromkeys(texts, 0.0)
    for word in words:
        times = {name: text.count(word) for name, text in texts.items() if word in text}
        rarity = math.log(1 + (len(texts) - len(times) + 0.5) / (len(times) + 0.5))
        for name, count in times.items():
            long = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * len(texts[name]) / mean
            scores[name] += rarity * count * (SHARPNESS + 1) / (count + SHARPNESS * long)
    return max(scores, key=scores.__getitem__)


@pytest.mark.parametrize("left_out", ["", COMMON], ids=["every word", "no common words"])
def test_the_words_that_people_type_find_the_right_tool_first(left_out: str) -> None:
    tools = Catalog(ALL_TOOLS).listing()
    texts = {
        tool["name"]: split(f"{tool['name']} {tool['title']} {tool['description']}", left_out)
        for tool in tools
    }
    phrasings = {phrase: name for name, phrases in PHRASINGS.items() for phrase in phrases}

    found = {phrase: find(split(phrase, left_out), texts) for phrase in phrasings}

    assert len(phrasings) >= 60
    assert set(phrasings.values()) == texts.keys()
    assert {phrase: first for phrase, first in found.items() if first != phrasings[phrase]} == {}
