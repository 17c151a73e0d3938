//! The tables as diesel sees them, in types that both databases have: ids are text, times are milliseconds.

diesel::table! {
    accounts (id) {
        id -> Text,
        login_secret -> Binary,
        recovery_code -> Nullable<Binary>,
        partner_id -> Nullable<Text>,
        created_at -> BigInt,
        closed_at -> Nullable<BigInt>,
        erased_at -> Nullable<BigInt>,
        /// `close` or `erase` while the account is being closed; null before and after.
        closing -> Nullable<Text>,
        tag -> Nullable<Binary>,
    }
}

diesel::table! {
    activity (id) {
        id -> Text,
        account_id -> Text,
        at -> BigInt,
        kind -> Text,
        actor -> Text,
        client_address -> Nullable<Text>,
        detail -> Nullable<Text>,
    }
}

diesel::table! {
    erased_handles (hash) {
        hash -> Binary,
    }
}

diesel::table! {
    sessions (token) {
        token -> Binary,
        account_id -> Text,
        expires_at -> BigInt,
        started_at -> BigInt,
        last_used_at -> Nullable<BigInt>,
        client_address -> Nullable<Text>,
        user_agent -> Nullable<Text>,
        tag -> Nullable<Binary>,
        /// Time at which the client last entered the login secret again.
        confirmed_at -> Nullable<BigInt>,
        confirmation_tag -> Nullable<Binary>,
    }
}

diesel::table! {
    api_tokens (id) {
        id -> Text,
        token -> Binary,
        account_id -> Text,
        api_key_id -> Text,
        name -> Text,
        scopes -> Text,
        created_at -> BigInt,
        expires_at -> BigInt,
        last_used_at -> Nullable<BigInt>,
        tag -> Nullable<Binary>,
    }
}

diesel::table! {
    api_keys (id) {
        id -> Text,
        account_id -> Text,
        label -> Text,
        handle -> Nullable<Text>,
        did -> Text,
        status -> Text,
        plan -> Text,
        enterprise_per_minute -> Nullable<BigInt>,
        enterprise_per_day -> Nullable<BigInt>,
        enterprise_per_month -> Nullable<BigInt>,
        enterprise_per_second -> Nullable<BigInt>,
        enterprise_allow_overage -> Nullable<Bool>,
        root -> Nullable<Binary>,
        sealing_version -> Integer,
        created_at -> BigInt,
    }
}

diesel::table! {
    handles (handle) {
        handle -> Text,
        account_id -> Text,
        api_key_id -> Text,
    }
}

diesel::table! {
    usage (api_key_id) {
        api_key_id -> Text,
        minute_start -> BigInt,
        minute_used -> BigInt,
        day_start -> BigInt,
        day_used -> BigInt,
        month_start -> BigInt,
        month_used -> BigInt,
        throughput_tat_us -> BigInt,
    }
}

diesel::table! {
    /// The usage row of each API key: a view of the table `usage`. On PostgreSQL, the view reads few row versions, even
    /// while an open snapshot keeps all old versions.
    current_usage (api_key_id) {
        api_key_id -> Text,
        minute_start -> BigInt,
        minute_used -> BigInt,
        day_start -> BigInt,
        day_used -> BigInt,
        month_start -> BigInt,
        month_used -> BigInt,
        throughput_tat_us -> BigInt,
    }
}

diesel::table! {
    /// The counter of stored bytes, which is a column of `current_usage`. Declared separately, so that queries of the
    /// other usage columns do not read this counter.
    #[sql_name = "current_usage"]
    stored_bytes (api_key_id) {
        api_key_id -> Text,
        #[sql_name = "stored_bytes"]
        bytes -> BigInt,
    }
}

