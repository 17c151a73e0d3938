-- Assessments of keys, and their badges.
CREATE TABLE assessments (
    id TEXT COLLATE "C" PRIMARY KEY,
    api_key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id),
    -- In units of 10^-18.
    clarity BIGINT NOT NULL CHECK (clarity BETWEEN 0 AND 1000000000000000000),
    coherence BIGINT NOT NULL CHECK (coherence BETWEEN 0 AND 1000000000000000000),
    confidence BIGINT NOT NULL CHECK (confidence BETWEEN 0 AND 1000000000000000000),
    drift BIGINT NOT NULL CHECK (drift BETWEEN 0 AND 1000000000000000000),
    assessor TEXT NOT NULL,
    reason TEXT NOT NULL,
    at BIGINT NOT NULL
);
CREATE INDEX ix_assessments__api_key_id__at ON assessments (api_key_id, at, id);

CREATE TABLE attestations (
    id TEXT COLLATE "C" PRIMARY KEY,
    api_key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id),
    name TEXT COLLATE "C" NOT NULL,
    failed BOOLEAN NOT NULL,
    valid_until BIGINT,
    attester TEXT NOT NULL,
    reason TEXT NOT NULL,
    at BIGINT NOT NULL
);
CREATE INDEX ix_attestations__api_key_id__name__at ON attestations (api_key_id, name, at, id);

-- Assessments accept only new rows.
CREATE FUNCTION refuse_to_change_findings() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'findings are only ever added to' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER tr_assessments__append_only
BEFORE UPDATE OR DELETE OR TRUNCATE ON assessments FOR EACH STATEMENT
EXECUTE FUNCTION refuse_to_change_findings();
CREATE TRIGGER tr_attestations__append_only
BEFORE UPDATE OR DELETE OR TRUNCATE ON attestations FOR EACH STATEMENT
EXECUTE FUNCTION refuse_to_change_findings();

CREATE TABLE badges (
    id TEXT COLLATE "C" PRIMARY KEY,
    api_key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id),
    assessment_id TEXT COLLATE "C" NOT NULL REFERENCES assessments (id),
    subject TEXT NOT NULL,
    jurisdiction TEXT,
    circuits_version BIGINT,
    -- The bit of a status list. No two badges share a bit.
    position BIGINT NOT NULL UNIQUE,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    revoked_by TEXT,
    revocation_reason TEXT
);
CREATE INDEX ix_badges__api_key_id ON badges (api_key_id, expires_at);
CREATE INDEX ix_badges__position__revoked ON badges (position) WHERE revoked_at IS NOT NULL;
