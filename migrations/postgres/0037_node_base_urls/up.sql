-- The public URL in the settings of each server, so that servers with different URLs are found.
ALTER TABLE nodes ADD COLUMN base_url TEXT COLLATE "C";
INSERT INTO additive_migrations (version) VALUES ('0037');
