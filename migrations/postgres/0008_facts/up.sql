-- The facts of sends change rarely, and are read by every batch. The stamp is their version. Each change replaces it by a
-- random stamp, so that no two states share one, even after a crash or a restored backup.

CREATE TABLE facts_stamp (
    id INTEGER PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    stamp TEXT COLLATE "C" NOT NULL
);
INSERT INTO facts_stamp (stamp) VALUES (gen_random_uuid());

-- Batches share an advisory lock while they rely on the stamp. A change takes the lock exclusively at its commit. It waits
-- for batches with the old stamp, and later batches read the new one. Waiters of an advisory lock keep their order. The
-- lock comes after all other locks, so there is no deadlock, and batches wait only for the commit. The number is `facts`
-- in ASCII.

-- Takes the locks of a batch in one round trip. Usage comes first, because a transaction that changes a fact may hold
-- usage already. Each statement has a new snapshot, so the stamp is current while the lock is held. The last row has the
-- stamp and no key. PostgreSQL ends a stalled transaction after two seconds, because other nodes wait.
CREATE FUNCTION lock_usage_and_facts(callers TEXT[]) RETURNS TABLE (
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
DECLARE
    held TEXT;
BEGIN
    PERFORM set_config('idle_in_transaction_session_timeout', '2000', true);
    RETURN QUERY
        SELECT ''::TEXT, u.api_key_id, u.minute_start, u.minute_used, u.day_start, u.day_used,
            u.month_start, u.month_used, u.throughput_tat_us
        FROM usage AS u WHERE u.api_key_id = ANY (callers) ORDER BY u.api_key_id
        FOR NO KEY UPDATE;
    PERFORM pg_advisory_xact_lock_shared(439720572019);
    SELECT f.stamp INTO STRICT held FROM facts_stamp AS f;
    RETURN QUERY
        SELECT held, ''::TEXT, 0::BIGINT, 0::BIGINT, 0::BIGINT, 0::BIGINT, 0::BIGINT, 0::BIGINT,
            0::BIGINT;
END
$$;

CREATE FUNCTION change_facts_stamp() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    -- Once in a transaction is enough.
    IF current_setting('sealpost.facts_changed', true) = 'yes' THEN
        RETURN NULL;
    END IF;
    PERFORM set_config('sealpost.facts_changed', 'yes', true);
    -- All batches wait behind this lock, so the wait ends before theirs.
    PERFORM set_config('lock_timeout', '1000', true);
    PERFORM pg_advisory_xact_lock(439720572019);
    UPDATE facts_stamp SET stamp = gen_random_uuid();
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the stamp of the facts is missing' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END
$$;

-- New keys, handles and sessions change no fact. New webhooks and decisions change the facts of an existing key. After
-- changes without triggers, such as those of a replication role, replace the stamp by hand.
CREATE CONSTRAINT TRIGGER tr_accounts__facts
AFTER UPDATE OF partner_id ON accounts
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION change_facts_stamp();

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
EXECUTE FUNCTION change_facts_stamp();

CREATE CONSTRAINT TRIGGER tr_accounts__facts_gone
AFTER DELETE ON accounts
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION change_facts_stamp();

CREATE CONSTRAINT TRIGGER tr_api_keys__facts_gone
AFTER DELETE ON api_keys
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION change_facts_stamp();

CREATE CONSTRAINT TRIGGER tr_handles__facts
AFTER UPDATE OR DELETE ON handles
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION change_facts_stamp();

CREATE CONSTRAINT TRIGGER tr_sessions__facts
AFTER UPDATE OR DELETE ON sessions
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION change_facts_stamp();

CREATE CONSTRAINT TRIGGER tr_governance__facts
AFTER INSERT OR UPDATE OR DELETE ON governance
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION change_facts_stamp();

CREATE CONSTRAINT TRIGGER tr_webhooks__facts
AFTER INSERT OR DELETE ON webhooks
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION change_facts_stamp();

-- The health of an enabled webhook is not a fact.
CREATE CONSTRAINT TRIGGER tr_webhooks__facts_changed
AFTER UPDATE ON webhooks
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (
    (OLD.api_key_id, OLD.url, OLD.secret, OLD.retiring, OLD.status)
    IS DISTINCT FROM (NEW.api_key_id, NEW.url, NEW.secret, NEW.retiring, NEW.status)
)
EXECUTE FUNCTION change_facts_stamp();

CREATE TRIGGER tr_accounts__facts_truncated
AFTER TRUNCATE ON accounts FOR EACH STATEMENT EXECUTE FUNCTION change_facts_stamp();
CREATE TRIGGER tr_api_keys__facts_truncated
AFTER TRUNCATE ON api_keys FOR EACH STATEMENT EXECUTE FUNCTION change_facts_stamp();
CREATE TRIGGER tr_handles__facts_truncated
AFTER TRUNCATE ON handles FOR EACH STATEMENT EXECUTE FUNCTION change_facts_stamp();
CREATE TRIGGER tr_sessions__facts_truncated
AFTER TRUNCATE ON sessions FOR EACH STATEMENT EXECUTE FUNCTION change_facts_stamp();
CREATE TRIGGER tr_governance__facts_truncated
AFTER TRUNCATE ON governance FOR EACH STATEMENT EXECUTE FUNCTION change_facts_stamp();
CREATE TRIGGER tr_webhooks__facts_truncated
AFTER TRUNCATE ON webhooks FOR EACH STATEMENT EXECUTE FUNCTION change_facts_stamp();
