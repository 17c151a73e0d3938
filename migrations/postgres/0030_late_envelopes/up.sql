-- Envelopes that were stored in an ended partition after their time had been released. Their bytes are still to be
-- subtracted from the stored bytes of their senders.
CREATE TABLE late_envelopes (
    envelope_id TEXT COLLATE "C" PRIMARY KEY,
    sender TEXT COLLATE "C" NOT NULL,
    sealed_bytes BIGINT NOT NULL
);

-- Whether a trigger records each further envelope of the partition in `late_envelopes`. Housekeeping creates the
-- trigger when retention of the partition has ended, so that sends do not pay for it.
ALTER TABLE partitions ADD COLUMN is_closed BOOLEAN NOT NULL DEFAULT false;

CREATE FUNCTION record_late_envelope() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO late_envelopes VALUES (NEW.id, NEW.sender, octet_length(NEW.sealed));
    RETURN NULL;
END
$$;
