-- Drops the triggers of closed partitions too.
DROP FUNCTION record_late_envelope() CASCADE;
ALTER TABLE partitions DROP COLUMN is_closed;
DROP TABLE late_envelopes;
