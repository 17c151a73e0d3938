-- A closed account accepts no login and gets no key. Housekeeping continues an interrupted closing: while it is not
-- finished, `closing` holds its extent.
ALTER TABLE accounts
    ADD COLUMN closed_at BIGINT,
    ADD COLUMN erased_at BIGINT,
    ADD COLUMN closing TEXT COLLATE "C" CHECK (closing IN ('close', 'erase'));
CREATE INDEX ix_accounts__closing ON accounts (id) WHERE closing IS NOT NULL;

-- Hashes of the handles of erased accounts. No other account may take such a handle, because senders may still use it.
CREATE TABLE erased_handles (
    hash BYTEA PRIMARY KEY
);
