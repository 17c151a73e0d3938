-- The keys to which a key has sent, if its policy records contacts.
CREATE TABLE contacts (
    api_key_id TEXT NOT NULL,
    contact TEXT NOT NULL,
    sent_at INTEGER NOT NULL,
    PRIMARY KEY (api_key_id, contact)
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_contacts__sent_at ON contacts (sent_at);
