-- The newest window in which a key reached a threshold of its limits. A threshold gives one event for each window.
CREATE TABLE usage_thresholds (
    api_key_id TEXT NOT NULL,
    span TEXT NOT NULL CHECK (span IN ('day', 'month')),
    threshold INTEGER NOT NULL,
    window_start INTEGER NOT NULL,
    PRIMARY KEY (api_key_id, span, threshold)
) STRICT, WITHOUT ROWID;
