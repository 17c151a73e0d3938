-- Forms of the dashboard that were sent, so that a form acts once. Only the hash of a form's id is stored, with the
-- path of the page that shows the result. The path is NULL until the act has ended.
CREATE TABLE used_forms (
    form BLOB PRIMARY KEY,
    used_at INTEGER NOT NULL,
    result TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_used_forms__used_at ON used_forms (used_at);
INSERT INTO additive_migrations (version) VALUES ('0048');
