-- Only PostgreSQL omits hashes. In SQLite two envelopes fit into a page with or without the hash.
INSERT INTO additive_migrations (version) VALUES ('0036');
