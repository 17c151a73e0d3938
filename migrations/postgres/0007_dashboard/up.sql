-- Sent and received envelopes of each key and day, counted by housekeeping, and the progress of the counts.

CREATE TABLE daily_counts (
    api_key_id TEXT COLLATE "C" NOT NULL,
    day BIGINT NOT NULL,
    sent BIGINT NOT NULL,
    received BIGINT NOT NULL,
    delivered BIGINT NOT NULL,
    PRIMARY KEY (api_key_id, day)
) WITH (fillfactor = 70);
CREATE INDEX ix_daily_counts__day ON daily_counts (day);

CREATE TABLE counted (
    what TEXT COLLATE "C" PRIMARY KEY,
    up_to TEXT COLLATE "C" NOT NULL
);
