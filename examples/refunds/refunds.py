"""Refunds customers through a billing API, each once a person has approved it."""

from __future__ import annotations

import os
from decimal import Decimal

import httpx

import assent

MOST = Decimal(500)

billing = assent.Operator("acme-billing", label="Billing", function="Refunds customers once approved.")


@billing.effect(risk="high", delivery=assent.native_key(hours=24), timeout_seconds=10)
async def refund(ctx: assent.Context, customer: str, amount: assent.Money, reason: str) -> assent.Receipt:
    """Refund a customer. USE WHEN the user asks to pay money back."""
    wanted = {"customer": customer, "amount": str(amount), "reason": reason}
    api = os.environ.get("BILLING_URL", "http://127.0.0.1:9000")
    async with httpx.AsyncClient(base_url=api, timeout=ctx.left()) as client:
        try:
            async with ctx.sending():
                answer = await client.post("/refunds", json=wanted, headers={"Idempotency-Key": ctx.key})
        except httpx.ConnectError as error:
            raise assent.NotSent("the billing API cannot be reached", retry=True) from error
    if answer.status_code in (400, 404, 422):
        raise assent.NotSent(answer.json()["error"])
    answer.raise_for_status()
    done = answer.json()
    return assent.Receipt(done["id"], url=done["url"], output=done)


@refund.describe
def describe(customer: str, amount: assent.Money) -> assent.View:
    return assent.View(title=f"Refund {amount} to {customer}")


@refund.check
def check(amount: assent.Money) -> None:
    if not 0 < amount.value <= MOST:
        raise assent.Problem("amount", f"more than 0 and at most {MOST}", str(amount))
