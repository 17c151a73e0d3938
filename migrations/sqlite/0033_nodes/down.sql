DROP TABLE nodes;
DELETE FROM additive_migrations WHERE version = '0033';
