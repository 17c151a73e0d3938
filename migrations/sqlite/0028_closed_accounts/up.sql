-- A closed account accepts no login and gets no key. Housekeeping continues an interrupted closing: while it is not
-- finished, `closing` holds its extent.
ALTER TABLE accounts ADD COLUMN closed_at INTEGER;
ALTER TABLE accounts ADD COLUMN erased_at INTEGER;
ALTER TABLE accounts ADD COLUMN closing TEXT CHECK (closing IN ('close', 'erase'));
CREATE INDEX ix_accounts__closing ON accounts (id) WHERE closing IS NOT NULL;

-- Hashes of the handles of erased accounts. No other account may take such a handle, because senders may still use it.
CREATE TABLE erased_handles (
    hash BLOB NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
