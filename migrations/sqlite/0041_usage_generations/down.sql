DELETE FROM additive_migrations WHERE version = '0041';
DROP VIEW current_usage;
