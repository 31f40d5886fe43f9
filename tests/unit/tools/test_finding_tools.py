"""Clients with many tools show a model only those that a search finds. The words people type must find
the right one of the default list first."""

from __future__ import annotations

import math
import re

import pytest
from tests.support.catalog import ALL_TOOLS

from assent.tools.catalog import Catalog

PHRASINGS = {
    "chieflab_list_connectors": ("which channels can I publish to?", "which connectors are there?"),
    "chieflab_connect_provider": (
        "connect my LinkedIn account",
        "hook up Resend so we can send mail",
        "hook up our slack",
    ),
    "chieflab_launch_product": (
        "launch my product",
        "I just shipped my app, help me get users",
        "announce our new version everywhere",
    ),
    "chieflab_post": (
        "share it on bluesky",
        "tweet this",
        "post this on LinkedIn",
        "write a tweet about the new release",
        "tweet about the bug fix",
    ),
    "chieflab_send": (
        "email my investors about the round",
        "write an email to Anna",
        "draft a newsletter to my customers",
        "mail the customers about the price change",
    ),
    "chieflab_undo_action": (
        "remove that post from the site",
        "take that post down",
        "delete the page you published",
        "delete the blog post again, it is wrong",
    ),
    "chieflab_create_social_graphics": (
        "make a banner image for the post",
        "create a graphic for twitter",
        "make an image for instagram",
    ),
    "chieflab_save_contacts": ("save her as a contact in HubSpot", "add these people to my CRM"),
    "chieflab_measure": (
        "how much traffic did it get?",
        "how did the launch go?",
        "how many clicks did we get?",
        "how many people clicked",
    ),
    "chieflab_record_manual_metrics": ("we got 120 points on Hacker News, note the numbers",),
    "chieflab_diagnose_marketing": (
        "why is my campaign not working?",
        "what is wrong with our marketing?",
        "our ads cost too much, what is going wrong",
    ),
    "chieflab_brain_read": ("what do you know about our brand voice?", "what have we learned so far?"),
    "chieflab_brain_record": (
        "remember that we never use emojis",
        "don't forget that our price is 9 euros",
        "remember that we never use exclamation marks",
    ),
    "chieflab_brain_forget": ("forget that rule about emojis", "that rule no longer holds, forget it"),
    "chieflab_add_voice_sample": (
        "here is a text I wrote, learn my tone",
        "here is a text I wrote, sound like this",
    ),
    "chieflab_status": ("did that mail go out?", "how are things?", "what is the status?"),
    "chieflab_report": ("what did you do for me last week", "prove what was sent and who approved it"),
    "chieflab_approve_action": ("yes, I approve this", "looks good, go ahead", "looks good, ship it"),
    "chieflab_reject_action": ("no, I don't want that", "reject the second draft", "no, don't publish that"),
    "chieflab_edit_action": (
        "rewrite the headline",
        "change the subject line",
        "make the text shorter",
        "fix the typo in the title",
        "make the second sentence shorter",
    ),
    "chieflab_withdraw_approval": (
        "cancel my approval",
        "undo my approval",
        "I changed my mind, take back my yes",
        "stop all sending at once, we have an incident",
    ),
    "chieflab_list_pending_actions": (
        "what needs my approval",
        "what's open?",
        "show me what is waiting",
        "is anything waiting for my approval?",
        "what is waiting for me to sign off",
    ),
    "chieflab_get_action": (
        "show me the current content of that action",
        "show me the exact text of that draft",
    ),
    "chieflab_execute_approved_action": (
        "execute the approved action",
        "fire the action I approved",
        "I connected it now, try the blocked post again",
    ),
    "chieflab_publish_approved_post": ("publish the approved post",),
    "chieflab_send_email": ("send the approved email now", "send out the e-mail that I approved"),
    "chieflab_resolve_unknown_outcome": (
        "the outcome is unknown, I looked and it did happen",
        "I checked at the provider, the mail never arrived",
    ),
    "chieflab_use_manual_fallback": (
        "I'd rather publish it by hand",
        "give me the text to copy and paste",
        "I will publish it myself instead",
    ),
    "chieflab_record_manual_publish": (
        "I posted it on Reddit myself",
        "I published it by hand, here is the link",
        "I posted it on reddit by hand, here is the link",
    ),
    "workflow_list": ("which workflows are there?", "which procedures can you follow"),
    "workflow_inspect": ("show me the steps of the workflow before we start",),
    "workflow_start": ("start the release workflow",),
    "workflow_advance": ("this step is done, what is the next one?",),
    "workflow_checkpoint": ("keep notes on this step",),
    "workflow_resume": (
        "continue where we left off yesterday",
        "find my earlier run again",
        "continue the procedure from yesterday",
    ),
    "chieflab_get_run": ("show me that run with its inputs and outputs",),
    "chieflab_signup_workspace": ("create a workspace", "I have no key yet, sign me up"),
}
UNSEEN = {
    "we just shipped, get the word out": "chieflab_launch_product",
    "write something for linkedin about hiring": "chieflab_post",
    "write to anna that the meeting moved": "chieflab_send",
    "yes go ahead with the linkedin one": "chieflab_approve_action",
    "anything still to review?": "chieflab_list_pending_actions",
    "I changed my mind, stop it before it goes out": "chieflab_withdraw_approval",
    "how is the launch doing after a week": "chieflab_measure",
    "give me a summary of this month's results": "chieflab_report",
    "which accounts are linked": "chieflab_list_connectors",
    "what do you know about our brand": "chieflab_brain_read",
    "save these email addresses as our newsletter list": "chieflab_save_contacts",
    "the post got 300 likes and 12 comments": "chieflab_record_manual_metrics",
    "try again, I have fixed the slack token": "chieflab_execute_approved_action",
    "check whether the mail really left, it timed out": "chieflab_resolve_unknown_outcome",
    "create an account for me with my mail address": "chieflab_signup_workspace",
    "begin the code review checklist": "workflow_start",
    "done with this step, what next": "workflow_advance",
    "bookmark this point so we can come back": "workflow_checkpoint",
}
"""Phrasings that no description was tuned on. Do not tune on them: write others."""
UNSEEN_FOUND = 9
"""How many of them find their tool first, at least."""
MISSED_IN_THE_TRIAL: dict[str, set[str]] = {
    "send Priya and Tom the notes from today": {"chieflab_send"},
    "did any of our posts work": {"chieflab_status", "chieflab_measure", "chieflab_report"},
    "never use the word revolutionary again": {"chieflab_brain_record"},
    "always sign as the crew": {"chieflab_brain_record"},
    "forget that rule": {"chieflab_brain_forget"},
    "stop, don't send it": {"chieflab_withdraw_approval"},
    "postpone the announcement to next Thursday": {"chieflab_edit_action"},
    "who signed off on that e-mail": {"chieflab_report", "chieflab_get_action"},
    "the post got 120 upvotes": {"chieflab_record_manual_metrics"},
    "show me the draft again": {"chieflab_get_action", "chieflab_list_pending_actions"},
    "here is how I write, imitate my style": {"chieflab_add_voice_sample", "chieflab_brain_record"},
}
"""What a trial typed and did not find among the first three tools."""
MISSED_FOUND = 9
WRITTEN_BLIND: dict[str, set[str]] = {
    "put Lena in cc on that mail": {"chieflab_edit_action", "chieflab_send"},
    "write a mail to Tom with Lena in copy": {"chieflab_send"},
    "reply to the customer that the bug is fixed": {"chieflab_send"},
    "invite the ten beta testers to the call by mail": {"chieflab_send"},
    "send the newsletter to everyone except the address that bounced": {"chieflab_send"},
    "post it on mastodon and bluesky tomorrow at nine": {"chieflab_post", "chieflab_launch_product"},
    "put a short note on our blog": {"chieflab_post"},
    "tell Hacker News about it": {"chieflab_post", "chieflab_launch_product"},
    "announce version 2 on Thursday, not earlier": {"chieflab_launch_product", "chieflab_post"},
    "we went live today, who should hear of it?": {"chieflab_launch_product"},
    "help me find the first hundred customers": {"chieflab_launch_product"},
    "what happened while I was away?": {"chieflab_status", "chieflab_report"},
    "why did the newsletter not go out?": {"chieflab_status"},
    "did the tweet go through?": {"chieflab_status", "chieflab_get_action"},
    "is anything stuck?": {"chieflab_status", "chieflab_list_pending_actions"},
    "what is left for me to decide?": {"chieflab_list_pending_actions"},
    "approve everything that is waiting": {"chieflab_approve_action", "chieflab_list_pending_actions"},
    "ok, send both": {"chieflab_approve_action", "chieflab_execute_approved_action"},
    "yes but only the mail": {"chieflab_approve_action"},
    "no, scrap it": {"chieflab_reject_action"},
    "that is too pushy, throw it away": {"chieflab_reject_action"},
    "make it warmer and mention the deadline": {"chieflab_edit_action"},
    "move it to Monday at ten": {"chieflab_edit_action"},
    "the date is wrong, it is the 19th": {"chieflab_edit_action"},
    "hold the mail back until legal has seen it": {"chieflab_withdraw_approval"},
    "pull it, I said yes too early": {"chieflab_withdraw_approval"},
    "send it now after all": {
        "chieflab_approve_action",
        "chieflab_execute_approved_action",
        "chieflab_edit_action",
        "chieflab_send_email",
    },
    "the account is connected now, go on": {"chieflab_execute_approved_action"},
    "try once more": {"chieflab_execute_approved_action"},
    "I have pasted it into LinkedIn myself, it is at this address": {"chieflab_record_manual_publish"},
    "let me put it on the blog by hand on Thursday": {"chieflab_use_manual_fallback"},
    "the server timed out, was it posted or not?": {
        "chieflab_resolve_unknown_outcome",
        "chieflab_status",
        "chieflab_get_action",
    },
    "it is on the page, I see it, so it did work": {"chieflab_resolve_unknown_outcome"},
    "connect our mail server": {"chieflab_connect_provider"},
    "link our instagram": {"chieflab_connect_provider"},
    "where can you post for us?": {"chieflab_list_connectors"},
    "what did people think of the launch?": {"chieflab_measure"},
    "how many opened the newsletter?": {"chieflab_measure"},
    "which post did best last month?": {"chieflab_report", "chieflab_measure"},
    "give me a list of everything that was sent in October with who said yes": {"chieflab_report"},
    "what went wrong with our last campaign?": {"chieflab_diagnose_marketing"},
    "nobody signs up, what are we doing wrong": {"chieflab_diagnose_marketing"},
    "we had 40 visitors from reddit, write that down": {"chieflab_record_manual_metrics"},
    "never mention competitors": {"chieflab_brain_record"},
    "our price is 12 euros a month, keep that in mind": {"chieflab_brain_record"},
    "you may use that word again": {"chieflab_brain_forget"},
    "what rules have I given you?": {"chieflab_brain_read", "chieflab_status"},
    "take the announcement off the site": {"chieflab_undo_action"},
    "we need a picture for the post, 1200 by 630": {"chieflab_create_social_graphics"},
    "is there a procedure for bug reports?": {"workflow_list"},
    "let us go through the review process step by step": {"workflow_start"},
    "go back to step two and try the other way": {"workflow_advance", "workflow_resume"},
    "what did we find on the other attempt?": {"workflow_resume"},
}
"""Written without a look at the descriptions, before they were changed for them."""
ALL_FOUND = 54
"""How many of both find a right tool among the first three."""
COMMON = (
    "a an and are as at be did do for i in is it its me my of on or our that the they this to us was we you"
)
"""Words that some search engines leave out."""
SHARPNESS, LENGTH_WEIGHT = 1.5, 0.75


