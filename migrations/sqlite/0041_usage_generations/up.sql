-- PostgreSQL finds the usage row of a key from its highest generation down. SQLite updates rows in place.
CREATE VIEW current_usage AS SELECT * FROM usage;
