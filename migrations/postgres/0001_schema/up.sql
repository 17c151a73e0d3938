-- The schema of Sealpost on PostgreSQL.
--
-- Times are milliseconds since the Unix epoch. Ids are TypeIDs: their bytes sort by time of creation, and
-- `COLLATE "C"` compares bytes. As `uuid`, the ids of an envelope would save 500 of its 2,000 bytes, and 5 of 230 µs.
-- Tables that every send writes have no foreign keys.
--
-- To PostgreSQL, all indexes of an empty or small table cost the same, and a session keeps its plans when the table
-- grows. A plan could search for a key in an index that has this key as a later column, and read all entries. Such an
-- index therefore has the condition that its first column is not null. A search by the first column implies this
-- condition. A search by the key alone does not, so it cannot use the index.

-- Accounts, sessions and invites

-- A closed account accepts no login and gets no key. Housekeeping continues an interrupted closing: while it is not
-- finished, `closing` holds its extent.
CREATE TABLE accounts (
    id TEXT COLLATE "C" PRIMARY KEY,
    login_secret BYTEA NOT NULL,
    -- The hash of the recovery code. NULL for a closed account.
    recovery_code BYTEA,
    partner_id TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    closed_at BIGINT,
    erased_at BIGINT,
    closing TEXT COLLATE "C" CHECK (closing IN ('close', 'erase')),
    -- Authenticates the columns that decide about a login. NULL for a closed account.
    tag BYTEA
);
CREATE INDEX ix_accounts__partner_id ON accounts (partner_id) WHERE partner_id IS NOT NULL;
CREATE INDEX ix_accounts__closing ON accounts (id) WHERE closing IS NOT NULL;

CREATE TABLE sessions (
    token BYTEA PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    expires_at BIGINT NOT NULL,
    -- The last time that the login secret was given in the session.
    confirmed_at BIGINT,
    started_at BIGINT NOT NULL,
    last_used_at BIGINT,
    client_address TEXT,
    user_agent TEXT,
    -- Authenticates the columns that decide whether the session is valid. `confirmation_tag` authenticates
    -- `confirmed_at`.
    tag BYTEA,
    confirmation_tag BYTEA
);
CREATE INDEX ix_sessions__account_id ON sessions (account_id);
CREATE INDEX ix_sessions__expires_at ON sessions (expires_at);

-- Invites open accounts while sign-up needs an invite. Only the hash of the secret is stored.
CREATE TABLE invites (
    id TEXT COLLATE "C" PRIMARY KEY,
    secret BYTEA NOT NULL UNIQUE,
    note TEXT,
    uses BIGINT NOT NULL,
    used BIGINT NOT NULL CHECK (used BETWEEN 0 AND uses),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT
);

-- The activity log of accounts, which their owners can read. Ids begin with the time, so housekeeping needs no further
-- index. No foreign keys: an insert must not wait for a lock on the account.
CREATE TABLE activity (
    id TEXT COLLATE "C" PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    client_address TEXT COLLATE "C",
    detail TEXT
);
CREATE INDEX ix_activity__account_id__id ON activity (account_id, id) WHERE account_id IS NOT NULL;
CREATE INDEX ix_activity__account_id__kind__id ON activity (account_id, kind, id) WHERE account_id IS NOT NULL;

-- Submitted forms of the dashboard. A second submission of the same form finds its row, and has no effect. Only the
-- hash of a form's id is stored, with the result, encrypted under a key that is derived from the id. The result is NULL
-- until the action has ended.
CREATE TABLE used_forms (
    form BYTEA PRIMARY KEY,
    used_at BIGINT NOT NULL,
    result BYTEA
);
CREATE INDEX ix_used_forms__used_at ON used_forms (used_at);

-- API keys

CREATE TABLE api_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    label TEXT NOT NULL,
    handle TEXT COLLATE "C",
    did TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL
        CHECK (status IN ('active', 'deactivated', 'revoked', 'rotating')),
    plan TEXT COLLATE "C" NOT NULL,
    enterprise_per_minute BIGINT,
    enterprise_per_day BIGINT,
    enterprise_per_month BIGINT,
    enterprise_per_second BIGINT,
    enterprise_allow_overage BOOLEAN,
    root BYTEA,
    sealing_version INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    CHECK (
        plan <> 'enterprise'
        OR num_nulls(
            enterprise_per_minute,
            enterprise_per_day,
            enterprise_per_month,
            enterprise_per_second,
            enterprise_allow_overage
        ) = 0
    ),
    CHECK (status <> 'revoked' OR root IS NULL)
);
CREATE INDEX ix_api_keys__account_id ON api_keys (account_id);
-- Each filter of the operators' list of keys reads only the matching keys, newest first.
CREATE INDEX ix_api_keys__handle__id ON api_keys (handle, id) WHERE handle IS NOT NULL;
CREATE INDEX ix_api_keys__label__id ON api_keys (label, id) WHERE label IS NOT NULL;
CREATE INDEX ix_api_keys__plan__id ON api_keys (plan, id) WHERE plan IS NOT NULL;
CREATE INDEX ix_api_keys__status__id ON api_keys (status, id) WHERE status IS NOT NULL;

-- Revocation is final: the database rejects another status or a new root.
CREATE FUNCTION refuse_to_revive_api_key() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a revoked key stays revoked' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER tr_api_keys__revoked_is_final
BEFORE UPDATE ON api_keys FOR EACH ROW
WHEN (OLD.status = 'revoked' AND (NEW.status <> 'revoked' OR NEW.root IS NOT NULL))
EXECUTE FUNCTION refuse_to_revive_api_key();