def split(text: str, left_out: str) -> list[str]:
    """Return a text's words without the endings that English adds to a stem."""
    plain = text.lower().replace("n't", " not").replace("'s", "").replace("e-mail", "email").replace("_", " ")
    words = [word for word in re.findall(r"[a-z0-9]+", plain) if word not in left_out.split()]
    return [re.sub(r"(?<=..)(?:ing|ed|es|s|e|d)$", "", word) for word in words]


def find(words: list[str], texts: dict[str, list[str]]) -> list[str]:
    """Return the names of the texts, the one that fits the words best first (Okapi BM25)."""
    mean = sum(map(len, texts.values())) / len(texts)
    scores = dict.fromkeys(texts, 0.0)
    for word in words:
        times = {name: text.count(word) for name, text in texts.items() if word in text}
        rarity = math.log(1 + (len(texts) - len(times) + 0.5) / (len(times) + 0.5))
        for name, count in times.items():
            long = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * len(texts[name]) / mean
            scores[name] += rarity * count * (SHARPNESS + 1) / (count + SHARPNESS * long)
    return sorted(texts, key=scores.__getitem__, reverse=True)


def list_texts(left_out: str) -> dict[str, list[str]]:
    """The words of every tool in the list."""
    return {
        tool["name"]: split(f"{tool['name']} {tool['title']} {tool['description']}", left_out)
        for tool in Catalog(ALL_TOOLS).listing()
    }


