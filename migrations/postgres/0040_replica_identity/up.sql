-- A publication for all tables refuses to delete rows of a table without a replica identity. A primary key would make
-- the probes of several nodes wait for each other, because each probe inserts the same row.
ALTER TABLE write_probes REPLICA IDENTITY FULL;
INSERT INTO additive_migrations (version) VALUES ('0040');
