"""The mail that confirms the mailbox of a sign-up. Its reader gets the key (C26).

A stranger may have asked in another person's name, so the text is fixed: it has no word of the request.
"""

from __future__ import annotations

from typing import Final

from assent.engine.core.services import Services
from assent.engine.people import signup
from assent.engine.people.signup import SignupLink
from assent.kernel.ids import SYSTEM_WORKSPACE
from assent.kernel.limits import HOUR_MS, SIGNUP_LINK_TTL_MS
from assent.ports import NotSent, OutcomeUnknown

SUBJECT: Final = "Confirm your address to get your key"
TEXT: Final = """\
A workspace was requested with this e-mail address on the Assent server at {base_url}.

Was it you? Then open this in your browser and press the button there. The page shows the key of the workspace:

{base_url}/claim/{token}

It works once, within {hours} hours of the request. Do not pass it on, not to your agent either: the reader of the \
page gets the key. You did not ask for it? Then do nothing, and nothing happens.
"""


async def mail_link(services: Services, link: SignupLink) -> bool:
    """Mail the link that confirms the address of a request, once. Returns False if the mail server refused
    it. Raises `Refusal` above the rate limit."""
    now_ms = services.clock.now_ms()
    await services.limits.count_mail("confirmation", SYSTEM_WORKSPACE, link.email, now_ms)
    secret = services.entropy(signup.LINK_SECRET_BYTES)
    token = await services.store.write(lambda: signup.add_mailed_token(link.workspace_id, secret))
    if token is None:
        return True
    hours = SIGNUP_LINK_TTL_MS // HOUR_MS
    text = TEXT.format(base_url=services.links.base_url, token=token, hours=hours)
    try:
        await services.outgoing.send_note(link.email, SUBJECT, text, services.new_id(now_ms))
    except NotSent:
        await services.store.write(lambda: signup.forget_mailed_token(link.workspace_id))
        return False
    except OutcomeUnknown:
        return True  # it may have arrived, and a request has one mail
    return True
