LOCK TABLE attempts, envelopes IN ACCESS EXCLUSIVE MODE;

ALTER TABLE envelopes RENAME TO envelopes_partitioned;
CREATE TABLE envelopes (LIKE envelopes_partitioned INCLUDING CONSTRAINTS INCLUDING STORAGE);
INSERT INTO envelopes SELECT * FROM envelopes_partitioned;
DROP TABLE envelopes_partitioned;
ALTER TABLE envelopes ADD PRIMARY KEY (id);

ALTER TABLE attempts RENAME TO attempts_partitioned;
CREATE TABLE attempts (LIKE attempts_partitioned INCLUDING CONSTRAINTS INCLUDING STORAGE)
    WITH (autovacuum_vacuum_scale_factor = 0.05);
INSERT INTO attempts SELECT * FROM attempts_partitioned;
ALTER TABLE attempts ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY;
SELECT setval(pg_get_serial_sequence('attempts', 'number'), nextval('attempt_numbers'));
DROP TABLE attempts_partitioned;
ALTER TABLE attempts ADD PRIMARY KEY (number);
CREATE INDEX ix_attempts__webhook_id__outcome__number ON attempts (webhook_id, outcome, number);
CREATE INDEX ix_attempts__envelope_id__succeeded ON attempts (envelope_id)
    WHERE outcome = 'succeeded';

DROP TABLE partitions;
