-- Sealed bytes of the stored envelopes of each sender. Sends add, retention subtracts.
ALTER TABLE usage ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;

UPDATE usage SET stored_bytes = s.bytes
FROM (SELECT sender, sum(length(sealed)) AS bytes FROM envelopes GROUP BY sender) AS s
WHERE usage.api_key_id = s.sender;
