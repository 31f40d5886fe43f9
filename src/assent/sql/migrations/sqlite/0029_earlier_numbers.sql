-- Memories of measurements that earlier rules made: their sentences may add numbers that must not be added. They are kept
-- with the reason and no longer used. Memories that a person or an agent recorded are not among them.
UPDATE brain_entries
SET state = 'retired', facts = json_set(facts, '$.retiredBecause', 'earlier_rules')
WHERE kind = 'channel_performance' AND natural_key LIKE 'performance:%';
