"""Publishes a page into the folder of a web site, once a person has approved it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import assent

site = assent.Operator("acme-site", label="Web site", function="Publishes pages once approved.")


@site.effect(risk="medium", reversible=True, delivery=assent.natural_key(), title="Publish a page")
def publish(ctx: assent.Context, slug: str, html: str) -> assent.Receipt:
    """Publish a page on the web site. USE WHEN the user asks to put a page online."""
    page = find_page(slug)
    if page.exists() and page.read_text(encoding="utf-8") != html:
        raise assent.NotSent(f"{page.name} exists already with other content")
    draft = page.with_name(f".{page.name}.{ctx.action_id}")
    draft.write_text(html, encoding="utf-8")
    with ctx.sending():
        draft.replace(page)
    return make_receipt(slug)


@publish.describe
def describe(slug: str, html: str) -> assent.View:
    return assent.View(
        title=f"Publish /{slug}.html",
        sentence=f"Writes this page to /{slug}.html of the web site.",
        blocks=(assent.Text("Page", html, code=True),),
    )


@publish.check
def check(slug: str) -> None:
    if re.fullmatch(r"[a-z0-9-]{1,60}", slug) is None:
        raise assent.Problem("slug", "small letters, digits and -", slug)


@publish.look_up
def look_up(slug: str, html: str) -> assent.Receipt | None:
    page = find_page(slug)
    return make_receipt(slug) if page.exists() and page.read_text(encoding="utf-8") == html else None


@publish.undo(delivery=assent.natural_key())
def unpublish(ctx: assent.Context, slug: str) -> assent.Receipt:
    """Take the page off the web site again."""
    with ctx.sending():
        find_page(slug).unlink(missing_ok=True)
    return assent.Receipt(f"no {slug}.html")


def find_page(slug: str) -> Path:
    return Path(os.environ.get("SITE_FOLDER", "public")) / f"{slug}.html"


def make_receipt(slug: str) -> assent.Receipt:
    address = os.environ.get("SITE_URL", "http://127.0.0.1:8000")
    return assent.Receipt(f"{slug}.html", url=f"{address}/{slug}.html")
