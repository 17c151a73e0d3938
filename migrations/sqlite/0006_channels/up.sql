-- Channels: the key material of many envelopes in the channel suite. An id contains the time of the first envelope, so
-- housekeeping needs only the primary key. No foreign keys, because sends write here. Has a rowid, because long rows are
-- cheaper in a table than inside the index of a primary key.
CREATE TABLE channels (
    id TEXT NOT NULL PRIMARY KEY,
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    sealing_version INTEGER NOT NULL,
    encapsulation BLOB NOT NULL,
    signature BLOB NOT NULL
) STRICT;