CREATE TABLE handles (
    handle TEXT COLLATE "C" PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    api_key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX ix_handles__account_id ON handles (account_id);
CREATE INDEX ix_handles__api_key_id ON handles (api_key_id);

-- Hashes of the handles of erased accounts. No other account may take such a handle, because senders may still use it.
CREATE TABLE erased_handles (
    hash BYTEA PRIMARY KEY
);

-- Bearer tokens for one key. A row never changes, except the tag and the hour of the last use. Revocation deletes it.
CREATE TABLE api_tokens (
    id TEXT COLLATE "C" PRIMARY KEY,
    token BYTEA NOT NULL UNIQUE,
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    api_key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    name TEXT NOT NULL,
    scopes TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    last_used_at BIGINT,
    -- Authenticates all other columns except the last use.
    tag BYTEA
);
CREATE INDEX ix_api_tokens__account_id__id ON api_tokens (account_id, id) WHERE account_id IS NOT NULL;
CREATE INDEX ix_api_tokens__api_key_id ON api_tokens (api_key_id);
CREATE INDEX ix_api_tokens__expires_at ON api_tokens (expires_at);

-- The policies of recipients. A key without a row accepts every sender. The lists hold API keys, separated by commas,
-- because a policy is read and written as a whole.
CREATE TABLE policies (
    api_key_id TEXT COLLATE "C" PRIMARY KEY REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    accept TEXT COLLATE "C" NOT NULL CHECK (accept IN ('allowlist', 'anyone', 'contacts', 'nobody')),
    receipts TEXT COLLATE "C" NOT NULL CHECK (receipts IN ('none', 'notified', 'opened')),
    listed BOOLEAN NOT NULL,
    allowed TEXT COLLATE "C" NOT NULL,
    blocked TEXT COLLATE "C" NOT NULL,
    records_contacts BOOLEAN NOT NULL
);

-- The keys to which a key has sent, if its policy records contacts.
CREATE TABLE contacts (
    api_key_id TEXT COLLATE "C" NOT NULL,
    contact TEXT COLLATE "C" NOT NULL,
    sent_at BIGINT NOT NULL,
    PRIMARY KEY (api_key_id, contact)
);
CREATE INDEX ix_contacts__sent_at ON contacts (sent_at);

-- Changes of keys whose correspondents are not all informed yet. Correspondents are the keys that sent to the changed
-- key or received from it. Housekeeping reads the stored envelopes from the newest to the oldest to find the
-- correspondents; `read_to` is the oldest id that was read. The row is deleted when all envelopes are read.
CREATE TABLE identity_rotations (
    api_key_id TEXT COLLATE "C" NOT NULL,
    reason TEXT NOT NULL CHECK (reason IN ('replaced', 'revoked', 'sealing_key')),
    at BIGINT NOT NULL,
    handle TEXT,
    replaced_by TEXT COLLATE "C",
    read_to TEXT COLLATE "C",
    informed BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (api_key_id, reason, at)
);

-- Usage and limits

-- Each batch of sends updates the rows of its senders. Most of each page stays free, so that new row versions fit
-- beside the old one. An update that finds no space in its page also writes an index entry. While a snapshot is open,
-- one in five updates does this. With only half of each page free, every second update did.
--
-- An open snapshot (a dump, a report, a replica with hot_standby_feedback) keeps all old row versions. With an index on
-- the key alone, a look-up would read every one of them. The index therefore ends with a generation, which grows with
-- every 16th update: a look-up from the highest generation down reads at most 16 versions.
--
-- The write-ahead log of an update has the bytes from the first to the last changed column. So the columns that each
-- batch changes are the last ones.
CREATE TABLE usage (
    api_key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    generation BIGINT NOT NULL DEFAULT 0,
    minute_start BIGINT NOT NULL,
    day_start BIGINT NOT NULL,
    month_start BIGINT NOT NULL,
    minute_used BIGINT NOT NULL,
    day_used BIGINT NOT NULL,
    month_used BIGINT NOT NULL,
    throughput_tat_us BIGINT NOT NULL,
    -- Sealed bytes of the stored envelopes of the sender. Sends add, retention subtracts.
    stored_bytes BIGINT NOT NULL DEFAULT 0,
    updates BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (api_key_id, generation)
) WITH (
    fillfactor = 20,
    autovacuum_vacuum_scale_factor = 0.02
);

-- Each key has one row. The view finds it from the highest generation down.
CREATE VIEW current_usage AS
    SELECT k.id AS api_key_id, u.minute_start, u.minute_used, u.day_start, u.day_used, u.month_start, u.month_used,
        u.throughput_tat_us, u.stored_bytes
    FROM api_keys AS k CROSS JOIN LATERAL (
        SELECT * FROM usage AS u WHERE u.api_key_id = k.id ORDER BY u.generation DESC LIMIT 1
    ) AS u;

-- Locks the usage rows of these keys in the order of ids, and returns the ids with the addresses of the rows.
CREATE FUNCTION lock_usage(keys TEXT[]) RETURNS TABLE (api_key_id TEXT, address TID)
LANGUAGE sql VOLATILE ROWS 16 AS $$
    SELECT u.api_key_id, u.ctid FROM (
        SELECT DISTINCT key COLLATE "C" AS id FROM unnest(keys) AS key ORDER BY id
    ) AS k CROSS JOIN LATERAL (
        SELECT u.api_key_id, u.ctid FROM usage AS u WHERE u.api_key_id = k.id
        ORDER BY u.generation DESC LIMIT 1 FOR NO KEY UPDATE
    ) AS u
$$;

-- Messages above the monthly allowance. Each batch of such a key updates the row of the month, so the index ends with a
-- generation too, and most of each page stays free.
CREATE TABLE overages (
    api_key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    month BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    updates BIGINT NOT NULL DEFAULT 0,
    generation BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (api_key_id, month, generation)
) WITH (fillfactor = 20);

-- The newest window in which a key reached a threshold of its limits. A threshold gives one event for each window.
CREATE TABLE usage_thresholds (
    api_key_id TEXT COLLATE "C" NOT NULL,
    span TEXT NOT NULL CHECK (span IN ('day', 'month')),
    threshold SMALLINT NOT NULL,
    window_start BIGINT NOT NULL,
    PRIMARY KEY (api_key_id, span, threshold)
);

-- Envelopes

-- The hash of an envelope is not stored: it is the SHA-256 of its sealed bytes. Without it, five envelopes fit into a
-- page instead of four.
CREATE TABLE envelopes (
    id TEXT COLLATE "C" PRIMARY KEY,
    sender TEXT COLLATE "C" NOT NULL,
    recipient TEXT COLLATE "C" NOT NULL,
    suite SMALLINT NOT NULL,
    signature BYTEA NOT NULL,
    -- Ciphertext does not compress, so PostgreSQL must not try.
    sealed BYTEA NOT NULL,
    payload_size_bytes BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    opened_at BIGINT,
    -- The context of the message. The sender signs it; it is not encrypted.
    thread TEXT COLLATE "C",
    reply_to TEXT COLLATE "C",
    message_type TEXT COLLATE "C",
    -- The trace context of the request that sent the message: trace id, parent id and flags. The requests to webhooks
    -- continue the trace.
    trace BYTEA
) PARTITION BY RANGE (id);
ALTER TABLE envelopes ALTER COLUMN sealed SET STORAGE EXTERNAL;
-- Finds the envelopes of a sender by time. The last six characters of an API key are 30 random bits: they suffice to
-- find a sender, and keep the index and its part of the write-ahead log small. Queries compare the whole key too.
CREATE INDEX ix_envelopes__sender__created_at ON envelopes (substr(sender, 24), created_at);
-- Costs nothing for envelopes without a thread.
CREATE INDEX ix_envelopes__sender__thread__created_at
    ON envelopes (substr(sender, 24), thread, created_at) WHERE thread IS NOT NULL;

-- Channels: the key material of many envelopes in the channel suite. An id contains the time of the first envelope, so
-- housekeeping needs only the primary key.
CREATE TABLE channels (
    id TEXT COLLATE "C" PRIMARY KEY,
    sender TEXT COLLATE "C" NOT NULL,
    recipient TEXT COLLATE "C" NOT NULL,
    sealing_version INTEGER NOT NULL,
    encapsulation BYTEA NOT NULL,
    signature BYTEA NOT NULL
);

-- Idempotency keys of sends, with the results for repeated requests. The row of a single send has no effect once its
-- envelope is deleted.
CREATE TABLE idempotency_keys (
    api_key_id TEXT COLLATE "C" NOT NULL,
    idempotency_key TEXT COLLATE "C" NOT NULL,
    fingerprint BYTEA NOT NULL,
    -- Empty for a batch of messages.
    envelope_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    -- The state in the response to a send, so that a repeated request gets the same state. NULL for a batch.
    state TEXT COLLATE "C",
    -- The results of a batch, as JSON.
    results TEXT,
    PRIMARY KEY (api_key_id, idempotency_key)
);
CREATE INDEX ix_idempotency_keys__created_at ON idempotency_keys (created_at);

-- Envelopes of recipients without a webhook for received envelopes. A row is deleted when the envelope is opened or
-- purged, and when its delivery to a new webhook is stored. Recipients with a webhook have no rows.
CREATE TABLE waiting_envelopes (
    envelope_id TEXT COLLATE "C" PRIMARY KEY,
    recipient TEXT COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX ix_waiting_envelopes__recipient__envelope_id
    ON waiting_envelopes (recipient, envelope_id) WHERE recipient IS NOT NULL;

-- Keys whose waiting envelopes must be processed: delivered to a new webhook, or bounced after a revocation.
--
-- A batch that read the key before the change may still store a waiting envelope. The horizon is the next transaction
-- id after the change. A row is deleted only after all transactions below its horizon have ended.
CREATE TABLE waiting_transfers (
    api_key_id TEXT COLLATE "C" PRIMARY KEY,
    horizon BIGINT
);

-- Keys whose first webhook skipped the waiting envelopes, with the id of the last skipped envelope.
CREATE TABLE waiting_skips (
    api_key_id TEXT COLLATE "C" PRIMARY KEY,
    until TEXT COLLATE "C" NOT NULL
);

-- Outcomes of envelopes that the queue alone does not show: a delivery succeeded while others of the envelope remained,
-- or the envelope bounced. One row for each envelope, so an envelope bounces at most once.
CREATE TABLE envelope_outcomes (
    envelope_id TEXT COLLATE "C" PRIMARY KEY,
    outcome TEXT NOT NULL CHECK (outcome IN ('announced', 'bounced')),
    at BIGINT NOT NULL
);

-- Webhooks and their deliveries

-- `status` is the service's decision, `paused` the owner's.
CREATE TABLE webhooks (
    id TEXT COLLATE "C" PRIMARY KEY,
    api_key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,
    url TEXT NOT NULL,
    events TEXT COLLATE "C" NOT NULL,
    description TEXT,
    secret BYTEA NOT NULL,
    -- Replaced secrets are a list in one value, because every batch of sends reads it. `retiring_until` is the end of
    -- the first of these secrets.
    retiring BYTEA,
    retiring_until BIGINT,
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('disabled', 'enabled')),
    disabled_reason TEXT COLLATE "C" CHECK (disabled_reason IN ('failing', 'gone')),
    paused BOOLEAN NOT NULL DEFAULT FALSE,
    created_at BIGINT NOT NULL,
    last_success_at BIGINT,
    last_failure_at BIGINT,
    -- The class of the newest failure, and its reason.
    last_failure TEXT COLLATE "C",
    last_failure_detail TEXT COLLATE "C",
    -- The time of the first failure after the last success, and the number of failed attempts since then.
    failing_since BIGINT,
    failed_attempts BIGINT NOT NULL DEFAULT 0,
    -- The time of the event `webhook.failing`; the next success clears it.
    failing_announced_at BIGINT
) WITH (fillfactor = 70);
CREATE INDEX ix_webhooks__api_key_id ON webhooks (api_key_id);
CREATE INDEX ix_webhooks__retiring_until ON webhooks (retiring_until)
    WHERE retiring_until IS NOT NULL;

-- Deleted webhooks with attempts that are not deleted yet.
CREATE TABLE deleted_webhooks (
    id TEXT COLLATE "C" PRIMARY KEY
);

-- Events with an id of their own. A received envelope is an event without a row here. The body is what webhooks get.
CREATE TABLE events (
    id TEXT COLLATE "C" PRIMARY KEY,
    kind TEXT NOT NULL,
    api_key_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    body TEXT NOT NULL
);

-- The queue of deliveries. A successful delivery deletes its row. Text columns follow the numbers, so that most rows
-- have no padding.
CREATE TABLE deliveries (
    -- The end of the lease if the row is leased. NULL after the last attempt.
    due_at BIGINT,
    -- -1 while the delivery waits for the connection of a relay.
    lease BIGINT,
    attempts INTEGER NOT NULL,
    webhook_id TEXT COLLATE "C" NOT NULL,
    -- The id of the event. Most events are received envelopes.
    envelope_id TEXT COLLATE "C" NOT NULL,
    last_failure TEXT COLLATE "C",
    failed_at BIGINT,
    -- Times of requests that arrived while the delivery was leased. After the lease, the delivery is due again if the
    -- attempt succeeded and `redeliver_at` is set, or if the attempt failed and `recover_at` is set. The next lease
    -- clears both.
    redeliver_at BIGINT,
    recover_at BIGINT,
    -- Time of the last request for an attempt, until an attempt fails. This attempt repeats the newest one: it does not
    -- increase `attempts`.
    requested_at BIGINT,
    PRIMARY KEY (envelope_id, webhook_id)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_analyze_scale_factor = 0.05
);
-- Most deliveries are stored with a lease, and are deleted after their first attempt. While an open snapshot keeps the
-- deleted rows, a claim must not read their index entries. Claims therefore search indexes that have only deliveries
-- without a lease. The ends of leases have an index of their own.
--
-- Claims search due times of all webhooks, and other statements search webhooks without a due time. So all these
-- indexes have the condition that is explained at the head of this file.
CREATE INDEX ix_deliveries__due_at ON deliveries (due_at) WHERE lease IS NULL AND due_at IS NOT NULL;
CREATE INDEX ix_deliveries__webhook_id__due_at__free ON deliveries (webhook_id, due_at)
    WHERE lease IS NULL AND due_at IS NOT NULL AND webhook_id IS NOT NULL;
CREATE INDEX ix_deliveries__lease_end ON deliveries (due_at) WHERE lease <> -1 AND due_at IS NOT NULL;
-- Deliveries that wait for a relay have indexes of their own, so other claims do not read them. A relay gets its events
-- in their order: after the prefix `env_` or `evt_`, an id begins with the time.
CREATE INDEX ix_deliveries__due_at__relay ON deliveries (due_at) WHERE lease = -1 AND due_at IS NOT NULL;
CREATE INDEX ix_deliveries__webhook_id__envelope_id__relay ON deliveries (webhook_id, substr(envelope_id, 5))
    WHERE lease = -1 AND webhook_id IS NOT NULL;
-- The first of these two indexes contains the waiting deliveries, the second the failed ones. Together they contain all
-- deliveries of a webhook. Nearly every delivery gets an entry in the first index. This entry contains only the end of
-- the webhook id, which is random, so the index and the write-ahead log stay small.
CREATE INDEX ix_deliveries__webhook_id__due_at ON deliveries (substr(webhook_id, 24), due_at)
    WHERE due_at IS NOT NULL AND substr(webhook_id, 24) IS NOT NULL;
CREATE INDEX ix_deliveries__webhook_id__failed_at ON deliveries (webhook_id, failed_at)
    WHERE failed_at IS NOT NULL;

-- The log of attempts. The key includes the time, because a key of a partitioned table must include the column of its
-- bounds.
CREATE TABLE attempts (
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    next_attempt_at BIGINT,
    attempt INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    status_code INTEGER,
    outcome TEXT COLLATE "C" NOT NULL CHECK (outcome IN ('exhausted', 'failed', 'succeeded')),
    error TEXT COLLATE "C",
    webhook_id TEXT COLLATE "C" NOT NULL,
    -- The id of the event.
    envelope_id TEXT COLLATE "C" NOT NULL,
    excerpt TEXT,
    PRIMARY KEY (number, at)
) PARTITION BY RANGE (at);
-- Numbers are never used twice. The daily counts include all attempts up to a number, so new attempts must have higher
-- numbers.
CREATE SEQUENCE attempt_numbers AS BIGINT OWNED BY attempts.number;
ALTER TABLE attempts ALTER COLUMN number SET DEFAULT nextval('attempt_numbers');
-- The log of a webhook lists its successes and its failures, newest first. The indexes contain only the end of the
-- webhook id, as in `deliveries`.
CREATE INDEX ix_attempts__webhook_id__number__succeeded ON attempts (substr(webhook_id, 24), number)
    WHERE outcome = 'succeeded' AND substr(webhook_id, 24) IS NOT NULL;
CREATE INDEX ix_attempts__webhook_id__outcome__number ON attempts (substr(webhook_id, 24), outcome, number)
    WHERE outcome <> 'succeeded' AND substr(webhook_id, 24) IS NOT NULL;
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
    node BIGINT PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
CREATE TABLE relay_connections (
    id BIGINT PRIMARY KEY,
    node BIGINT NOT NULL,
    api_key_id TEXT COLLATE "C" NOT NULL,
    webhook_id TEXT COLLATE "C" NOT NULL,
    token BYTEA NOT NULL,
    connected_at BIGINT NOT NULL,
    client_address TEXT,
    check_at BIGINT NOT NULL
);
CREATE INDEX ix_relay_connections__webhook_id ON relay_connections (webhook_id);
CREATE INDEX ix_relay_connections__api_key_id ON relay_connections (api_key_id);
CREATE INDEX ix_relay_connections__token ON relay_connections (token);
CREATE INDEX ix_relay_connections__node__check_at ON relay_connections (node, check_at);

-- Requests the processing of a key's waiting envelopes after a new webhook or the revocation of the key.
CREATE FUNCTION transfer_waiting_envelopes() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    changed TEXT;
BEGIN
    IF TG_TABLE_NAME = 'api_keys' THEN
        changed := NEW.id;
    ELSE
        changed := NEW.api_key_id;
    END IF;
    INSERT INTO waiting_transfers (api_key_id) VALUES (changed)
    ON CONFLICT (api_key_id) DO UPDATE SET horizon = NULL;
    RETURN NULL;
END
$$;
CREATE TRIGGER tr_webhooks__waiting
AFTER INSERT ON webhooks
FOR EACH ROW EXECUTE FUNCTION transfer_waiting_envelopes();
-- An update can make a webhook the first one of its key for received envelopes.
CREATE TRIGGER tr_webhooks__waiting_events
AFTER UPDATE ON webhooks
FOR EACH ROW WHEN (OLD.events IS DISTINCT FROM NEW.events)
EXECUTE FUNCTION transfer_waiting_envelopes();
-- Runs at the commit. Other transactions lock envelopes first, and then the rows of their recipients in
-- `waiting_transfers`. A revocation locks envelopes after it has set the status.
CREATE CONSTRAINT TRIGGER tr_api_keys__waiting
AFTER UPDATE OF status ON api_keys
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status = 'revoked' AND OLD.status <> 'revoked')
EXECUTE FUNCTION transfer_waiting_envelopes();

