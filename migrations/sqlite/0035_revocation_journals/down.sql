DROP TABLE journal_marks;
DROP TABLE database_identity;
DELETE FROM additive_migrations WHERE version = '0035';
