-- A receipt shows the first success of an envelope. Ids of envelopes grow, so new entries are at the end of the index.
CREATE INDEX ix_attempts__envelope_id__succeeded ON attempts (envelope_id)
    WHERE outcome = 'succeeded';