-- Partitions of `envelopes` by id and of `attempts` by time: retention drops partitions instead of deleting rows

-- Housekeeping maintains these rows in the transactions that create and drop partitions. A partition begins at the
-- upper bound of the partition before.
CREATE TABLE partitions (
    name TEXT COLLATE "C" PRIMARY KEY,
    parent TEXT COLLATE "C" NOT NULL,
    -- In milliseconds. NULL for the newest partition, which has no upper bound.
    upper_bound BIGINT,
    -- Whether retention drops the partition. Rows of other partitions are deleted one by one.
    is_dropped_whole BOOLEAN NOT NULL,
    -- The last envelope whose bytes were subtracted from the stored bytes of its sender.
    released_to TEXT COLLATE "C" NOT NULL DEFAULT '',
    UNIQUE (parent, upper_bound)
);

-- The first partitions are for times before this migration. They get rows only if a clock is wrong, or if rows of
-- another database are copied.
CREATE TABLE envelopes_first (LIKE envelopes INCLUDING ALL);
CREATE TABLE attempts_first (LIKE attempts INCLUDING ALL) WITH (autovacuum_vacuum_scale_factor = 0.05);
-- The rows of a partition are dropped with it, so an autovacuum would be wasted work.
CREATE TABLE envelopes_newest (LIKE envelopes INCLUDING ALL) WITH (autovacuum_enabled = false);
CREATE TABLE attempts_newest (LIKE attempts INCLUDING ALL) WITH (autovacuum_enabled = false);
DO $$
DECLARE
    bound BIGINT := (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT;
    -- An id begins with the milliseconds of its time, in ten characters of Crockford base32.
    first_id TEXT := (
        SELECT 'env_' || string_agg(
            substr('0123456789abcdefghjkmnpqrstvwxyz', (bound >> (5 * place) & 31)::INTEGER + 1, 1),
            '' ORDER BY place DESC
        )
        FROM generate_series(0, 9) AS place
    );
BEGIN
    EXECUTE format(
        'ALTER TABLE envelopes ATTACH PARTITION envelopes_first FOR VALUES FROM (MINVALUE) TO (%1$L);
         ALTER TABLE envelopes ATTACH PARTITION envelopes_newest FOR VALUES FROM (%1$L) TO (MAXVALUE);
         ALTER TABLE attempts ATTACH PARTITION attempts_first FOR VALUES FROM (MINVALUE) TO (%2$s);
         ALTER TABLE attempts ATTACH PARTITION attempts_newest FOR VALUES FROM (%2$s) TO (MAXVALUE)',
        first_id, bound
    );
    INSERT INTO partitions (name, parent, upper_bound, is_dropped_whole) VALUES
        ('envelopes_first', 'envelopes', bound, false),
        ('envelopes_newest', 'envelopes', NULL, false),
        ('attempts_first', 'attempts', bound, false),
        ('attempts_newest', 'attempts', NULL, false);
END
$$;

-- Operators

-- Decisions of operators. `by` names the operators that changed the status.
CREATE TABLE governance (
    id TEXT COLLATE "C" PRIMARY KEY,
    subject TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('council_action', 'partner_suspension')),
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('enforced', 'lifted', 'proposed')),
    reason TEXT NOT NULL,
    since BIGINT NOT NULL,
    by TEXT NOT NULL
);
CREATE INDEX ix_governance__subject ON governance (subject);
-- Every batch of sends reads the decisions that are not lifted.
CREATE INDEX ix_governance__subject__open ON governance (subject) WHERE status <> 'lifted';

