DELETE FROM additive_migrations WHERE version = '0040';
ALTER TABLE write_probes REPLICA IDENTITY DEFAULT;
