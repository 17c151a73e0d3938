-- The state in the response to a send, so that a repeated request gets the same state. NULL in records of older servers.
ALTER TABLE idempotency_keys ADD COLUMN state TEXT COLLATE "C";

-- The results of a batch of messages, as JSON. Such a record names no envelope: its `envelope_id` is empty.
ALTER TABLE idempotency_keys ADD COLUMN results TEXT;
INSERT INTO additive_migrations (version) VALUES ('0045');
