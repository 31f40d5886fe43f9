"""People and notifications."""

from __future__ import annotations

from assent.engine.people.notifiers import Notification as Notification
from assent.engine.people.notifiers import NotificationReceipt as NotificationReceipt
from assent.engine.people.notifiers import Notifier as Notifier
from assent.engine.people.notifiers import NotifierContext as NotifierContext
