ALTER TABLE nodes DROP COLUMN base_url;
DELETE FROM additive_migrations WHERE version = '0037';
