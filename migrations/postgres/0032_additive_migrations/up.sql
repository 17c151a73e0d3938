-- The additive migrations: servers that lack one of them still work with the database. Each additive migration after
-- this one inserts its version here.
CREATE TABLE additive_migrations (
    version TEXT COLLATE "C" NOT NULL PRIMARY KEY
);
INSERT INTO additive_migrations (version) VALUES ('0032');
