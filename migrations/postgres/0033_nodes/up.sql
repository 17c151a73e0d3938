-- The servers that use this database. Each one renews its row about once a minute.
CREATE TABLE nodes (
    id BIGINT NOT NULL PRIMARY KEY,
    host TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);
INSERT INTO additive_migrations (version) VALUES ('0033');
