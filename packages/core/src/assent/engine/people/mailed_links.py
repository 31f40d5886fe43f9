"""Links that are mailed: to sign in, and to confirm the mailbox of a sign-up (C26).

The reader of that mailbox counts as a person; the agent that asked for the key does not. The
request to sign in only enqueues a job, so the answer and its timing do not reveal whether the address is
known. The links are created with the mail, are not stored elsewhere, work once and end within an
hour.

A stranger may have asked for a workspace in another person's name, so the text of that mail is fixed: it has no
word of the request.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from assent.engine.core import jobs
from assent.engine.core.jobs import Job, JobFailed
from assent.engine.core.rate import address_owner, mails_window
from assent.engine.core.services import MessageServices, Services
from assent.engine.people import people, signup
from assent.engine.people.people import Person
from assent.engine.people.signup import SignupLink
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.limits import HOUR_MS, MAILED_LINK_TTL_MS, MINUTE_MS, SIGNUP_LINK_TTL_MS
from assent.ports import NotSent, OutcomeUnknown, Transaction
from assent.sql.loader import statements

MAIL_JOB: Final = "mail_sign_in_link"
MOST_LINKS: Final = 5
"""Signups of an address that get a link in one mail. The earliest count, so later ones by others
cannot displace them."""

SUBJECT: Final = "Your sign-in link"


async def ask(services: Services, email: str, address: str) -> None:
    """Enqueue a mail with a link, if `email` is known. `address` is the client. Raises `Refusal`
    above the rate limit."""
    now_ms, email = services.clock.now_ms(), email.strip().lower()
    limits = services.limits
    await limits.rate_limiter.count(mails_window("sign-in"), address_owner(), f"from {address}", now_ms)
    await limits.count_mail("sign-in", address_owner(), email, now_ms)
    key = services.new_id(now_ms)
    await services.store.write(
        lambda: jobs.enqueue(SYSTEM_WORKSPACE, MAIL_JOB, key, {"email": email}, due_ms=now_ms, now_ms=now_ms)
    )
    services.background.wake_jobs()


async def send(services: MessageServices, job: Job) -> None:
    """Handle the job: send one mail with a link for each signup of this address."""
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


SIGNUP_SUBJECT: Final = "Confirm your address to get your key"
SIGNUP_TEXT: Final = """\
A workspace was requested with this e-mail address on the Assent server at {base_url}.

Was it you? Then open this in your browser and press the button there. The page shows the key of the workspace:

{base_url}/claim/{token}

It works once, within {hours} hours of the request. Do not pass it on, not to your agent either: the reader of the \
page gets the key. You did not ask for it? Then do nothing, and nothing happens.
"""


async def mail_signup_link(services: Services, link: SignupLink) -> bool:
    """Mail the link that confirms the address of a request, once. Returns False if the mail server refused
    it. Raises `Refusal` above the rate limit."""
    now_ms = services.clock.now_ms()
    await services.limits.count_mail("confirmation", SYSTEM_WORKSPACE, link.email, now_ms)
    secret = services.entropy(signup.LINK_SECRET_BYTES)
    token = await services.store.write(lambda: signup.add_mailed_token(link.workspace_id, secret))
    if token is None:
        return True
    hours = SIGNUP_LINK_TTL_MS // HOUR_MS
    text = SIGNUP_TEXT.format(base_url=services.links.base_url, token=token, hours=hours)
    try:
        await services.outgoing.send_note(link.email, SIGNUP_SUBJECT, text, services.new_id(now_ms))
    except NotSent:
        await services.store.write(lambda: signup.forget_mailed_token(link.workspace_id))
        return False
    except OutcomeUnknown:
        return True  # it may have arrived, and a request has one mail
    return True
