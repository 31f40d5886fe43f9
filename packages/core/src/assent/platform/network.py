"""Requests to providers and their outcomes, mail, under the rules of every outgoing request."""

from __future__ import annotations

from assent.net.addresses import FetchRefused as FetchRefused
from assent.net.addresses import numbers_of as numbers_of
from assent.net.http_outcomes import MAX_DETAIL_CHARS as MAX_DETAIL_CHARS
from assent.net.http_outcomes import failure as failure
from assent.net.http_outcomes import not_connected as not_connected
from assent.net.http_outcomes import not_now as not_now
from assent.net.http_outcomes import refusal as refusal
from assent.net.http_outcomes import retry_after as retry_after
from assent.net.mail import IntendedMail as IntendedMail
from assent.net.mail import Letter as Letter
from assent.net.mail import check_server as check_server
from assent.net.mail import identify as identify
from assent.net.mail import read_mailbox as read_mailbox
from assent.net.mail import send_letter as send_letter
from assent.net.mail import send_note as send_note
from assent.net.mail import write_letter as write_letter
from assent.net.mail_server import Mailbox as Mailbox
from assent.net.mail_server import MailServer as MailServer
from assent.net.mail_server import parse_mailbox as parse_mailbox
from assent.net.mail_server import parse_server as parse_server
from assent.net.outgoing import FetchedPage as FetchedPage
from assent.net.outgoing import post_json as post_json
