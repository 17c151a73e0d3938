-- Envelopes of recipients without a webhook for received envelopes. A row is deleted when the envelope is opened or
-- purged, and when its delivery to a new webhook is stored. Recipients with a webhook have no rows.
CREATE TABLE waiting_envelopes (
    envelope_id TEXT NOT NULL PRIMARY KEY,
    recipient TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_waiting_envelopes__recipient__envelope_id
    ON waiting_envelopes (recipient, envelope_id);

-- Keys with waiting envelopes to deliver or to bounce. The column horizon is for PostgreSQL only.
CREATE TABLE waiting_transfers (
    api_key_id TEXT NOT NULL PRIMARY KEY,
    horizon INTEGER
) STRICT, WITHOUT ROWID;

-- Keys whose first webhook skipped the waiting envelopes, with the id of the last skipped envelope.
CREATE TABLE waiting_skips (
    api_key_id TEXT NOT NULL PRIMARY KEY,
    until TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tr_webhooks__waiting
AFTER INSERT ON webhooks
BEGIN
    INSERT INTO waiting_transfers (api_key_id) VALUES (NEW.api_key_id)
    ON CONFLICT (api_key_id) DO UPDATE SET horizon = NULL;
END;

CREATE TRIGGER tr_api_keys__waiting
AFTER UPDATE OF status ON api_keys
WHEN NEW.status = 'revoked' AND OLD.status <> 'revoked'
BEGIN
    INSERT INTO waiting_transfers (api_key_id) VALUES (NEW.id)
    ON CONFLICT (api_key_id) DO UPDATE SET horizon = NULL;
END;
