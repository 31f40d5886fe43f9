"""A section `[effect.refund]` of a settings file that has no mistake."""

from __future__ import annotations

from typing import Any


def section(base: str, **changes: Any) -> dict[str, Any]:
    return {
        "url": f"{base}customers/{{customer}}/refunds",
        "description": "Refund a customer. USE WHEN the user asks to pay money back.",
        "title": "Refund {amount} to {customer}",
        "headers": {"Authorization": "Bearer secret:billing"},
        "arguments": {
            "type": "object",
            "required": ["customer", "amount"],
            "properties": {
                "customer": {"type": "string", "maxLength": 40},
                "amount": {"type": "string", "format": "money"},
                "note": {"type": "string"},
            },
        },
        "result": {"id": "id", "url": "links.page"},
        "timeout_seconds": 2,
        **changes,
    }
