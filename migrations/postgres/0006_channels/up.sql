-- What the envelopes of the channel suite open with: a row for many envelopes. A row's id carries the time when the
-- channel began, so housekeeping needs no index but the key. No foreign keys: the hot path.
CREATE TABLE channels (
    id TEXT COLLATE "C" PRIMARY KEY,
    sender TEXT COLLATE "C" NOT NULL,
    recipient TEXT COLLATE "C" NOT NULL,
    sealing_version INTEGER NOT NULL,
    encapsulation BYTEA NOT NULL,
    signature BYTEA NOT NULL
);