diesel::table! {
    invites (id) {
        id -> Text,
        secret -> Binary,
        note -> Nullable<Text>,
        uses -> BigInt,
        used -> BigInt,
        created_at -> BigInt,
        expires_at -> BigInt,
        revoked_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    governance (id) {
        id -> Text,
        subject -> Text,
        kind -> Text,
        status -> Text,
        reason -> Text,
        since -> BigInt,
        by -> Text,
    }
}

diesel::table! {
    audit_entries (number) {
        number -> BigInt,
        at -> BigInt,
        actor -> Text,
        action -> Text,
        subject -> Text,
        detail -> Text,
        previous -> Binary,
        hash -> Binary,
    }
}

diesel::table! {
    envelopes (id) {
        id -> Text,
        sender -> Text,
        recipient -> Text,
        suite -> SmallInt,
        signature -> Binary,
        sealed -> Binary,
        payload_size_bytes -> BigInt,
        created_at -> BigInt,
        opened_at -> Nullable<BigInt>,
        thread -> Nullable<Text>,
        reply_to -> Nullable<Text>,
        message_type -> Nullable<Text>,
        trace -> Nullable<Binary>,
    }
}

diesel::table! {
    channels (id) {
        id -> Text,
        sender -> Text,
        recipient -> Text,
        sealing_version -> Integer,
        encapsulation -> Binary,
        signature -> Binary,
    }
}

diesel::table! {
    webhooks (id) {
        id -> Text,
        api_key_id -> Text,
        url -> Text,
        events -> Text,
        secret -> Binary,
        status -> Text,
        created_at -> BigInt,
        last_success_at -> Nullable<BigInt>,
        last_failure_at -> Nullable<BigInt>,
        last_failure -> Nullable<Text>,
        disabled_reason -> Nullable<Text>,
        failing_since -> Nullable<BigInt>,
        retiring -> Nullable<Binary>,
        retiring_until -> Nullable<BigInt>,
        last_failure_detail -> Nullable<Text>,
        description -> Nullable<Text>,
        paused -> Bool,
        failed_attempts -> BigInt,
        failing_announced_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    deleted_webhooks (id) {
        id -> Text,
    }
}

diesel::table! {
    deliveries (event_id, webhook_id) {
        /// Id of the event. The SQL name of the column refers to the first kind of event (received envelopes).
        #[sql_name = "envelope_id"]
        event_id -> Text,
        webhook_id -> Text,
        attempts -> Integer,
        due_at -> Nullable<BigInt>,
        lease -> Nullable<BigInt>,
        last_failure -> Nullable<Text>,
        failed_at -> Nullable<BigInt>,
        redeliver_at -> Nullable<BigInt>,
        recover_at -> Nullable<BigInt>,
        requested_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    attempts (number) {
        number -> BigInt,
        at -> BigInt,
        next_attempt_at -> Nullable<BigInt>,
        attempt -> Integer,
        duration_ms -> Integer,
        status_code -> Nullable<Integer>,
        outcome -> Text,
        error -> Nullable<Text>,
        webhook_id -> Text,
        /// Id of the event. The SQL name of the column refers to the first kind of event (received envelopes).
        #[sql_name = "envelope_id"]
        event_id -> Text,
        excerpt -> Nullable<Text>,
    }
}

diesel::table! {
    /// All events except received envelopes, which have only their row in `envelopes`.
    events (id) {
        id -> Text,
        kind -> Text,
        api_key_id -> Text,
        created_at -> BigInt,
        body -> Text,
    }
}

diesel::table! {
    envelope_outcomes (envelope_id) {
        envelope_id -> Text,
        outcome -> Text,
        at -> BigInt,
    }
}

diesel::table! {
    waiting_envelopes (envelope_id) {
        envelope_id -> Text,
        recipient -> Text,
    }
}

diesel::table! {
    waiting_transfers (api_key_id) {
        api_key_id -> Text,
        horizon -> Nullable<BigInt>,
    }
}

diesel::table! {
    waiting_skips (api_key_id) {
        api_key_id -> Text,
        until -> Text,
    }
}

diesel::table! {
    idempotency_keys (api_key_id, idempotency_key) {
        api_key_id -> Text,
        idempotency_key -> Text,
        fingerprint -> Binary,
        envelope_id -> Text,
        created_at -> BigInt,
        state -> Nullable<Text>,
        results -> Nullable<Text>,
    }
}

diesel::table! {
    overages (api_key_id, month) {
        api_key_id -> Text,
        month -> BigInt,
        messages -> BigInt,
    }
}

diesel::table! {
    identity_rotations (api_key_id, reason, at) {
        api_key_id -> Text,
        reason -> Text,
        at -> BigInt,
        handle -> Nullable<Text>,
        replaced_by -> Nullable<Text>,
        read_to -> Nullable<Text>,
        informed -> BigInt,
    }
}

diesel::table! {
    housekeeping_tasks (name) {
        name -> Text,
        node -> BigInt,
        until -> BigInt,
    }
}

diesel::table! {
    /// The partitions of the tables `envelopes` and `attempts`. This table exists only on PostgreSQL.
    partitions (name) {
        name -> Text,
        parent -> Text,
        upper_bound -> Nullable<BigInt>,
        is_dropped_whole -> Bool,
        released_to -> Text,
    }
}

diesel::table! {
    daily_counts (api_key_id, day) {
        api_key_id -> Text,
        day -> BigInt,
        sent -> BigInt,
        received -> BigInt,
        delivered -> BigInt,
    }
}

diesel::table! {
    daily_count_progress (source) {
        source -> Text,
        last_counted -> Text,
    }
}

diesel::table! {
    kek_marks (version) {
        version -> BigInt,
        mark -> Binary,
        retired_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    kek_versions (version, provider) {
        version -> BigInt,
        provider -> Text,
        wrapped -> Binary,
    }
}

diesel::table! {
    assessments (id) {
        id -> Text,
        api_key_id -> Text,
        clarity -> BigInt,
        coherence -> BigInt,
        confidence -> BigInt,
        drift -> BigInt,
        assessor -> Text,
        reason -> Text,
        at -> BigInt,
    }
}

diesel::table! {
    attestations (id) {
        id -> Text,
        api_key_id -> Text,
        name -> Text,
        failed -> Bool,
        valid_until -> Nullable<BigInt>,
        attester -> Text,
        reason -> Text,
        at -> BigInt,
    }
}

diesel::table! {
    badges (id) {
        id -> Text,
        api_key_id -> Text,
        assessment_id -> Text,
        subject -> Text,
        jurisdiction -> Nullable<Text>,
        circuits_version -> Nullable<BigInt>,
        position -> BigInt,
        issued_at -> BigInt,
        expires_at -> BigInt,
        revoked_at -> Nullable<BigInt>,
        revoked_by -> Nullable<Text>,
        revocation_reason -> Nullable<Text>,
        tag -> Nullable<Binary>,
    }
}

diesel::table! {
    issuer_keys (id) {
        id -> Text,
        public_key -> Binary,
        secret -> Binary,
        created_at -> BigInt,
        signs_from -> BigInt,
    }
}

diesel::table! {
    facts_versions (api_key_id) {
        api_key_id -> Text,
        version -> BigInt,
    }
}

diesel::table! {
    __diesel_schema_migrations (version) {
        version -> Text,
        run_on -> Timestamp,
    }
}

diesel::table! {
    additive_migrations (version) {
        version -> Text,
    }
}

diesel::table! {
    relay_connections (id) {
        id -> BigInt,
        node -> BigInt,
        api_key_id -> Text,
        webhook_id -> Text,
        token -> Binary,
        connected_at -> BigInt,
        client_address -> Nullable<Text>,
        check_at -> BigInt,
    }
}

diesel::table! {
    relay_nodes (node) {
        node -> BigInt,
        expires_at -> BigInt,
    }
}

diesel::table! {
    nodes (id) {
        id -> BigInt,
        host -> Text,
        version -> Text,
        started_at -> BigInt,
        seen_at -> BigInt,
        base_url -> Text,
    }
}

diesel::table! {
    policies (api_key_id) {
        api_key_id -> Text,
        accept -> Text,
        receipts -> Text,
        listed -> Bool,
        allowed -> Text,
        blocked -> Text,
        records_contacts -> Bool,
    }
}

diesel::table! {
    contacts (api_key_id, contact) {
        api_key_id -> Text,
        contact -> Text,
        sent_at -> BigInt,
    }
}

diesel::table! {
    database_identity (id) {
        id -> Text,
    }
}

diesel::table! {
    journal_marks (journal) {
        journal -> Text,
        mark -> BigInt,
    }
}

diesel::table! {
    used_forms (form) {
        form -> Binary,
        used_at -> BigInt,
        result -> Nullable<Binary>,
    }
}

diesel::table! {
    log_statements (id) {
        id -> BigInt,
        kind -> Text,
        subject -> Text,
        api_key_id -> Nullable<Text>,
        text -> Text,
        number -> Nullable<BigInt>,
        at -> Nullable<BigInt>,
        salt -> Nullable<Binary>,
        leaves -> Nullable<Binary>,
    }
}

diesel::table! {
    log_entries (number) {
        number -> BigInt,
        entry -> Binary,
    }
}

diesel::table! {
    log_tiles (level, tile) {
        level -> Integer,
        tile -> BigInt,
        hashes -> Binary,
    }
}

diesel::table! {
    log_heads (origin) {
        origin -> Text,
        issuer_key_id -> Text,
        size -> BigInt,
        checkpoint -> Text,
        witnessed -> Nullable<Text>,
    }
}

diesel::joinable!(api_keys -> accounts (account_id));
diesel::joinable!(badges -> assessments (assessment_id));
diesel::joinable!(handles -> api_keys (api_key_id));
diesel::joinable!(idempotency_keys -> envelopes (envelope_id));
diesel::joinable!(policies -> api_keys (api_key_id));
diesel::joinable!(stored_bytes -> api_keys (api_key_id));
diesel::allow_tables_to_appear_in_same_query!(
    accounts,
    api_keys,
    api_tokens,
    assessments,
    attempts,
    badges,
    deliveries,
    envelope_outcomes,
    envelopes,
    handles,
    idempotency_keys,
    policies,
    relay_connections,
    relay_nodes,
    sessions,
    stored_bytes,
    webhooks
);
