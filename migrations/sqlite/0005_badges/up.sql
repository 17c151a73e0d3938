-- Assessments of keys, and their badges.
CREATE TABLE assessments (
    id TEXT NOT NULL PRIMARY KEY,
    api_key_id TEXT NOT NULL REFERENCES api_keys (id),
    -- In units of 10^-18.
    clarity INTEGER NOT NULL CHECK (clarity BETWEEN 0 AND 1000000000000000000),
    coherence INTEGER NOT NULL CHECK (coherence BETWEEN 0 AND 1000000000000000000),
    confidence INTEGER NOT NULL CHECK (confidence BETWEEN 0 AND 1000000000000000000),
    drift INTEGER NOT NULL CHECK (drift BETWEEN 0 AND 1000000000000000000),
    assessor TEXT NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_assessments__api_key_id__at ON assessments (api_key_id, at, id);

CREATE TABLE attestations (
    id TEXT NOT NULL PRIMARY KEY,
    api_key_id TEXT NOT NULL REFERENCES api_keys (id),
    name TEXT NOT NULL,
    failed INTEGER NOT NULL,
    valid_until INTEGER,
    attester TEXT NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_attestations__api_key_id__name__at ON attestations (api_key_id, name, at, id);

-- Assessments accept only new rows. The last of each three triggers also rejects INSERT OR REPLACE, which deletes rows
-- without firing the other triggers.
CREATE TRIGGER tr_assessments__no_update
BEFORE UPDATE ON assessments FOR EACH ROW
BEGIN
    SELECT RAISE(ABORT, 'findings are only ever added to');
END;
CREATE TRIGGER tr_assessments__no_delete
BEFORE DELETE ON assessments FOR EACH ROW
BEGIN
    SELECT RAISE(ABORT, 'findings are only ever added to');
END;
CREATE TRIGGER tr_assessments__no_replace
BEFORE INSERT ON assessments FOR EACH ROW
WHEN EXISTS (SELECT 1 FROM assessments WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'findings are only ever added to');
END;
CREATE TRIGGER tr_attestations__no_update
BEFORE UPDATE ON attestations FOR EACH ROW
BEGIN
    SELECT RAISE(ABORT, 'findings are only ever added to');
END;
CREATE TRIGGER tr_attestations__no_delete
BEFORE DELETE ON attestations FOR EACH ROW
BEGIN
    SELECT RAISE(ABORT, 'findings are only ever added to');
END;
CREATE TRIGGER tr_attestations__no_replace
BEFORE INSERT ON attestations FOR EACH ROW
WHEN EXISTS (SELECT 1 FROM attestations WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'findings are only ever added to');
END;

CREATE TABLE badges (
    id TEXT NOT NULL PRIMARY KEY,
    api_key_id TEXT NOT NULL REFERENCES api_keys (id),
    assessment_id TEXT NOT NULL REFERENCES assessments (id),
    subject TEXT NOT NULL,
    jurisdiction TEXT,
    circuits_version INTEGER,
    -- The bit of a status list. No two badges share a bit.
    position INTEGER NOT NULL UNIQUE,
    issued_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER,
    revoked_by TEXT,
    revocation_reason TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_badges__api_key_id ON badges (api_key_id, expires_at);
CREATE INDEX ix_badges__position__revoked ON badges (position) WHERE revoked_at IS NOT NULL;
