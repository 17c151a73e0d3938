-- The keys to which a key has sent, if its policy records contacts.
CREATE TABLE contacts (
    api_key_id TEXT COLLATE "C" NOT NULL,
    contact TEXT COLLATE "C" NOT NULL,
    sent_at BIGINT NOT NULL,
    PRIMARY KEY (api_key_id, contact)
);
CREATE INDEX ix_contacts__sent_at ON contacts (sent_at);
