DELETE FROM additive_migrations WHERE version = '0048';
DROP TABLE used_forms;
