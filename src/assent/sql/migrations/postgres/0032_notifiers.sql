-- Notifiers are registered, so the kind of a target is the id of any of them.
ALTER TABLE notification_targets DROP CONSTRAINT notification_targets_kind_check;
