-- A random id of this database. A copy or a restored backup has the same id.
CREATE TABLE database_identity (
    id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
INSERT INTO database_identity (id) VALUES (lower(hex(randomblob(16))));
-- The newest mark of each revocation journal, a file outside the database. A lower mark than in the file means that
-- the database was restored from a backup.
CREATE TABLE journal_marks (
    journal TEXT NOT NULL PRIMARY KEY,
    mark INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO additive_migrations (version) VALUES ('0035');
