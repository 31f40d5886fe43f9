-- The first way on from a node: what led to which child, and the tokens that were given there. The rest of that answer
-- is made from the child again instead of being stored beside it.

ALTER TABLE workflow_nodes ADD COLUMN next_edge TEXT;
ALTER TABLE workflow_nodes ADD COLUMN next_node BIGINT;
ALTER TABLE workflow_nodes ADD COLUMN next_state TEXT;
ALTER TABLE workflow_nodes ADD COLUMN next_ack TEXT;