CREATE TABLE audit_entries (
    number BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL,
    previous BYTEA NOT NULL,
    hash BYTEA NOT NULL
);

-- The audit trail has no gaps, and accepts only new rows.
CREATE FUNCTION refuse_to_change_audit_entries() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is only ever added to' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER tr_audit_entries__append_only
BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries FOR EACH STATEMENT
EXECUTE FUNCTION refuse_to_change_audit_entries();

CREATE FUNCTION require_next_audit_number() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM audit_entries) THEN
        RAISE EXCEPTION 'the audit trail has no gaps' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER tr_audit_entries__no_gaps
BEFORE INSERT ON audit_entries FOR EACH ROW
EXECUTE FUNCTION require_next_audit_number();

-- Assessments of keys, and their badges

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
CREATE INDEX ix_assessments__api_key_id__at ON assessments (api_key_id, at, id) WHERE api_key_id IS NOT NULL;

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
CREATE INDEX ix_attestations__api_key_id__name__at ON attestations (api_key_id, name, at, id)
    WHERE api_key_id IS NOT NULL;

-- Assessments and attestations accept only new rows.
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
    revocation_reason TEXT,
    -- Authenticates the other columns. A revocation removes the tag, and a badge without its tag counts as revoked.
    tag BYTEA
);
CREATE INDEX ix_badges__api_key_id ON badges (api_key_id, expires_at);
CREATE INDEX ix_badges__position__revoked ON badges (position)
    WHERE revoked_at IS NOT NULL OR tag IS NULL;

