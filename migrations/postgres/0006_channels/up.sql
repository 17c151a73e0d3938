-- Channels: the key material of many envelopes in the channel suite. An id contains the time of the first envelope, so
-- housekeeping needs only the primary key. No foreign keys, because sends write here.
CREATE TABLE channels (
    id TEXT COLLATE "C" PRIMARY KEY,
    sender TEXT COLLATE "C" NOT NULL,
    recipient TEXT COLLATE "C" NOT NULL,
    sealing_version INTEGER NOT NULL,
    encapsulation BYTEA NOT NULL,
    signature BYTEA NOT NULL
);
