"""Requests to providers and their outcomes, mail, under the rules of every outgoing request."""

from __future__ import annotations

from assent.net.outgoing import FetchedPage as FetchedPage
