-- Events with an id of their own. A received envelope is an event without a row here. The body is what webhooks get.
CREATE TABLE events (
    id TEXT COLLATE "C" PRIMARY KEY,
    kind TEXT NOT NULL,
    api_key_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    body TEXT NOT NULL
);

-- Outcomes of envelopes that the queue alone does not show: a delivery succeeded while others of the envelope remained,
-- or the envelope bounced. One row for each envelope, so an envelope bounces at most once.
CREATE TABLE envelope_outcomes (
    envelope_id TEXT COLLATE "C" PRIMARY KEY,
    outcome TEXT NOT NULL CHECK (outcome IN ('announced', 'bounced')),
    at BIGINT NOT NULL
);
