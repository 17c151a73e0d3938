-- Each batch updates the usage rows of its senders. An open snapshot (a dump, a report, a replica with
-- hot_standby_feedback) keeps all old row versions. With an index on the key alone, a look-up would read every one of
-- them. The index therefore ends with a generation, which grows with every 16th update: a look-up from the highest
-- generation down reads at most 16 versions.
ALTER TABLE usage ADD COLUMN updates BIGINT NOT NULL DEFAULT 0, ADD COLUMN generation BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage DROP CONSTRAINT usage_pkey, ADD PRIMARY KEY (api_key_id, generation);

-- For the same reason. Each batch of a key above its allowance updates the row of the month.
ALTER TABLE overages ADD COLUMN updates BIGINT NOT NULL DEFAULT 0, ADD COLUMN generation BIGINT NOT NULL DEFAULT 0;
ALTER TABLE overages DROP CONSTRAINT overages_pkey, ADD PRIMARY KEY (api_key_id, month, generation);

-- Each key has one row. The view finds it from the highest generation down.
CREATE VIEW current_usage AS
    SELECT k.id AS api_key_id, u.minute_start, u.minute_used, u.day_start, u.day_used, u.month_start, u.month_used,
        u.throughput_tat_us, u.stored_bytes
    FROM api_keys AS k CROSS JOIN LATERAL (
        SELECT * FROM usage AS u WHERE u.api_key_id = k.id ORDER BY u.generation DESC LIMIT 1
    ) AS u;

-- Locks the usage rows of these keys in the order of ids, and returns the ids.
CREATE FUNCTION lock_usage(keys TEXT[]) RETURNS SETOF TEXT LANGUAGE sql VOLATILE ROWS 16 AS $$
    SELECT u.api_key_id FROM (
        SELECT DISTINCT key COLLATE "C" AS id FROM unnest(keys) AS key ORDER BY id
    ) AS k CROSS JOIN LATERAL (
        SELECT u.api_key_id FROM usage AS u WHERE u.api_key_id = k.id
        ORDER BY u.generation DESC LIMIT 1 FOR NO KEY UPDATE
    ) AS u
$$;

CREATE OR REPLACE FUNCTION lock_facts(
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
        FROM (SELECT DISTINCT key COLLATE "C" AS id FROM unnest(callers) AS key ORDER BY id) AS k
        CROSS JOIN LATERAL (
            SELECT * FROM usage AS u WHERE u.api_key_id = k.id
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
