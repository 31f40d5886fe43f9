-- The first way on from a node: what led to which child, and the name of the key that made its tokens. The answer that
-- was given there is made from the child again instead of being stored beside it.

ALTER TABLE workflow_nodes ADD COLUMN next_edge TEXT;
ALTER TABLE workflow_nodes ADD COLUMN next_node BIGINT;
ALTER TABLE workflow_nodes ADD COLUMN next_key TEXT;