-- The service's own keys. Keys that were used for signatures are never deleted.
CREATE TABLE issuer_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    public_key BYTEA NOT NULL,
    secret BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    signs_from BIGINT NOT NULL
);

-- The transparency log

-- The statements of the log: identities of keys, statuses of badges, hashes of audit entries, and hashes of envelopes.
-- Triggers insert a row in the transaction of the change. The node that appends its entry to the log adds number, time
-- and salt. An entry contains only a hash of salt and text. Erasure of an account deletes the rows of its keys, so that
-- the log entries can no longer be linked to the keys.
CREATE TABLE log_statements (
    id BIGINT PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('audit', 'badge', 'envelopes', 'key')),
    -- The key, the badge, or the number of the audit entry. Empty for envelopes.
    subject TEXT COLLATE "C" NOT NULL,
    -- The key that the statement is about. NULL for the audit trail and for envelopes.
    api_key_id TEXT COLLATE "C",
    text TEXT NOT NULL,
    number BIGINT,
    at BIGINT,
    salt BYTEA,
    -- The hashes of the envelopes of a batch, 32 bytes each. The entry has the root of their tree.
    leaves BYTEA
);
CREATE SEQUENCE log_statement_ids AS BIGINT OWNED BY log_statements.id;
ALTER TABLE log_statements ALTER COLUMN id SET DEFAULT nextval('log_statement_ids');
CREATE INDEX ix_log_statements__pending ON log_statements (id) WHERE number IS NULL;
-- Excludes NULL, so that a search for pending statements cannot use this index. That search would read an index entry
-- for each statement that was ever pending.
CREATE UNIQUE INDEX ix_log_statements__number ON log_statements (number) WHERE number IS NOT NULL;
CREATE INDEX ix_log_statements__subject ON log_statements (kind, subject, id) WHERE kind IS NOT NULL;
CREATE INDEX ix_log_statements__at__envelopes ON log_statements (at) WHERE kind = 'envelopes';
CREATE INDEX ix_log_statements__api_key_id ON log_statements (api_key_id) WHERE api_key_id IS NOT NULL;

