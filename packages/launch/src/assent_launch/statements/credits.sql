-- name: find_credits
-- Find the credits of a workspace; no row if it was never limited or metered.
SELECT unlimited, granted, spent, reserved, seq FROM launch_credit_accounts WHERE workspace_id = :workspace_id

-- name: grant_credits
-- Add credits. A workspace without a limit then has exactly these.
INSERT INTO launch_credit_accounts (workspace_id, unlimited, granted, spent, reserved, seq)
VALUES (:workspace_id, 0, :amount, 0, 0, 1)
ON CONFLICT (workspace_id) DO UPDATE SET
  granted = CASE WHEN launch_credit_accounts.unlimited = 1 THEN launch_credit_accounts.spent + launch_credit_accounts.reserved
                                           ELSE launch_credit_accounts.granted END + excluded.granted,
  unlimited = 0,
  seq = launch_credit_accounts.seq + 1
RETURNING unlimited, granted, spent, reserved, seq

-- name: limit_credits
-- Set the credits from now on, whatever was granted before.
INSERT INTO launch_credit_accounts (workspace_id, unlimited, granted, spent, reserved, seq)
VALUES (:workspace_id, 0, :amount, 0, 0, 1)
ON CONFLICT (workspace_id) DO UPDATE SET
  granted = launch_credit_accounts.spent + launch_credit_accounts.reserved + excluded.granted,
  unlimited = 0,
  seq = launch_credit_accounts.seq + 1
RETURNING unlimited, granted, spent, reserved, seq

-- name: unlimit_credits
-- Remove the limit; spending is still counted.
INSERT INTO launch_credit_accounts (workspace_id, unlimited, granted, spent, reserved, seq)
VALUES (:workspace_id, 1, 0, 0, 0, 1)
ON CONFLICT (workspace_id) DO UPDATE SET unlimited = 1, granted = 0, seq = launch_credit_accounts.seq + 1
RETURNING unlimited, granted, spent, reserved, seq

-- name: reserve_credits
-- Reserve credits if there are enough. The row is the lock, so concurrent reservations see each other.
INSERT INTO launch_credit_accounts (workspace_id, unlimited, granted, spent, reserved, seq)
VALUES (:workspace_id, 1, 0, 0, :amount, 1)
ON CONFLICT (workspace_id) DO UPDATE SET
  reserved = launch_credit_accounts.reserved + excluded.reserved,
  seq = launch_credit_accounts.seq + 1
WHERE launch_credit_accounts.unlimited = 1
   OR launch_credit_accounts.granted - launch_credit_accounts.spent - launch_credit_accounts.reserved >= excluded.reserved
RETURNING unlimited, granted, spent, reserved, seq

-- name: move_credits
-- Spend or release reserved credits, or spend released ones whose action happened after all.
UPDATE launch_credit_accounts SET spent = spent + :spent, reserved = reserved - :reserved, seq = seq + 1
WHERE workspace_id = :workspace_id
RETURNING unlimited, granted, spent, reserved, seq

-- name: insert_credit_entry
-- Append a line to the ledger.
INSERT INTO launch_credit_entries (workspace_id, seq, kind, amount, action_id, attempt_id, by_whom, at_ms)
VALUES (:workspace_id, :seq, :kind, :amount, :action_id, :attempt_id, :by_whom, :at_ms)

-- name: list_recent_credit_entries
-- List the end of a workspace's ledger, newest first.
SELECT seq, kind, amount, action_id, attempt_id, by_whom, at_ms FROM launch_credit_entries
WHERE workspace_id = :workspace_id ORDER BY seq DESC LIMIT :most

-- name: open_credit_charge
-- Open the charge of a metered action. Returns no row if it is reserved or paid already.
INSERT INTO launch_credit_charges (workspace_id, action_id, amount, state)
VALUES (:workspace_id, :action_id, :amount, 'reserved')
ON CONFLICT (workspace_id, action_id) DO UPDATE SET amount = excluded.amount, state = 'reserved'
WHERE launch_credit_charges.state = 'released'
RETURNING amount

-- name: move_credit_charge
-- Move a charge from one state to another, once.
UPDATE launch_credit_charges SET state = :state
WHERE workspace_id = :workspace_id AND action_id = :action_id AND state = :before
RETURNING amount
