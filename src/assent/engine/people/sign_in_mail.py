"""Signing in by a link that is mailed to the address that a person gave (C26).

Who reads that mailbox is a person to this server; the agent that asked for the key is not. The request only writes
down that a mail is wanted: the answer is the same, and as fast, whether anybody is known there. The links are made when
the mail is written, so they lie nowhere, work once and end within an hour.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from assent.engine.core import jobs
from assent.engine.core.jobs import Job, JobFailed
from assent.engine.core.rate import address_owner, sign_in_mails_window
from assent.engine.core.services import Services
from assent.engine.people import people
from assent.engine.people.people import Person
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.limits import MAILED_LINK_TTL_MS, MINUTE_MS
from assent.ports import NotSent, OutcomeUnknown, Transaction
from assent.sql.loader import statements

MAIL_JOB: Final = "mail_sign_in_link"
MOST_LINKS: Final = 5
"""Sign-ups under one address that one mail has links for: the first ones, which a stranger's cannot crowd out."""

SUBJECT: Final = "Your sign-in link"


async def ask(services: Services, email: str, address: str) -> None:
    """Have a link mailed, if anybody is known at `email`; `address` is the client that asks. Refuses too many."""
    now_ms, email = services.clock.now_ms(), email.strip().lower()
    window = sign_in_mails_window()
    for who in (f"from {address}", f"to {email}"):
        await services.limits.rate_limiter.count(window, address_owner(), who, now_ms)
    key = services.new_id(now_ms)
    await services.store.write(
        lambda: jobs.enqueue(SYSTEM_WORKSPACE, MAIL_JOB, key, {"email": email}, due_ms=now_ms, now_ms=now_ms)
    )
    services.background.wake_jobs()


async def send(services: Services, job: Job) -> None:
    """Handle the job: one mail with a link for everything that this address signed up for."""
    email, now_ms = str(job.payload["email"]), services.clock.now_ms()
    entropy = [services.entropy(people.ENTROPY_BYTES) for _ in range(MOST_LINKS)]
    made = await services.store.write(partial(_links, email, entropy, now_ms))
    if not made:
        return
    links = "\n\n".join(f"{services.links.base_url}/sign-in/{token}" for _, token in made)
    text = (
        f"Open this in your browser to sign in. It works once, within {MAILED_LINK_TTL_MS // MINUTE_MS} minutes"
        f"{'; each link is for another workspace that was made with this address' if len(made) > 1 else ''}:\n\n"
        f"{links}\n\n"
        "It lets its reader decide as you, so do not pass it on, not to your agent either. You did not ask for it? "
        "Then do nothing, and nothing happens.\n"
    )
    try:
        await services.outgoing.send_note(made[0][0].email or email, SUBJECT, text, job.job_id)
    except (NotSent, OutcomeUnknown) as error:
        raise JobFailed(f"no link was mailed: {error}") from error


def _links(email: str, entropy: list[bytes], now_ms: int) -> Transaction[list[tuple[Person, str]]]:
    rows = yield statements.list_people_at(workspace_id=SYSTEM_WORKSPACE, email=email, most=MOST_LINKS)
    made = []
    for row, random in zip(rows, entropy, strict=False):
        person = people.person_of(row)
        token = yield from people.new_link(
            person.person_id, random, now_ms, ttl_ms=MAILED_LINK_TTL_MS, facts={"shownTo": "mail"}
        )
        made.append((person, token))
    return made
