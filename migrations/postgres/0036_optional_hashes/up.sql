-- The hash of an envelope is the SHA-256 of its sealed bytes. If this column accepts NULL, new envelopes omit the hash,
-- so that five of them fit into a page instead of four. Servers of version 0.1.0 cannot read such envelopes. In a
-- database that is in use, the column stays as it is until `sealpost migrate --finish`.
DO $$
BEGIN
    IF EXISTS (SELECT FROM accounts) OR EXISTS (SELECT FROM nodes) THEN
        INSERT INTO additive_migrations (version) VALUES ('0036');
    ELSE
        ALTER TABLE envelopes ALTER COLUMN hash DROP NOT NULL;
    END IF;
END
$$;