CREATE TABLE log_entries (
    number BIGINT PRIMARY KEY,
    entry BYTEA NOT NULL
);

-- The hashes of the tree, up to 256 in a row. The newest row of each level grows.
CREATE TABLE log_tiles (
    level INTEGER NOT NULL,
    tile BIGINT NOT NULL,
    hashes BYTEA NOT NULL,
    PRIMARY KEY (level, tile)
);

-- One row: the state of the log. Its signing key is derived from an issuer key.
CREATE TABLE log_heads (
    origin TEXT COLLATE "C" PRIMARY KEY,
    issuer_key_id TEXT COLLATE "C" NOT NULL,
    size BIGINT NOT NULL,
    checkpoint TEXT NOT NULL,
    -- The newest checkpoint with cosignatures of witnesses. It can be older than `checkpoint`.
    witnessed TEXT
);

CREATE FUNCTION state_key() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO log_statements (kind, subject, api_key_id, text) VALUES (
        'key', NEW.id, NEW.id,
        format(E'key %s\ndid %s\nsealing_version %s\nstatus %s\n', NEW.id, NEW.did, NEW.sealing_version, NEW.status)
    );
    RETURN NULL;
END
$$;
CREATE TRIGGER tr_api_keys__log_new
AFTER INSERT ON api_keys FOR EACH ROW EXECUTE FUNCTION state_key();
CREATE TRIGGER tr_api_keys__log
AFTER UPDATE ON api_keys FOR EACH ROW
WHEN ((OLD.did, OLD.sealing_version, OLD.status) IS DISTINCT FROM (NEW.did, NEW.sealing_version, NEW.status))
EXECUTE FUNCTION state_key();

CREATE FUNCTION state_badge() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO log_statements (kind, subject, api_key_id, text) VALUES (
        'badge', NEW.id, NEW.api_key_id,
        format(
            E'badge %s\nkey %s\nexpires_at %s\nstatus %s\n', NEW.id, NEW.api_key_id, NEW.expires_at,
            CASE WHEN NEW.revoked_at IS NULL THEN 'valid' ELSE 'revoked' END
        )
    );
    RETURN NULL;
END
$$;
CREATE TRIGGER tr_badges__log_new
AFTER INSERT ON badges FOR EACH ROW EXECUTE FUNCTION state_badge();
CREATE TRIGGER tr_badges__log
AFTER UPDATE ON badges FOR EACH ROW
WHEN (
    (OLD.api_key_id, OLD.expires_at, OLD.revoked_at IS NULL)
    IS DISTINCT FROM (NEW.api_key_id, NEW.expires_at, NEW.revoked_at IS NULL)
)
EXECUTE FUNCTION state_badge();

