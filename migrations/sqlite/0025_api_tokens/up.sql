-- Bearer tokens for one key. A row never changes, except the hour of the last use. Revocation deletes it.
CREATE TABLE api_tokens (
    id TEXT NOT NULL PRIMARY KEY,
    token BLOB NOT NULL UNIQUE,
    account_id TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    api_key_id TEXT NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_api_tokens__account_id__id ON api_tokens (account_id, id);
CREATE INDEX ix_api_tokens__api_key_id ON api_tokens (api_key_id);
CREATE INDEX ix_api_tokens__expires_at ON api_tokens (expires_at);

-- A new token changes nothing: tokens without a row are not cached. The last use is no fact.
CREATE TRIGGER tr_api_tokens__state
AFTER UPDATE OF token, account_id, expires_at ON api_tokens
BEGIN
    UPDATE facts_state SET state = random();
END;

CREATE TRIGGER tr_api_tokens__state_gone
AFTER DELETE ON api_tokens
BEGIN
    UPDATE facts_state SET state = random();
END;
