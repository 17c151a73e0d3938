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
DROP FUNCTION lock_usage(TEXT[]);
DROP VIEW current_usage;
ALTER TABLE overages DROP CONSTRAINT overages_pkey, ADD PRIMARY KEY (api_key_id, month);
ALTER TABLE overages DROP COLUMN generation, DROP COLUMN updates;
ALTER TABLE usage DROP CONSTRAINT usage_pkey, ADD PRIMARY KEY (api_key_id);
ALTER TABLE usage DROP COLUMN generation, DROP COLUMN updates;
