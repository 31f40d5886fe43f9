-- Claims of a job whose worker died. They are among `attempts`, and use up no retry.
ALTER TABLE jobs ADD COLUMN lost BIGINT NOT NULL DEFAULT 0;
