DELETE FROM deliveries WHERE envelope_id >= 'evt_';
DROP TABLE envelope_outcomes;
DROP TABLE events;