CREATE FUNCTION state_audit_entry() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO log_statements (kind, subject, text) VALUES (
        'audit', NEW.number, format(E'entry %s\nhash %s\n', NEW.number, encode(NEW.hash, 'hex'))
    );
    RETURN NULL;
END
$$;
CREATE TRIGGER tr_audit_entries__log
AFTER INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION state_audit_entry();

-- Servers and housekeeping

-- The later migrations that are additive: servers that lack one of them still work with the database. Each additive
-- migration inserts its version here.
CREATE TABLE additive_migrations (
    version TEXT COLLATE "C" PRIMARY KEY
);

-- The versions of the key-encryption keys. `mark` is a known text, encrypted under the key of the version. If it does
-- not decrypt at the start, the key is wrong. A retired version encrypts no other row, so key files need not contain
-- it.
CREATE TABLE kek_marks (
    version BIGINT PRIMARY KEY,
    mark BYTEA NOT NULL,
    retired_at BIGINT
);

-- Key-encryption keys that a key provider has wrapped (encrypted). Empty if the keys are in key files. During a move to
-- another provider, each version has one row for the old and one for the new provider.
CREATE TABLE kek_versions (
    version BIGINT NOT NULL,
    provider TEXT COLLATE "C" NOT NULL,
    wrapped BYTEA NOT NULL,
    PRIMARY KEY (version, provider)
);

-- A random id of this database. A copy or a restored backup has the same id.
CREATE TABLE database_identity (
    id TEXT COLLATE "C" PRIMARY KEY
);
INSERT INTO database_identity (id) VALUES (replace(gen_random_uuid()::TEXT, '-', ''));

-- The newest mark of each revocation journal, a file outside the database. The mark is a number that each journaled
-- transaction raises, in this table and in the file. A lower mark than in the file means that the database was restored
-- from a backup.
CREATE TABLE journal_marks (
    journal TEXT COLLATE "C" PRIMARY KEY,
    mark BIGINT NOT NULL
);

-- The servers that use this database. Each one renews its row about once a minute. `base_url` is the public URL in the
-- settings of the server, so that servers with different URLs are found.
CREATE TABLE nodes (
    id BIGINT PRIMARY KEY,
    host TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    base_url TEXT COLLATE "C" NOT NULL
);

-- The node that runs a housekeeping task, and the end of its lease.
CREATE TABLE housekeeping_tasks (
    name TEXT COLLATE "C" PRIMARY KEY,
    node BIGINT NOT NULL,
    until BIGINT NOT NULL
);

-- Always empty. A probe, which checks that commits reach the disk, inserts a row and deletes it in one transaction. A
-- publication for all tables refuses to delete rows of a table without a replica identity. A primary key would make the
-- probes of several nodes wait for each other, because each probe inserts the same row.
CREATE TABLE write_probes (id BIGINT NOT NULL);
ALTER TABLE write_probes REPLICA IDENTITY FULL;

-- Numbers of sent and received envelopes and of delivered events, for each key and day. Housekeeping counts them.
-- `daily_count_progress` stores the last counted row of each table.
CREATE TABLE daily_counts (
    api_key_id TEXT COLLATE "C" NOT NULL,
    day BIGINT NOT NULL,
    sent BIGINT NOT NULL,
    received BIGINT NOT NULL,
    delivered BIGINT NOT NULL,
    PRIMARY KEY (api_key_id, day)
) WITH (fillfactor = 70);
CREATE INDEX ix_daily_counts__day ON daily_counts (day);
CREATE TABLE daily_count_progress (
    source TEXT COLLATE "C" PRIMARY KEY,
    last_counted TEXT COLLATE "C" NOT NULL
);

-- Facts of sends: the data of a key that a node caches, and reads again after a change

-- The version of everything that a node caches about a key: the key, its handle, its webhooks and its policy. A key
-- without a row has version 0. Versions are random, so two states never share a version, even after a crash or a
-- restored backup.
CREATE TABLE facts_versions (
    api_key_id TEXT COLLATE "C" PRIMARY KEY,
    version BIGINT NOT NULL
);

CREATE FUNCTION change_facts_version() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    changed TEXT[];
BEGIN
    IF TG_TABLE_NAME = 'api_keys' THEN
        changed := ARRAY[OLD.id];
    ELSIF TG_OP = 'INSERT' THEN
        changed := ARRAY[NEW.api_key_id];
    ELSIF TG_OP = 'DELETE' THEN
        changed := ARRAY[OLD.api_key_id];
    ELSE
        changed := ARRAY[OLD.api_key_id, NEW.api_key_id];
    END IF;
    INSERT INTO facts_versions AS v (api_key_id, version)
    SELECT c.id, hashtextextended(gen_random_uuid()::TEXT, 0)
    FROM (SELECT DISTINCT unnest(changed) AS id) AS c ORDER BY c.id
    ON CONFLICT (api_key_id) DO UPDATE SET version = excluded.version;
    UPDATE relay_connections SET check_at = 0 WHERE api_key_id = ANY (changed);
    RETURN NULL;
END
$$;

-- These triggers run at the commit. The transaction locks the versions after all its other rows, so waiting for a
-- version cannot deadlock. The triggers run in the order of the changes, so a transaction that changes rows of several
-- keys changes them in the order of keys. An exception is the re-encryption of secrets, which is repeated after a
-- deadlock. Batches read versions without a lock.
CREATE CONSTRAINT TRIGGER tr_api_keys__facts
AFTER UPDATE ON api_keys
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (
    (
        OLD.account_id, OLD.status, OLD.plan, OLD.enterprise_per_minute, OLD.enterprise_per_day,
        OLD.enterprise_per_month, OLD.enterprise_per_second, OLD.enterprise_allow_overage,
        OLD.sealing_version
    ) IS DISTINCT FROM (
        NEW.account_id, NEW.status, NEW.plan, NEW.enterprise_per_minute, NEW.enterprise_per_day,
        NEW.enterprise_per_month, NEW.enterprise_per_second, NEW.enterprise_allow_overage,
        NEW.sealing_version
    )
)
EXECUTE FUNCTION change_facts_version();

