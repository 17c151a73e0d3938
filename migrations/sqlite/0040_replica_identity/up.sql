-- Only PostgreSQL has replica identities.
INSERT INTO additive_migrations (version) VALUES ('0040');
