"""Cleaning and checking of texts."""

from __future__ import annotations

from assent.gate.content.check import find_flaw as find_flaw
from assent.gate.content.cleaning import LINE_CHARS as LINE_CHARS
from assent.gate.content.cleaning import TEXT_CHARS as TEXT_CHARS
from assent.gate.content.cleaning import cut as cut
from assent.gate.content.cleaning import is_usable as is_usable
from assent.gate.content.cleaning import one_line as one_line
from assent.gate.content.cleaning import printable as printable
from assent.gate.content.cleaning import speaks_to_a_model as speaks_to_a_model
from assent.gate.content.suspicion import suspicions_in as suspicions_in
from assent.gate.content.text_parts import sentences as sentences
from assent.kernel.domains import with_ascii_form as with_ascii_form
