DROP VIEW counted;
DROP VIEW chores;
DROP VIEW former_webhooks;
DROP VIEW remembered;

ALTER INDEX daily_count_progress_pkey RENAME TO counted_pkey;
ALTER TABLE daily_count_progress RENAME COLUMN last_counted TO up_to;
ALTER TABLE daily_count_progress RENAME COLUMN source TO what;
ALTER TABLE daily_count_progress RENAME TO counted;

ALTER INDEX housekeeping_tasks_pkey RENAME TO chores_pkey;
ALTER TABLE housekeeping_tasks RENAME TO chores;

ALTER INDEX deleted_webhooks_pkey RENAME TO former_webhooks_pkey;
ALTER TABLE deleted_webhooks RENAME TO former_webhooks;

ALTER INDEX ix_idempotency_keys__created_at RENAME TO ix_remembered__created_at;
ALTER INDEX idempotency_keys_pkey RENAME TO remembered_pkey;
ALTER TABLE idempotency_keys RENAME TO remembered;
