-- Memories of measurements that earlier rules made: their sentences may add numbers that must not be added. They are kept
-- with the reason and no longer used. Memories that a person or an agent recorded are not among them.
UPDATE brain_entries
SET state = 'retired', facts = jsonb_set(facts::jsonb, '{retiredBecause}', '"earlier_rules"')::text
WHERE kind = 'channel_performance' AND natural_key LIKE 'performance:%';
