-- The servers that use this database. Each one renews its row about once a minute.
CREATE TABLE nodes (
    id INTEGER NOT NULL PRIMARY KEY,
    host TEXT NOT NULL,
    version TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
) STRICT;
INSERT INTO additive_migrations (version) VALUES ('0033');