@pytest.mark.parametrize("left_out", ["", COMMON], ids=["every word", "no common words"])
def test_the_words_that_people_type_find_the_right_tool_first(left_out: str) -> None:
    texts = list_texts(left_out)
    phrasings = {phrase: name for name, phrases in PHRASINGS.items() for phrase in phrases}

    found = {phrase: find(split(phrase, left_out), texts)[0] for phrase in phrasings}

    assert len(phrasings) >= 80
    assert set(phrasings.values()) == texts.keys()
    assert {phrase: first for phrase, first in found.items() if first != phrasings[phrase]} == {}


@pytest.mark.parametrize("left_out", ["", COMMON], ids=["every word", "no common words"])
def test_words_that_no_description_was_tuned_on_find_their_tool_as_often_as_before(left_out: str) -> None:
    texts = list_texts(left_out)
    right = [phrase for phrase, name in UNSEEN.items() if find(split(phrase, left_out), texts)[0] == name]
    assert len(right) >= UNSEEN_FOUND


def test_what_a_trial_did_not_find_and_what_was_written_blind_is_among_the_first_three() -> None:
    texts = list_texts(COMMON)
    ranked = {phrase: find(split(phrase, COMMON), texts) for phrase in MISSED_IN_THE_TRIAL | WRITTEN_BLIND}
    right = MISSED_IN_THE_TRIAL | WRITTEN_BLIND
    found = {phrase for phrase, names in ranked.items() if right[phrase] & set(names[:3])}

    assert len(right) == 64
    assert ranked["stop, don't send it"][0] == "chieflab_withdraw_approval"
    assert len(found & MISSED_IN_THE_TRIAL.keys()) >= MISSED_FOUND
    assert len(found) >= ALL_FOUND, sorted(right.keys() - found)
