DELETE FROM additive_migrations WHERE version = '0040';
