-- The answer, packed (`engine/core/packing.py`). Answers of earlier versions stay in `response` until they expire.
ALTER TABLE idempotency ADD COLUMN packed BLOB;
