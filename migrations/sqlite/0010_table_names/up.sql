-- Clear names for tables, columns and their indexes. Rows stay as they are. SQLite cannot rename an index.

ALTER TABLE remembered RENAME TO idempotency_keys;
DROP INDEX ix_remembered__created_at;
CREATE INDEX ix_idempotency_keys__created_at ON idempotency_keys (created_at);

ALTER TABLE former_webhooks RENAME TO deleted_webhooks;

ALTER TABLE chores RENAME TO housekeeping_tasks;

ALTER TABLE counted RENAME TO daily_count_progress;
ALTER TABLE daily_count_progress RENAME COLUMN what TO source;
ALTER TABLE daily_count_progress RENAME COLUMN up_to TO last_counted;
