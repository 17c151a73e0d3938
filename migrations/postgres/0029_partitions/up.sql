-- Partitions `envelopes` by id and `attempts` by time, so that retention drops partitions instead of deleting rows.
--
-- The existing tables become the first partitions. The migration reads both tables once, and builds one index.

-- Sends wait from here on. Transactions that use both tables mostly lock attempts first.
LOCK TABLE attempts, envelopes IN ACCESS EXCLUSIVE MODE;

-- Housekeeping maintains these rows in the transactions that create and drop partitions. A partition begins at the
-- upper bound of the partition before.
CREATE TABLE partitions (
    name TEXT COLLATE "C" PRIMARY KEY,
    parent TEXT COLLATE "C" NOT NULL,
    -- In milliseconds. NULL for the newest partition, which has no upper bound.
    upper_bound BIGINT,
    -- Whether retention drops the partition. Rows of other partitions are deleted one by one.
    is_dropped_whole BOOLEAN NOT NULL,
    -- The last envelope whose bytes were subtracted from the stored bytes of its sender.
    released_to TEXT COLLATE "C" NOT NULL DEFAULT '',
    UNIQUE (parent, upper_bound)
);

-- An id begins with the milliseconds of its time, in ten characters of Crockford base32.
CREATE FUNCTION envelope_bound(at BIGINT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
    SELECT 'env_' || string_agg(
        substr('0123456789abcdefghjkmnpqrstvwxyz', (at >> (5 * place) & 31)::INTEGER + 1, 1),
        '' ORDER BY place DESC
    )
    FROM generate_series(0, 9) AS place
$$;

ALTER TABLE envelopes RENAME TO envelopes_first;
ALTER INDEX envelopes_pkey RENAME TO envelopes_first_pkey;
CREATE TABLE envelopes (
    LIKE envelopes_first INCLUDING CONSTRAINTS INCLUDING DEFAULTS INCLUDING STORAGE, PRIMARY KEY (id)
) PARTITION BY RANGE (id);

-- The key includes the time, because a key of a partitioned table must include the column of its bounds.
CREATE SEQUENCE attempt_numbers AS BIGINT;
SELECT setval('attempt_numbers', nextval(pg_get_serial_sequence('attempts', 'number')));
ALTER TABLE attempts RENAME TO attempts_first;
ALTER TABLE attempts_first ALTER COLUMN number DROP IDENTITY, DROP CONSTRAINT attempts_pkey;
-- A publication for all tables refuses to delete rows of a table without a primary key. Reset below.
ALTER TABLE attempts_first REPLICA IDENTITY FULL;
ALTER INDEX ix_attempts__webhook_id__outcome__number
    RENAME TO attempts_first_webhook_id_outcome_number_idx;
ALTER INDEX ix_attempts__envelope_id__succeeded RENAME TO attempts_first_envelope_id_idx;
CREATE TABLE attempts (
    LIKE attempts_first INCLUDING CONSTRAINTS INCLUDING DEFAULTS INCLUDING STORAGE, PRIMARY KEY (number, at)
) PARTITION BY RANGE (at);
ALTER TABLE attempts ALTER COLUMN number SET DEFAULT nextval('attempt_numbers');
ALTER SEQUENCE attempt_numbers OWNED BY attempts.number;
CREATE INDEX ix_attempts__webhook_id__outcome__number ON attempts (webhook_id, outcome, number);
CREATE INDEX ix_attempts__envelope_id__succeeded ON attempts (envelope_id)
    WHERE outcome = 'succeeded';

CREATE TABLE envelopes_newest (LIKE envelopes INCLUDING ALL)
    WITH (autovacuum_enabled = false);
CREATE TABLE attempts_newest (LIKE attempts INCLUDING ALL)
    WITH (autovacuum_enabled = false);

DO $$
DECLARE
    bound BIGINT := (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT;
BEGIN
    -- Nodes of the previous version create no partitions. They may serve for a day until the first node of this version
    -- runs. The newest partition must be empty then: limiting it would otherwise read all its rows under a lock.
    IF EXISTS (SELECT FROM envelopes_first) THEN
        bound := bound + 86400000;
    END IF;
    -- The clock of a node may be ahead.
    WITH moved AS (DELETE FROM envelopes_first WHERE id >= envelope_bound(bound) RETURNING *)
    INSERT INTO envelopes_newest SELECT * FROM moved;
    WITH moved AS (DELETE FROM attempts_first WHERE at >= bound RETURNING *)
    INSERT INTO attempts_newest SELECT * FROM moved;
    EXECUTE format(
        'ALTER TABLE envelopes ATTACH PARTITION envelopes_first FOR VALUES FROM (MINVALUE) TO (%1$L);
         ALTER TABLE envelopes ATTACH PARTITION envelopes_newest FOR VALUES FROM (%1$L) TO (MAXVALUE);
         ALTER TABLE attempts ATTACH PARTITION attempts_first FOR VALUES FROM (MINVALUE) TO (%2$s);
         ALTER TABLE attempts ATTACH PARTITION attempts_newest FOR VALUES FROM (%2$s) TO (MAXVALUE)',
        envelope_bound(bound), bound
    );
    INSERT INTO partitions (name, parent, upper_bound, is_dropped_whole) VALUES
        ('envelopes_first', 'envelopes', bound, false),
        ('envelopes_newest', 'envelopes', NULL, false),
        ('attempts_first', 'attempts', bound, false),
        ('attempts_newest', 'attempts', NULL, false);
END
$$;

ALTER TABLE attempts_first REPLICA IDENTITY DEFAULT;

DROP FUNCTION envelope_bound(BIGINT);
