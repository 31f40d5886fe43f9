"""An operator as a stranger writes it, with the provider's ledger beside it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import assent

LEDGER: list[dict[str, Any]] = []
"""Everything that the provider did."""
FAULTS: list[str] = []
"""What goes wrong next."""
RELEASE = threading.Event()
"""Ends functions that hang."""

billing = assent.Operator("acme-billing", label="Billing", function="Refunds customers once approved.")


@dataclass
class Line:
    sku: str
    count: int = 1


@billing.effect(risk="high", delivery=assent.native_key(hours=24))
async def refund(
    ctx: assent.Context, customer: str, amount: assent.Money, reason: str, lines: list[Line] | None = None
) -> assent.Receipt:
    """Refund a customer. USE WHEN the user asks to pay money back."""
    fault = FAULTS.pop() if FAULTS else ""
    if fault == "before":
        raise RuntimeError("no connection")
    async with ctx.sending():
        if not any(each.get("key") == ctx.key for each in LEDGER):
            LEDGER.append({"key": ctx.key, "customer": customer, "amount": amount, "lines": lines})
        if fault == "inside":
            raise RuntimeError("the connection broke")
    done = {"id": f"re_{len(LEDGER)}", "paid": str(amount)}
    return assent.Receipt(done["id"], url="https://billing.example/re", output=done)


@refund.describe
def _describe(customer: str, amount: assent.Money, **_: Any) -> assent.View:
    return assent.View(
        title=f"Refund {amount} to {customer}",
        blocks=(assent.Facts((("Account", "Main account"),)),),
    )


@refund.check
def _check(amount: assent.Money, **_: Any) -> None:
    if amount.value > 500:
        raise assent.Problem("amount", "at most 500", amount)


@refund.normalise
def _normalise(customer: str) -> dict[str, Any]:
    return {"customer": customer.strip().lower()}


@billing.effect(risk="low", reversible=True, schedulable=False, timeout_seconds=0.5)
def ring(times: int, how: str = "softly") -> assent.Receipt:
    """Ring the bell. USE WHEN the user wants to be heard."""
    if how == "for hours":
        RELEASE.wait()
    LEDGER.append({"rung": times})
    return assent.Receipt("rung", output=object() if how == "oddly" else {"times": times})


ring.without("recipients", "amount")


@ring.undo
def silence(times: int, receipt: str) -> assent.Receipt:
    """Silence the bell as often as it rang."""
    LEDGER.append({"silenced": times, "receipt": receipt})
    return assent.Receipt("silenced")


@refund.undo(hours=24, leaves="The mail about it stays.")
async def cancel(ctx: assent.Context, customer: str, receipt: str) -> assent.Receipt:
    """Cancel a refund."""
    fault = FAULTS.pop() if FAULTS else ""
    if fault == "refused":
        raise assent.NotSent("It was cancelled by hand.")
    async with ctx.sending():
        LEDGER.append({"cancelled": receipt, "customer": customer})
        if fault == "inside":
            raise RuntimeError("the connection broke")
    return assent.Receipt(f"cancelled {receipt}")


@billing.effect(risk="low", delivery=assent.read_back())
def note(ctx: assent.Context, text: str) -> Any:
    """Write a note. USE WHEN the user wants to remember something."""
    LEDGER.append({"note": text, "key": ctx.key})
    if text == "lost on the way":
        raise OSError("the answer did not arrive")
    if text == "without a receipt":
        return "done"
    return assent.Receipt(f"note-{len(LEDGER)}")


@note.look_up
def _look_up(ctx: assent.Context) -> assent.Receipt | None:
    found = [each for each in LEDGER if each.get("key") == ctx.key]
    return assent.Receipt("note-found") if found else None


@note.measure
def _measure(receipt: assent.Receipt, text: str) -> dict[str, Any]:
    return {"reads": len(text), "endless": float("inf"), "said": receipt.id}


@billing.effect(risk="low", approval_executes=True)
def stamp(text: str) -> assent.Receipt:
    """Stamp a letter. USE WHEN the user wants a letter stamped."""
    if FAULTS:
        raise assent.NotSent(FAULTS.pop(), retry=True)
    LEDGER.append({"stamped": text})
    return assent.Receipt(f"stamp-{len(LEDGER)}")


@billing.effect(risk="low")
def invite(people: list[str]) -> assent.Receipt:
    """Invite people. USE WHEN the user gives a party."""
    LEDGER.append({"invited": people})
    return assent.Receipt("invited")


@invite.facets
def _invite_facets(people: list[str]) -> assent.Facets:
    if people == ["numbers"]:
        return assent.Facets(recipients=(1, 2))  # type: ignore[arg-type]
    return assent.Facets(recipients=tuple(people), target="the party")


@billing.effect(risk="low")
async def call(ctx: assent.Context, url: str) -> assent.Receipt:
    """Call an address. USE WHEN the user wants an address called."""
    answer = await ctx.http.request("POST", url, json={"key": ctx.key})
    return assent.Receipt(str(answer.status), output=answer.json())


@billing.effect(risk="low", timeout_seconds=0.3)
async def block(how: str) -> assent.Receipt:
    """Block the event loop. USE WHEN testing."""
    if how == "for hours":
        RELEASE.wait()
    LEDGER.append({"blocked": how})
    return assent.Receipt("blocked")


class Quit(BaseException):
    pass


@billing.effect(risk="low", timeout_seconds=5)
async def leave(how: str) -> assent.Receipt:
    """End in an odd way on the event loop. USE WHEN testing."""
    if how == "stop the loop":
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)
    elif how != "well":
        raise ODD_ENDS[how]()
    return assent.Receipt("left")


@billing.effect(risk="low", timeout_seconds=5)
def leave_thread(how: str) -> assent.Receipt:
    """End in an odd way in a thread. USE WHEN testing."""
    raise ODD_ENDS[how]()


ODD_ENDS = {
    "quit": Quit,
    "exit": SystemExit,
    "generator exit": GeneratorExit,
    "cancelled": asyncio.CancelledError,
    "future cancelled": concurrent.futures.CancelledError,
    "stop iteration": StopIteration,
}


@billing.effect(risk="low", title="Odd thing")
def odd(how: str) -> assent.Receipt:
    """Do something odd. USE WHEN testing."""
    return assent.Receipt("odd")


@odd.describe
def _odd_view(how: str) -> Any:
    match how:
        case "describe hangs":
            RELEASE.wait()
        case "describe raises":
            raise ZeroDivisionError
        case "describe exits":
            raise SystemExit(3)
        case "describe returns a number":
            return 3
        case "describe returns two lines":
            return assent.View(title="one\n" + "two \u202e" * 400)
        case "describe returns a NUL":
            return assent.View(blocks=(assent.Text("Nothing", "\0"),))
        case "describe returns a book":
            return assent.View(blocks=(assent.Text("Book", "word " * 40_000),))
        case "describe returns odd blocks":
            return assent.View(blocks=("text",))  # type: ignore[arg-type]
    return "An odd thing"


@odd.check
def _odd_check(how: str) -> Any:
    if how == "check hangs":
        RELEASE.wait()
    if how == "check raises":
        raise KeyError(how)
    if how == "check returns a text":
        return "wrong"
    return [assent.Problem("how", "another word")] if how == "refused" else None


@odd.normalise
def _odd_normalise(how: str) -> Any:
    changed = {"normalise returns a list": [1], "normalise adds": {"what": 1}, "normalise spoils": {"how": 3}}
    return changed.get(how)


@odd.facets
def _odd_facets(how: str) -> Any:
    if how == "facets has money":
        money: Any = assent.Money(Decimal(3), "EUR")
        return assent.Facets(amount=money)
    return 3 if how == "facets returns a number" else assent.Facets(target=how)
