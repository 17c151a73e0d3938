-- The newest window in which a key reached a threshold of its limits. A threshold gives one event for each window.
CREATE TABLE usage_thresholds (
    api_key_id TEXT COLLATE "C" NOT NULL,
    span TEXT NOT NULL CHECK (span IN ('day', 'month')),
    threshold SMALLINT NOT NULL,
    window_start BIGINT NOT NULL,
    PRIMARY KEY (api_key_id, span, threshold)
);
