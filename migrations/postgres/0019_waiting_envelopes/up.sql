-- Envelopes of recipients without a webhook for received envelopes. A row is deleted when the envelope is opened or
-- purged, and when its delivery to a new webhook is stored. Recipients with a webhook have no rows.
CREATE TABLE waiting_envelopes (
    envelope_id TEXT COLLATE "C" PRIMARY KEY,
    recipient TEXT COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX ix_waiting_envelopes__recipient__envelope_id
    ON waiting_envelopes (recipient, envelope_id);

-- Keys with waiting envelopes to deliver or to bounce.
--
-- A batch that read the key before the change may still store a waiting envelope. The horizon is the next transaction id
-- after the change. A row is deleted only after all transactions below its horizon have ended.
CREATE TABLE waiting_transfers (
    api_key_id TEXT COLLATE "C" PRIMARY KEY,
    horizon BIGINT
);

-- Keys whose first webhook skipped the waiting envelopes, with the id of the last skipped envelope.
CREATE TABLE waiting_skips (
    api_key_id TEXT COLLATE "C" PRIMARY KEY,
    until TEXT COLLATE "C" NOT NULL
);

-- Triggers, because nodes of the previous version also register webhooks and revoke keys.
CREATE FUNCTION transfer_waiting_envelopes() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    changed TEXT;
BEGIN
    IF TG_TABLE_NAME = 'api_keys' THEN
        changed := NEW.id;
    ELSE
        changed := NEW.api_key_id;
    END IF;
    INSERT INTO waiting_transfers (api_key_id) VALUES (changed)
    ON CONFLICT (api_key_id) DO UPDATE SET horizon = NULL;
    RETURN NULL;
END
$$;

CREATE TRIGGER tr_webhooks__waiting
AFTER INSERT ON webhooks
FOR EACH ROW EXECUTE FUNCTION transfer_waiting_envelopes();

CREATE TRIGGER tr_api_keys__waiting
AFTER UPDATE OF status ON api_keys
FOR EACH ROW WHEN (NEW.status = 'revoked' AND OLD.status <> 'revoked')
EXECUTE FUNCTION transfer_waiting_envelopes();
