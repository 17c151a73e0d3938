-- The schema of Sealpost on SQLite.
--
-- Times are milliseconds since the Unix epoch. Ids are TypeIDs: their bytes sort by time of creation. Tables that every
-- send writes have no foreign keys. Most tables have no rowid, so that a row is found in one search. Tables with long
-- rows have one: long rows are cheaper in a table than inside the index of a primary key.

-- Accounts, sessions and invites

-- A closed account accepts no login and gets no key. Housekeeping continues an interrupted closing: while it is not
-- finished, `closing` holds its extent.
CREATE TABLE accounts (
    id TEXT NOT NULL PRIMARY KEY,
    login_secret BLOB NOT NULL,
    -- The hash of the recovery code. NULL for a closed account.
    recovery_code BLOB,
    partner_id TEXT,
    created_at INTEGER NOT NULL,
    closed_at INTEGER,
    erased_at INTEGER,
    closing TEXT CHECK (closing IN ('close', 'erase')),
    -- Authenticates the columns that decide about a login. NULL for a closed account.
    tag BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_accounts__partner_id ON accounts (partner_id) WHERE partner_id IS NOT NULL;
CREATE INDEX ix_accounts__closing ON accounts (id) WHERE closing IS NOT NULL;

CREATE TABLE sessions (
    token BLOB NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    expires_at INTEGER NOT NULL,
    -- The last time that the login secret was given in the session.
    confirmed_at INTEGER,
    started_at INTEGER NOT NULL,
    last_used_at INTEGER,
    client_address TEXT,
    user_agent TEXT,
    -- Authenticates the columns that decide whether the session is valid. `confirmation_tag` authenticates
    -- `confirmed_at`.
    tag BLOB,
    confirmation_tag BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_sessions__account_id ON sessions (account_id);
CREATE INDEX ix_sessions__expires_at ON sessions (expires_at);

-- Invites open accounts while sign-up needs an invite. Only the hash of the secret is stored.
CREATE TABLE invites (
    id TEXT NOT NULL PRIMARY KEY,
    secret BLOB NOT NULL UNIQUE,
    note TEXT,
    uses INTEGER NOT NULL,
    used INTEGER NOT NULL CHECK (used BETWEEN 0 AND uses),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- The activity log of accounts, which their owners can read. Ids begin with the time, so housekeeping needs no further
-- index.
CREATE TABLE activity (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    client_address TEXT,
    detail TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_activity__account_id__id ON activity (account_id, id);
CREATE INDEX ix_activity__account_id__kind__id ON activity (account_id, kind, id);

-- Submitted forms of the dashboard. A second submission of the same form finds its row, and has no effect. Only the
-- hash of a form's id is stored, with the result, encrypted under a key that is derived from the id. The result is NULL
-- until the action has ended.
CREATE TABLE used_forms (
    form BLOB NOT NULL PRIMARY KEY,
    used_at INTEGER NOT NULL,
    result BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_used_forms__used_at ON used_forms (used_at);

-- API keys

CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    label TEXT NOT NULL,
    handle TEXT,
    did TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'deactivated', 'revoked', 'rotating')),
    plan TEXT NOT NULL,
    enterprise_per_minute INTEGER,
    enterprise_per_day INTEGER,
    enterprise_per_month INTEGER,
    enterprise_per_second INTEGER,
    enterprise_allow_overage INTEGER,
    root BLOB,
    sealing_version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    CHECK (
        plan <> 'enterprise'
        OR (
            enterprise_per_minute IS NOT NULL
            AND enterprise_per_day IS NOT NULL
            AND enterprise_per_month IS NOT NULL
            AND enterprise_per_second IS NOT NULL
            AND enterprise_allow_overage IS NOT NULL
        )
    ),
    CHECK (status <> 'revoked' OR root IS NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_api_keys__account_id ON api_keys (account_id);
-- Each filter of the operators' list of keys reads only the matching keys, newest first.
CREATE INDEX ix_api_keys__handle__id ON api_keys (handle, id) WHERE handle IS NOT NULL;
CREATE INDEX ix_api_keys__label__id ON api_keys (label, id);
CREATE INDEX ix_api_keys__plan__id ON api_keys (plan, id);
CREATE INDEX ix_api_keys__status__id ON api_keys (status, id);

-- Revocation is final: the database rejects another status or a new root.
CREATE TRIGGER tr_api_keys__revoked_is_final
BEFORE UPDATE ON api_keys FOR EACH ROW
WHEN OLD.status = 'revoked' AND (NEW.status <> 'revoked' OR NEW.root IS NOT NULL)
BEGIN
    SELECT RAISE(ABORT, 'a revoked key stays revoked');
END;

CREATE TABLE handles (
    handle TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    api_key_id TEXT NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_handles__account_id ON handles (account_id);
CREATE INDEX ix_handles__api_key_id ON handles (api_key_id);

-- Hashes of the handles of erased accounts. No other account may take such a handle, because senders may still use it.
CREATE TABLE erased_handles (
    hash BLOB NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Bearer tokens for one key. A row never changes, except the tag and the hour of the last use. Revocation deletes it.
CREATE TABLE api_tokens (
    id TEXT NOT NULL PRIMARY KEY,
    token BLOB NOT NULL UNIQUE,
    account_id TEXT NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    api_key_id TEXT NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER,
    -- Authenticates all other columns except the last use.
    tag BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_api_tokens__account_id__id ON api_tokens (account_id, id);
CREATE INDEX ix_api_tokens__api_key_id ON api_tokens (api_key_id);
CREATE INDEX ix_api_tokens__expires_at ON api_tokens (expires_at);

-- The policies of recipients. A key without a row accepts every sender. The lists hold API keys, separated by commas,
-- because a policy is read and written as a whole.
CREATE TABLE policies (
    api_key_id TEXT NOT NULL PRIMARY KEY REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    accept TEXT NOT NULL CHECK (accept IN ('allowlist', 'anyone', 'contacts', 'nobody')),
    receipts TEXT NOT NULL CHECK (receipts IN ('none', 'notified', 'opened')),
    listed INTEGER NOT NULL CHECK (listed IN (0, 1)),
    allowed TEXT NOT NULL,
    blocked TEXT NOT NULL,
    records_contacts INTEGER NOT NULL CHECK (records_contacts IN (0, 1))
) STRICT;

-- The keys to which a key has sent, if its policy records contacts.
CREATE TABLE contacts (
    api_key_id TEXT NOT NULL,
    contact TEXT NOT NULL,
    sent_at INTEGER NOT NULL,
    PRIMARY KEY (api_key_id, contact)
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_contacts__sent_at ON contacts (sent_at);

-- Changes of keys whose correspondents are not all informed yet. Correspondents are the keys that sent to the changed
-- key or received from it. Housekeeping reads the stored envelopes from the newest to the oldest to find the
-- correspondents; `read_to` is the oldest id that was read. The row is deleted when all envelopes are read.
CREATE TABLE identity_rotations (
    api_key_id TEXT NOT NULL,
    reason TEXT NOT NULL CHECK (reason IN ('replaced', 'revoked', 'sealing_key')),
    at INTEGER NOT NULL,
    handle TEXT,
    replaced_by TEXT,
    read_to TEXT,
    informed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (api_key_id, reason, at)
) STRICT, WITHOUT ROWID;

-- Usage and limits

CREATE TABLE usage (
    api_key_id TEXT NOT NULL PRIMARY KEY REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    minute_start INTEGER NOT NULL,
    minute_used INTEGER NOT NULL,
    day_start INTEGER NOT NULL,
    day_used INTEGER NOT NULL,
    month_start INTEGER NOT NULL,
    month_used INTEGER NOT NULL,
    throughput_tat_us INTEGER NOT NULL,
    -- Sealed bytes of the stored envelopes of the sender. Sends add, retention subtracts.
    stored_bytes INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Exists because the statements of both databases read this view. On PostgreSQL, the view finds the newest generation
-- of a row. SQLite updates rows in place.
CREATE VIEW current_usage AS SELECT * FROM usage;

-- Messages above the monthly allowance.
CREATE TABLE overages (
    api_key_id TEXT NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    month INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    PRIMARY KEY (api_key_id, month)
) STRICT, WITHOUT ROWID;

-- The newest window in which a key reached a threshold of its limits. A threshold gives one event for each window.
CREATE TABLE usage_thresholds (
    api_key_id TEXT NOT NULL,
    span TEXT NOT NULL CHECK (span IN ('day', 'month')),
    threshold INTEGER NOT NULL,
    window_start INTEGER NOT NULL,
    PRIMARY KEY (api_key_id, span, threshold)
) STRICT, WITHOUT ROWID;

-- Envelopes

-- The hash of an envelope is not stored: it is the SHA-256 of its sealed bytes. The sealed bytes are last, because
-- SQLite reads a row from its beginning. Has a rowid, because rows are long.
CREATE TABLE envelopes (
    id TEXT NOT NULL PRIMARY KEY,
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    suite INTEGER NOT NULL,
    signature BLOB NOT NULL,
    payload_size_bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    opened_at INTEGER,
    -- The context of the message. The sender signs it; it is not encrypted.
    thread TEXT,
    reply_to TEXT,
    message_type TEXT,
    -- The trace context of the request that sent the message: trace id, parent id and flags. The requests to webhooks
    -- continue the trace.
    trace BLOB,
    sealed BLOB NOT NULL
) STRICT;
-- Finds the envelopes of a sender by time. The last six characters of an API key are 30 random bits: they suffice to
-- find a sender, and keep the index and its part of the write-ahead log small. Queries compare the whole key too.
CREATE INDEX ix_envelopes__sender__created_at ON envelopes (substr(sender, 24), created_at);
-- Costs nothing for envelopes without a thread.
CREATE INDEX ix_envelopes__sender__thread__created_at
    ON envelopes (substr(sender, 24), thread, created_at) WHERE thread IS NOT NULL;

-- Channels: the key material of many envelopes in the channel suite. An id contains the time of the first envelope, so
-- housekeeping needs only the primary key. Has a rowid, because rows are long.
CREATE TABLE channels (
    id TEXT NOT NULL PRIMARY KEY,
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    sealing_version INTEGER NOT NULL,
    encapsulation BLOB NOT NULL,
    signature BLOB NOT NULL
) STRICT;

-- Idempotency keys of sends, with the results for repeated requests. The row of a single send has no effect once its
-- envelope is deleted.
CREATE TABLE idempotency_keys (
    api_key_id TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    -- Empty for a batch of messages.
    envelope_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- The state in the response to a send, so that a repeated request gets the same state. NULL for a batch.
    state TEXT,
    -- The results of a batch, as JSON.
    results TEXT,
    PRIMARY KEY (api_key_id, idempotency_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_idempotency_keys__created_at ON idempotency_keys (created_at);

-- Envelopes of recipients without a webhook for received envelopes. A row is deleted when the envelope is opened or
-- purged, and when its delivery to a new webhook is stored. Recipients with a webhook have no rows.
CREATE TABLE waiting_envelopes (
    envelope_id TEXT NOT NULL PRIMARY KEY,
    recipient TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_waiting_envelopes__recipient__envelope_id
    ON waiting_envelopes (recipient, envelope_id);

-- Keys whose waiting envelopes must be processed: delivered to a new webhook, or bounced after a revocation. The column
-- horizon is for PostgreSQL only.
CREATE TABLE waiting_transfers (
    api_key_id TEXT NOT NULL PRIMARY KEY,
    horizon INTEGER
) STRICT, WITHOUT ROWID;

-- Keys whose first webhook skipped the waiting envelopes, with the id of the last skipped envelope.
CREATE TABLE waiting_skips (
    api_key_id TEXT NOT NULL PRIMARY KEY,
    until TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Outcomes of envelopes that the queue alone does not show: a delivery succeeded while others of the envelope remained,
-- or the envelope bounced. One row for each envelope, so an envelope bounces at most once.
CREATE TABLE envelope_outcomes (
    envelope_id TEXT NOT NULL PRIMARY KEY,
    outcome TEXT NOT NULL CHECK (outcome IN ('announced', 'bounced')),
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Webhooks and their deliveries

-- `status` is the service's decision, `paused` the owner's.
CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY,
    api_key_id TEXT NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    description TEXT,
    secret BLOB NOT NULL,
    -- Replaced secrets are a list in one value, because every batch of sends reads it. `retiring_until` is the end of
    -- the first of these secrets.
    retiring BLOB,
    retiring_until INTEGER,
    status TEXT NOT NULL CHECK (status IN ('disabled', 'enabled')),
    disabled_reason TEXT CHECK (disabled_reason IN ('failing', 'gone')),
    paused INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    last_success_at INTEGER,
    last_failure_at INTEGER,
    -- The class of the newest failure, and its reason.
    last_failure TEXT,
    last_failure_detail TEXT,
    -- The time of the first failure after the last success, and the number of failed attempts since then.
    failing_since INTEGER,
    failed_attempts INTEGER NOT NULL DEFAULT 0,
    -- The time of the event `webhook.failing`; the next success clears it.
    failing_announced_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_webhooks__api_key_id ON webhooks (api_key_id);
CREATE INDEX ix_webhooks__retiring_until ON webhooks (retiring_until)
    WHERE retiring_until IS NOT NULL;

-- Deleted webhooks with attempts that are not deleted yet.
CREATE TABLE deleted_webhooks (
    id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Events with an id of their own. A received envelope is an event without a row here. The body is what webhooks get.
-- Has a rowid, because rows are long.
CREATE TABLE events (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    api_key_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;

-- The queue of deliveries. A successful delivery deletes its row.
CREATE TABLE deliveries (
    -- The id of the event. Most events are received envelopes.
    envelope_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    -- The end of the lease if the row is leased. NULL after the last attempt.
    due_at INTEGER,
    -- -1 while the delivery waits for the connection of a relay.
    lease INTEGER,
    last_failure TEXT,
    failed_at INTEGER,
    -- Times of requests that arrived while the delivery was leased. After the lease, the delivery is due again if the
    -- attempt succeeded and `redeliver_at` is set, or if the attempt failed and `recover_at` is set. The next lease
    -- clears both.
    redeliver_at INTEGER,
    recover_at INTEGER,
    -- Time of the last request for an attempt, until an attempt fails. This attempt repeats the newest one: it does not
    -- increase `attempts`.
    requested_at INTEGER,
    PRIMARY KEY (envelope_id, webhook_id)
) STRICT, WITHOUT ROWID;
-- Claims search only deliveries without a lease. The ends of leases have an index of their own.
CREATE INDEX ix_deliveries__due_at ON deliveries (due_at) WHERE lease IS NULL AND due_at IS NOT NULL;
CREATE INDEX ix_deliveries__webhook_id__due_at__free ON deliveries (webhook_id, due_at)
    WHERE lease IS NULL AND due_at IS NOT NULL;
CREATE INDEX ix_deliveries__lease_end ON deliveries (due_at) WHERE lease <> -1;
-- Deliveries that wait for a relay have indexes of their own, so other claims do not read them. A relay gets its events
-- in their order: after the prefix `env_` or `evt_`, an id begins with the time.
CREATE INDEX ix_deliveries__due_at__relay ON deliveries (due_at) WHERE lease = -1;
CREATE INDEX ix_deliveries__webhook_id__envelope_id__relay ON deliveries (webhook_id, substr(envelope_id, 5))
    WHERE lease = -1;
-- The first of these two indexes contains the waiting deliveries, the second the failed ones. Together they contain all
-- deliveries of a webhook. Nearly every delivery gets an entry in the first index. This entry contains only the end of
-- the webhook id, which is random, so the index and the write-ahead log stay small.
CREATE INDEX ix_deliveries__webhook_id__due_at ON deliveries (substr(webhook_id, 24), due_at)
    WHERE due_at IS NOT NULL;
CREATE INDEX ix_deliveries__webhook_id__failed_at ON deliveries (webhook_id, failed_at)
    WHERE failed_at IS NOT NULL;

-- The log of attempts. The rowid is the number, so new rows are at the end. A number is never used twice, even after
-- the newest attempt was deleted. The daily counts include all attempts up to a number, so new attempts must have
-- higher numbers.
CREATE TABLE attempts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    next_attempt_at INTEGER,
    attempt INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    status_code INTEGER,
    outcome TEXT NOT NULL CHECK (outcome IN ('exhausted', 'failed', 'succeeded')),
    error TEXT,
    webhook_id TEXT NOT NULL,
    -- The id of the event.
    envelope_id TEXT NOT NULL,
    excerpt TEXT
) STRICT;
-- The log of a webhook lists its successes and its failures, newest first. The indexes contain only the end of the
-- webhook id, as in `deliveries`.
CREATE INDEX ix_attempts__webhook_id__number__succeeded ON attempts (substr(webhook_id, 24), number)
    WHERE outcome = 'succeeded';
CREATE INDEX ix_attempts__webhook_id__outcome__number ON attempts (substr(webhook_id, 24), outcome, number)
    WHERE outcome <> 'succeeded';
-- A receipt shows the first success of an envelope. Ids of envelopes grow, so new entries are at the end of the index.
CREATE INDEX ix_attempts__envelope_id__succeeded ON attempts (envelope_id)
    WHERE outcome = 'succeeded';
-- The log of an event lists all its attempts. Most attempts succeed, so this index costs most deliveries nothing.
CREATE INDEX ix_attempts__envelope_id__failed ON attempts (envelope_id)
    WHERE outcome <> 'succeeded';

-- Connections of receivers that have no public address (relays). The connections of a node count until its row in
-- `relay_nodes` expires, so the connections of a crashed node soon stop counting. Each second, a node checks its
-- connections whose `check_at` has passed. `check_at` is the end of the token. Triggers set it to 0 when the key, its
-- webhooks or the token change.
CREATE TABLE relay_nodes (
    node INTEGER PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE TABLE relay_connections (
    id INTEGER PRIMARY KEY,
    node INTEGER NOT NULL,
    api_key_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    token BLOB NOT NULL,
    connected_at INTEGER NOT NULL,
    client_address TEXT,
    check_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ix_relay_connections__webhook_id ON relay_connections (webhook_id);
CREATE INDEX ix_relay_connections__api_key_id ON relay_connections (api_key_id);
CREATE INDEX ix_relay_connections__token ON relay_connections (token);
CREATE INDEX ix_relay_connections__node__check_at ON relay_connections (node, check_at);

-- Requests the processing of a key's waiting envelopes after a new webhook or the revocation of the key.
CREATE TRIGGER tr_webhooks__waiting
AFTER INSERT ON webhooks
BEGIN
    INSERT INTO waiting_transfers (api_key_id) VALUES (NEW.api_key_id)
    ON CONFLICT (api_key_id) DO UPDATE SET horizon = NULL;
END;
-- An update can make a webhook the first one of its key for received envelopes.
CREATE TRIGGER tr_webhooks__waiting_events
AFTER UPDATE ON webhooks
WHEN OLD.events IS NOT NEW.events
BEGIN
    INSERT INTO waiting_transfers (api_key_id) VALUES (NEW.api_key_id)
    ON CONFLICT (api_key_id) DO UPDATE SET horizon = NULL;
END;
CREATE TRIGGER tr_api_keys__waiting
AFTER UPDATE OF status ON api_keys
WHEN NEW.status = 'revoked' AND OLD.status <> 'revoked'
BEGIN
    INSERT INTO waiting_transfers (api_key_id) VALUES (NEW.id)
    ON CONFLICT (api_key_id) DO UPDATE SET horizon = NULL;
END;

-- Operators

-- Decisions of operators. `by` names the operators that changed the status.
CREATE TABLE governance (
    id TEXT NOT NULL PRIMARY KEY,
    subject TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('council_action', 'partner_suspension')),
    status TEXT NOT NULL CHECK (status IN ('enforced', 'lifted', 'proposed')),
    reason TEXT NOT NULL,
    since INTEGER NOT NULL,
    "by" TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_governance__subject ON governance (subject);
-- Every batch of sends reads the decisions that are not lifted.
CREATE INDEX ix_governance__subject__open ON governance (subject) WHERE status <> 'lifted';

CREATE TABLE audit_entries (
    number INTEGER NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL,
    previous BLOB NOT NULL,
    hash BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The audit trail has no gaps, and accepts only new rows. The last trigger also rejects INSERT OR REPLACE, which
-- deletes rows without firing the other triggers.
CREATE TRIGGER tr_audit_entries__no_update
BEFORE UPDATE ON audit_entries FOR EACH ROW
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is only ever added to');
END;
CREATE TRIGGER tr_audit_entries__no_delete
BEFORE DELETE ON audit_entries FOR EACH ROW
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is only ever added to');
END;
CREATE TRIGGER tr_audit_entries__no_gaps
BEFORE INSERT ON audit_entries FOR EACH ROW
WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM audit_entries)
BEGIN
    SELECT RAISE(ABORT, 'the audit trail has no gaps');
END;

-- Assessments of keys, and their badges

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

-- Assessments and attestations accept only new rows. The last of each three triggers also rejects INSERT OR REPLACE,
-- which deletes rows without firing the other triggers.
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
    revocation_reason TEXT,
    -- Authenticates the other columns. A revocation removes the tag, and a badge without its tag counts as revoked.
    tag BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_badges__api_key_id ON badges (api_key_id, expires_at);
CREATE INDEX ix_badges__position__revoked ON badges (position)
    WHERE revoked_at IS NOT NULL OR tag IS NULL;

-- The service's own keys. Keys that were used for signatures are never deleted.
CREATE TABLE issuer_keys (
    id TEXT NOT NULL PRIMARY KEY,
    public_key BLOB NOT NULL,
    secret BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    signs_from INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The transparency log

-- The statements of the log: identities of keys, statuses of badges, hashes of audit entries, and hashes of envelopes.
-- Triggers insert a row in the transaction of the change. The node that appends its entry to the log adds number, time
-- and salt. An entry contains only a hash of salt and text. Erasure of an account deletes the rows of its keys, so that
-- the log entries can no longer be linked to the keys.
CREATE TABLE log_statements (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('audit', 'badge', 'envelopes', 'key')),
    -- The key, the badge, or the number of the audit entry. Empty for envelopes.
    subject TEXT NOT NULL,
    -- The key that the statement is about. NULL for the audit trail and for envelopes.
    api_key_id TEXT,
    text TEXT NOT NULL,
    number INTEGER,
    at INTEGER,
    salt BLOB,
    -- The hashes of the envelopes of a batch, 32 bytes each. The entry has the root of their tree.
    leaves BLOB
) STRICT;
CREATE INDEX ix_log_statements__pending ON log_statements (id) WHERE number IS NULL;
CREATE UNIQUE INDEX ix_log_statements__number ON log_statements (number) WHERE number IS NOT NULL;
CREATE INDEX ix_log_statements__subject ON log_statements (kind, subject, id);
CREATE INDEX ix_log_statements__at__envelopes ON log_statements (at) WHERE kind = 'envelopes';
CREATE INDEX ix_log_statements__api_key_id ON log_statements (api_key_id) WHERE api_key_id IS NOT NULL;

CREATE TABLE log_entries (
    number INTEGER NOT NULL PRIMARY KEY,
    entry BLOB NOT NULL
) STRICT;

-- The hashes of the tree, up to 256 in a row. The newest row of each level grows. Has a rowid, because rows are long.
CREATE TABLE log_tiles (
    level INTEGER NOT NULL,
    tile INTEGER NOT NULL,
    hashes BLOB NOT NULL,
    PRIMARY KEY (level, tile)
) STRICT;

-- One row: the state of the log. Its signing key is derived from an issuer key.
CREATE TABLE log_heads (
    origin TEXT NOT NULL PRIMARY KEY,
    issuer_key_id TEXT NOT NULL,
    size INTEGER NOT NULL,
    checkpoint TEXT NOT NULL,
    -- The newest checkpoint with cosignatures of witnesses. It can be older than `checkpoint`.
    witnessed TEXT
) STRICT;

CREATE TRIGGER tr_api_keys__log_new
AFTER INSERT ON api_keys
BEGIN
    INSERT INTO log_statements (kind, subject, api_key_id, text) VALUES (
        'key', NEW.id, NEW.id,
        'key ' || NEW.id || char(10) || 'did ' || NEW.did || char(10)
            || 'sealing_version ' || NEW.sealing_version || char(10) || 'status ' || NEW.status || char(10)
    );
END;
CREATE TRIGGER tr_api_keys__log
AFTER UPDATE ON api_keys
WHEN (OLD.did, OLD.sealing_version, OLD.status) IS NOT (NEW.did, NEW.sealing_version, NEW.status)
BEGIN
    INSERT INTO log_statements (kind, subject, api_key_id, text) VALUES (
        'key', NEW.id, NEW.id,
        'key ' || NEW.id || char(10) || 'did ' || NEW.did || char(10)
            || 'sealing_version ' || NEW.sealing_version || char(10) || 'status ' || NEW.status || char(10)
    );
END;
CREATE TRIGGER tr_badges__log_new
AFTER INSERT ON badges
BEGIN
    INSERT INTO log_statements (kind, subject, api_key_id, text) VALUES (
        'badge', NEW.id, NEW.api_key_id,
        'badge ' || NEW.id || char(10) || 'key ' || NEW.api_key_id || char(10) || 'expires_at ' || NEW.expires_at
            || char(10) || 'status ' || CASE WHEN NEW.revoked_at IS NULL THEN 'valid' ELSE 'revoked' END || char(10)
    );
END;
CREATE TRIGGER tr_badges__log
AFTER UPDATE ON badges
WHEN (OLD.api_key_id, OLD.expires_at, OLD.revoked_at IS NULL)
    IS NOT (NEW.api_key_id, NEW.expires_at, NEW.revoked_at IS NULL)
BEGIN
    INSERT INTO log_statements (kind, subject, api_key_id, text) VALUES (
        'badge', NEW.id, NEW.api_key_id,
        'badge ' || NEW.id || char(10) || 'key ' || NEW.api_key_id || char(10) || 'expires_at ' || NEW.expires_at
            || char(10) || 'status ' || CASE WHEN NEW.revoked_at IS NULL THEN 'valid' ELSE 'revoked' END || char(10)
    );
END;
CREATE TRIGGER tr_audit_entries__log
AFTER INSERT ON audit_entries
BEGIN
    INSERT INTO log_statements (kind, subject, text) VALUES (
        'audit', NEW.number, 'entry ' || NEW.number || char(10) || 'hash ' || lower(hex(NEW.hash)) || char(10)
    );
END;

-- Servers and housekeeping

-- The later migrations that are additive: servers that lack one of them still work with the database. Each additive
-- migration inserts its version here.
CREATE TABLE additive_migrations (
    version TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- The versions of the key-encryption keys. `mark` is a known text, encrypted under the key of the version. If it does
-- not decrypt at the start, the key is wrong. A retired version encrypts no other row, so key files need not contain
-- it.
CREATE TABLE kek_marks (
    version INTEGER NOT NULL PRIMARY KEY,
    mark BLOB NOT NULL,
    retired_at INTEGER
) STRICT;

-- Key-encryption keys that a key provider has wrapped (encrypted). Empty if the keys are in key files. During a move to
-- another provider, each version has one row for the old and one for the new provider.
CREATE TABLE kek_versions (
    version INTEGER NOT NULL,
    provider TEXT NOT NULL,
    wrapped BLOB NOT NULL,
    PRIMARY KEY (version, provider)
) STRICT, WITHOUT ROWID;

-- A random id of this database. A copy or a restored backup has the same id.
CREATE TABLE database_identity (
    id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
INSERT INTO database_identity (id) VALUES (lower(hex(randomblob(16))));

-- The newest mark of each revocation journal, a file outside the database. The mark is a number that each journaled
-- transaction raises, in this table and in the file. A lower mark than in the file means that the database was restored
-- from a backup.
CREATE TABLE journal_marks (
    journal TEXT NOT NULL PRIMARY KEY,
    mark INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The servers that use this database. Each one renews its row about once a minute. `base_url` is the public URL in the
-- settings of the server.
CREATE TABLE nodes (
    id INTEGER NOT NULL PRIMARY KEY,
    host TEXT NOT NULL,
    version TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    base_url TEXT NOT NULL
) STRICT;

-- The node that runs a housekeeping task, and the end of its lease.
CREATE TABLE housekeeping_tasks (
    name TEXT NOT NULL PRIMARY KEY,
    node INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Always empty. A probe, which checks that commits reach the disk, inserts a row and deletes it in one transaction.
CREATE TABLE write_probes (id INTEGER NOT NULL) STRICT;

-- Numbers of sent and received envelopes and of delivered events, for each key and day. Housekeeping counts them.
-- `daily_count_progress` stores the last counted row of each table.
CREATE TABLE daily_counts (
    api_key_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    received INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    PRIMARY KEY (api_key_id, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_daily_counts__day ON daily_counts (day);
CREATE TABLE daily_count_progress (
    source TEXT NOT NULL PRIMARY KEY,
    last_counted TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Facts of sends: the data of a key that a process caches, and reads again after a change

-- The version of everything that is cached about a key: the key, its handle, its webhooks and its policy. A key without
-- a row has version 0. Versions are random, so two states never share a version, even after a crash or a restored
-- backup.
CREATE TABLE facts_versions (
    api_key_id TEXT NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tr_api_keys__facts
AFTER UPDATE ON api_keys
WHEN (
    OLD.account_id, OLD.status, OLD.plan, OLD.enterprise_per_minute, OLD.enterprise_per_day,
    OLD.enterprise_per_month, OLD.enterprise_per_second, OLD.enterprise_allow_overage,
    OLD.sealing_version
) IS NOT (
    NEW.account_id, NEW.status, NEW.plan, NEW.enterprise_per_minute, NEW.enterprise_per_day,
    NEW.enterprise_per_month, NEW.enterprise_per_second, NEW.enterprise_allow_overage,
    NEW.sealing_version
)
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (NEW.id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER tr_api_keys__facts_gone
AFTER DELETE ON api_keys
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (OLD.id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER tr_handles__facts_new
AFTER INSERT ON handles
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (NEW.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER tr_handles__facts
AFTER UPDATE ON handles
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (OLD.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
    INSERT INTO facts_versions (api_key_id, version) VALUES (NEW.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER tr_handles__facts_gone
AFTER DELETE ON handles
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (OLD.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER tr_policies__facts_new
AFTER INSERT ON policies
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (NEW.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER tr_policies__facts
AFTER UPDATE ON policies
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (OLD.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
    INSERT INTO facts_versions (api_key_id, version) VALUES (NEW.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER tr_policies__facts_gone
AFTER DELETE ON policies
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (OLD.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER tr_webhooks__facts_new
AFTER INSERT ON webhooks
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (NEW.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;
-- Times of successes and failures do not change the version, because sends do not depend on them.
CREATE TRIGGER tr_webhooks__facts
AFTER UPDATE ON webhooks
WHEN (OLD.api_key_id, OLD.url, OLD.events, OLD.secret, OLD.retiring, OLD.status, OLD.paused)
    IS NOT (NEW.api_key_id, NEW.url, NEW.events, NEW.secret, NEW.retiring, NEW.status, NEW.paused)
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (OLD.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
    INSERT INTO facts_versions (api_key_id, version) VALUES (NEW.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER tr_webhooks__facts_gone
AFTER DELETE ON webhooks
BEGIN
    INSERT INTO facts_versions (api_key_id, version) VALUES (OLD.api_key_id, random())
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
END;

-- Marks the connections of relays that must be checked, because their key, webhook or token has changed.
CREATE TRIGGER tr_facts_versions__relays_new
AFTER INSERT ON facts_versions
BEGIN
    UPDATE relay_connections SET check_at = 0 WHERE api_key_id = NEW.api_key_id;
END;
CREATE TRIGGER tr_facts_versions__relays
AFTER UPDATE ON facts_versions
BEGIN
    UPDATE relay_connections SET check_at = 0 WHERE api_key_id = NEW.api_key_id;
END;
CREATE TRIGGER tr_sessions__relays
AFTER UPDATE OF token, account_id, expires_at ON sessions
BEGIN
    UPDATE relay_connections SET check_at = 0 WHERE token = OLD.token;
END;
CREATE TRIGGER tr_sessions__relays_gone
AFTER DELETE ON sessions
BEGIN
    UPDATE relay_connections SET check_at = 0 WHERE token = OLD.token;
END;
CREATE TRIGGER tr_api_tokens__relays
AFTER UPDATE OF token, account_id, expires_at ON api_tokens
BEGIN
    UPDATE relay_connections SET check_at = 0 WHERE token = OLD.token;
END;
CREATE TRIGGER tr_api_tokens__relays_gone
AFTER DELETE ON api_tokens
BEGIN
    UPDATE relay_connections SET check_at = 0 WHERE token = OLD.token;
END;
