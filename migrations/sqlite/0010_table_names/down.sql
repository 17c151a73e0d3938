ALTER TABLE daily_count_progress RENAME COLUMN last_counted TO up_to;
ALTER TABLE daily_count_progress RENAME COLUMN source TO what;
ALTER TABLE daily_count_progress RENAME TO counted;

ALTER TABLE housekeeping_tasks RENAME TO chores;

ALTER TABLE deleted_webhooks RENAME TO former_webhooks;

DROP INDEX ix_idempotency_keys__created_at;
ALTER TABLE idempotency_keys RENAME TO remembered;
CREATE INDEX ix_remembered__created_at ON remembered (created_at);