CREATE CONSTRAINT TRIGGER tr_api_keys__facts_gone
AFTER DELETE ON api_keys
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION change_facts_version();

CREATE CONSTRAINT TRIGGER tr_handles__facts
AFTER INSERT OR UPDATE OR DELETE ON handles
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION change_facts_version();

CREATE CONSTRAINT TRIGGER tr_policies__facts
AFTER INSERT OR UPDATE OR DELETE ON policies
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION change_facts_version();

CREATE CONSTRAINT TRIGGER tr_webhooks__facts
AFTER INSERT OR DELETE ON webhooks
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION change_facts_version();

-- Times of successes and failures do not change the version, because sends do not depend on them.
CREATE CONSTRAINT TRIGGER tr_webhooks__facts_changed
AFTER UPDATE ON webhooks
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (
    (OLD.api_key_id, OLD.url, OLD.events, OLD.secret, OLD.retiring, OLD.status, OLD.paused)
    IS DISTINCT FROM
    (NEW.api_key_id, NEW.url, NEW.events, NEW.secret, NEW.retiring, NEW.status, NEW.paused)
)
EXECUTE FUNCTION change_facts_version();

CREATE FUNCTION check_relays_of_token() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    UPDATE relay_connections SET check_at = 0 WHERE token = OLD.token;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER tr_sessions__relays
AFTER DELETE OR UPDATE OF token, account_id, expires_at ON sessions
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_relays_of_token();
CREATE CONSTRAINT TRIGGER tr_api_tokens__relays
AFTER DELETE OR UPDATE OF token, account_id, expires_at ON api_tokens
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_relays_of_token();

CREATE TYPE fact_usage AS (
    api_key_id TEXT,
    minute_start BIGINT,
    minute_used BIGINT,
    day_start BIGINT,
    day_used BIGINT,
    month_start BIGINT,
    month_used BIGINT,
    throughput_tat_us BIGINT
);
-- `address` is the physical address (ctid) of the usage row. An update finds the row by its address, without an index.
CREATE TYPE fact_locked_usage AS (used fact_usage, address TID);
CREATE TYPE fact_version AS (api_key_id TEXT, version BIGINT);
-- A session or an API token.
CREATE TYPE fact_session AS (token BYTEA, account_id TEXT, expires_at BIGINT);
CREATE TYPE fact_decision AS (api_key_id TEXT, kind TEXT, status TEXT, reason TEXT, since BIGINT);

-- In one round trip, locks the usage of the callers in the order of ids, then reads the versions of keys, sessions and
-- open decisions. The usage row is the lock of its key: a transaction that changes a key locks the usage row first.
-- Each statement after the lock has a new snapshot, which includes every change that the lock waited for.
--
-- PostgreSQL ends a stalled transaction after two seconds, because sends of the same keys wait on every node.
--
-- A subquery reads the partner: a join planned while accounts are few would read all accounts.
CREATE FUNCTION lock_facts(
    callers TEXT[],
    keys TEXT[],
    tokens BYTEA[],
    OUT locked_usage fact_locked_usage[],
    OUT versions fact_version[],
    OUT found_sessions fact_session[],
    OUT open_decisions fact_decision[]
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    is_governed BOOLEAN;
BEGIN
    PERFORM set_config('idle_in_transaction_session_timeout', '2000', true);
    locked_usage := ARRAY(
        SELECT ROW(
            ROW(u.api_key_id, u.minute_start, u.minute_used, u.day_start, u.day_used,
                u.month_start, u.month_used, u.throughput_tat_us)::fact_usage,
            u.address
        )::fact_locked_usage
        FROM (SELECT DISTINCT key COLLATE "C" AS id FROM unnest(callers) AS key ORDER BY id) AS k
        CROSS JOIN LATERAL (
            SELECT u.*, u.ctid AS address FROM usage AS u WHERE u.api_key_id = k.id
            ORDER BY u.generation DESC LIMIT 1 FOR NO KEY UPDATE
        ) AS u
    );
    SELECT
        ARRAY(
            SELECT ROW(v.api_key_id, v.version)::fact_version
            FROM facts_versions AS v WHERE v.api_key_id = ANY (keys)
        ),
        ARRAY(
            SELECT ROW(s.token, s.account_id, s.expires_at)::fact_session
            FROM sessions AS s WHERE s.token = ANY (tokens)
            UNION ALL
            SELECT ROW(t.token, t.account_id, t.expires_at)::fact_session
            FROM api_tokens AS t WHERE t.token = ANY (tokens)
        ),
        EXISTS (SELECT FROM governance AS g WHERE g.status <> 'lifted')
    INTO versions, found_sessions, is_governed;
    IF NOT is_governed THEN
        open_decisions := ARRAY[]::fact_decision[];
        RETURN;
    END IF;
    open_decisions := ARRAY(
        SELECT ROW(k.id, g.kind, g.status, g.reason, g.since)::fact_decision
        FROM (
            SELECT k.id, k.account_id, (
                SELECT a.partner_id FROM accounts AS a WHERE a.id = k.account_id
            ) AS partner_id
            FROM api_keys AS k WHERE k.id = ANY (keys)
        ) AS k
        CROSS JOIN LATERAL (
            SELECT * FROM governance AS g
            WHERE g.status <> 'lifted'
                AND g.subject = ANY (ARRAY[k.id, k.account_id, k.partner_id])
            OFFSET 0
        ) AS g
        ORDER BY k.id, g.subject <> k.id, g.subject <> k.account_id, g.since, g.id
    );
END
$$;
