-- Sent and received envelopes of each key and day, counted by housekeeping, and the progress of the counts.

CREATE TABLE daily_counts (
    api_key_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    received INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    PRIMARY KEY (api_key_id, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX ix_daily_counts__day ON daily_counts (day);

CREATE TABLE counted (
    what TEXT NOT NULL PRIMARY KEY,
    up_to TEXT NOT NULL
) STRICT, WITHOUT ROWID;
