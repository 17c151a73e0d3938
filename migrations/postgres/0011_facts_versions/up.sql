-- Replaces the single version of all facts with a version for each key, and removes the lock that all sends shared. A
-- change of one key no longer delays the sends of other keys.

DROP TRIGGER tr_webhooks__facts_truncated ON webhooks;
DROP TRIGGER tr_governance__facts_truncated ON governance;
DROP TRIGGER tr_sessions__facts_truncated ON sessions;
DROP TRIGGER tr_handles__facts_truncated ON handles;
DROP TRIGGER tr_api_keys__facts_truncated ON api_keys;
DROP TRIGGER tr_accounts__facts_truncated ON accounts;
DROP TRIGGER tr_webhooks__facts_changed ON webhooks;
DROP TRIGGER tr_webhooks__facts ON webhooks;
DROP TRIGGER tr_governance__facts ON governance;
DROP TRIGGER tr_sessions__facts ON sessions;
DROP TRIGGER tr_handles__facts ON handles;
DROP TRIGGER tr_api_keys__facts_gone ON api_keys;
DROP TRIGGER tr_accounts__facts_gone ON accounts;
DROP TRIGGER tr_api_keys__facts ON api_keys;
DROP TRIGGER tr_accounts__facts ON accounts;
DROP FUNCTION change_facts_stamp();
DROP TABLE facts_stamp;

-- Nodes of the previous version keep serving until they are replaced. This function returns another stamp for each batch,
-- so these nodes cache no facts. Drop the function in a later migration.
CREATE OR REPLACE FUNCTION lock_usage_and_facts(callers TEXT[]) RETURNS TABLE (
    stamp TEXT,
    api_key_id TEXT,
    minute_start BIGINT,
    minute_used BIGINT,
    day_start BIGINT,
    day_used BIGINT,
    month_start BIGINT,
    month_used BIGINT,
    throughput_tat_us BIGINT
) LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('idle_in_transaction_session_timeout', '2000', true);
    RETURN QUERY
        SELECT ''::TEXT, u.api_key_id, u.minute_start, u.minute_used, u.day_start, u.day_used,
            u.month_start, u.month_used, u.throughput_tat_us
        FROM usage AS u WHERE u.api_key_id = ANY (callers) ORDER BY u.api_key_id
        FOR NO KEY UPDATE;
    RETURN QUERY
        SELECT gen_random_uuid()::TEXT, ''::TEXT, 0::BIGINT, 0::BIGINT, 0::BIGINT, 0::BIGINT,
            0::BIGINT, 0::BIGINT, 0::BIGINT;
END
$$;

-- The version of everything that a node caches about a key: the key, its handle and its webhooks. A key without a row has
-- version 0. A random version prevents that two states share one, even after a crash or a restored backup.
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
    RETURN NULL;
END
$$;

-- Deferred to the commit, after every other lock, so that waiting for a version cannot deadlock. Batches read versions
-- without a lock.
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

CREATE CONSTRAINT TRIGGER tr_webhooks__facts
AFTER INSERT OR DELETE ON webhooks
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION change_facts_version();

-- The health of an enabled webhook is not a fact.
CREATE CONSTRAINT TRIGGER tr_webhooks__facts_changed
AFTER UPDATE ON webhooks
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (
    (OLD.api_key_id, OLD.url, OLD.secret, OLD.retiring, OLD.status)
    IS DISTINCT FROM (NEW.api_key_id, NEW.url, NEW.secret, NEW.retiring, NEW.status)
)
EXECUTE FUNCTION change_facts_version();

-- Every batch checks for open decisions.
CREATE INDEX ix_governance__subject__open ON governance (subject) WHERE status <> 'lifted';

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
CREATE TYPE fact_version AS (api_key_id TEXT, version BIGINT);
CREATE TYPE fact_session AS (token BYTEA, account_id TEXT, expires_at BIGINT);
CREATE TYPE fact_decision AS (api_key_id TEXT, kind TEXT, status TEXT, reason TEXT, since BIGINT);

-- In one round trip, locks the usage of the callers in the order of ids, then reads the versions of keys, sessions and
-- open decisions. The usage row is the lock of its key: a transaction that changes a key locks the usage row first. Each
-- statement after the lock has a new snapshot, which includes every change that the lock waited for.
--
-- PostgreSQL ends a stalled transaction after two seconds, because sends of the same keys wait on every node.
--
-- A subquery reads the partner: a join planned while accounts are few would read all accounts.
CREATE FUNCTION lock_facts(
    callers TEXT[],
    keys TEXT[],
    tokens BYTEA[],
    OUT locked_usage fact_usage[],
    OUT versions fact_version[],
    OUT found_sessions fact_session[],
    OUT open_decisions fact_decision[]
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    is_governed BOOLEAN;
BEGIN
    PERFORM set_config('idle_in_transaction_session_timeout', '2000', true);
    locked_usage := ARRAY(
        SELECT ROW(u.api_key_id, u.minute_start, u.minute_used, u.day_start, u.day_used,
            u.month_start, u.month_used, u.throughput_tat_us)::fact_usage
        FROM usage AS u WHERE u.api_key_id = ANY (callers)
        ORDER BY u.api_key_id FOR NO KEY UPDATE
    );
    SELECT
        ARRAY(
            SELECT ROW(v.api_key_id, v.version)::fact_version
            FROM facts_versions AS v WHERE v.api_key_id = ANY (keys)
        ),
        ARRAY(
            SELECT ROW(s.token, s.account_id, s.expires_at)::fact_session
            FROM sessions AS s WHERE s.token = ANY (tokens)
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
