-- The context of a message. The sender signs the context; it is not encrypted. An older server cannot open an envelope
-- with context, and lists and opens all others.
ALTER TABLE envelopes ADD COLUMN thread TEXT COLLATE "C";
ALTER TABLE envelopes ADD COLUMN reply_to TEXT COLLATE "C";
ALTER TABLE envelopes ADD COLUMN message_type TEXT COLLATE "C";

-- Finds the envelopes of a sender by time. The last six characters of an API key are 30 random bits: they suffice to
-- find a sender, and keep the index and its part of the write-ahead log small. Queries compare the whole key too.
CREATE INDEX ix_envelopes__sender__created_at ON envelopes (substr(sender, 24), created_at);

-- Costs nothing for envelopes without a thread.
CREATE INDEX ix_envelopes__sender__thread__created_at
    ON envelopes (substr(sender, 24), thread, created_at) WHERE thread IS NOT NULL;
INSERT INTO additive_migrations (version) VALUES ('0044');
