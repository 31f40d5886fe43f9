"""What a way to notify people is made of."""

from __future__ import annotations

from assent.ports.notifiers import Notification as Notification
from assent.ports.notifiers import NotificationReceipt as NotificationReceipt
from assent.ports.notifiers import Notifier as Notifier
from assent.ports.notifiers import NotifierContext as NotifierContext
