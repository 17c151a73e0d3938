-- The log of an event lists all its attempts. Successes have their own index, and most attempts succeed, so this index
-- costs most deliveries nothing.
CREATE INDEX ix_attempts__envelope_id__failed ON attempts (envelope_id)
    WHERE outcome <> 'succeeded';
