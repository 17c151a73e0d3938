-- The trace context of the request that sent the message: trace id, parent id and flags. The requests to webhooks
-- continue the trace. Costs nothing for envelopes without a trace.
ALTER TABLE envelopes ADD COLUMN trace BYTEA;
INSERT INTO additive_migrations (version) VALUES ('0049');
