-- What the envelopes of the channel suite open with: a row for many envelopes. A row's id carries the time when the
-- channel began, so housekeeping needs no index but the key. No foreign keys: the hot path. With a rowid: rows this
-- long are cheaper in a table of their own than inside an index.
CREATE TABLE channels (
    id TEXT NOT NULL PRIMARY KEY,
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    sealing_version INTEGER NOT NULL,
    encapsulation BLOB NOT NULL,
    signature BLOB NOT NULL
) STRICT;
