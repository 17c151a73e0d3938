-- A random id of this database. A copy or a restored backup has the same id.
CREATE TABLE database_identity (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY
);
INSERT INTO database_identity (id) VALUES (replace(gen_random_uuid()::TEXT, '-', ''));
-- The newest mark of each revocation journal, a file outside the database. A lower mark than in the file means that
-- the database was restored from a backup.
CREATE TABLE journal_marks (
    journal TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    mark BIGINT NOT NULL
);
INSERT INTO additive_migrations (version) VALUES ('0035');
