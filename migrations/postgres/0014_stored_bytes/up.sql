-- Sealed bytes of the stored envelopes of each sender. Sends add, retention subtracts.
--
-- The sum is computed before the table is locked, so that sends wait only for the update. Envelopes that nodes of the
-- previous version store from here on are not counted.
CREATE TEMPORARY TABLE sealed_bytes ON COMMIT DROP AS
SELECT sender, sum(octet_length(sealed))::BIGINT AS bytes FROM envelopes GROUP BY sender;

ALTER TABLE usage ADD COLUMN stored_bytes BIGINT NOT NULL DEFAULT 0;

UPDATE usage AS u SET stored_bytes = s.bytes FROM sealed_bytes AS s WHERE u.api_key_id = s.sender;
DROP TABLE sealed_bytes;
