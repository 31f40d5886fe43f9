-- Memories that earlier rules made and that no draft may use, kept with the reason: edits, which were compared word by
-- word; decisions about steps of workflows; risky claims that a check found; decisions about mail to named people;
-- and everything about contacts.
UPDATE brain_entries SET state = 'retired', facts = json_set(facts, '$.retiredBecause', 'word_diff')
WHERE kind = 'edit';

UPDATE brain_entries SET state = 'retired', facts = json_set(facts, '$.retiredBecause', 'workflow_step')
WHERE kind IN ('approval', 'rejection') AND channel = 'workflow';

UPDATE brain_entries SET state = 'retired', facts = json_set(facts, '$.retiredBecause', 'found_by_a_check')
WHERE kind = 'claim_risk' AND json_extract(facts, '$.logged') IS NOT NULL;

UPDATE brain_entries SET state = 'retired', facts = json_set(facts, '$.retiredBecause', 'personal_mail')
WHERE kind IN ('approval', 'rejection') AND channel = 'email'
  AND EXISTS (SELECT 1 FROM runs r WHERE r.workspace_id = brain_entries.workspace_id
                AND r.run_id = brain_entries.run_id AND r.operator = 'chieflab-email');

UPDATE brain_entries SET state = 'retired', facts = json_set(facts, '$.retiredBecause', 'contact')
WHERE channel = 'contacts';
