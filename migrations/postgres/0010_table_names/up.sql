-- Clear names for tables, columns and their indexes. Rows stay as they are.

ALTER TABLE remembered RENAME TO idempotency_keys;
ALTER INDEX remembered_pkey RENAME TO idempotency_keys_pkey;
ALTER INDEX ix_remembered__created_at RENAME TO ix_idempotency_keys__created_at;

ALTER TABLE former_webhooks RENAME TO deleted_webhooks;
ALTER INDEX former_webhooks_pkey RENAME TO deleted_webhooks_pkey;

ALTER TABLE chores RENAME TO housekeeping_tasks;
ALTER INDEX chores_pkey RENAME TO housekeeping_tasks_pkey;

ALTER TABLE counted RENAME TO daily_count_progress;
ALTER TABLE daily_count_progress RENAME COLUMN what TO source;
ALTER TABLE daily_count_progress RENAME COLUMN up_to TO last_counted;
ALTER INDEX counted_pkey RENAME TO daily_count_progress_pkey;

-- Nodes of the previous version keep serving until they are replaced: these views accept their statements. Drop the
-- views in a later migration.
CREATE VIEW remembered AS SELECT * FROM idempotency_keys;
CREATE VIEW former_webhooks AS SELECT * FROM deleted_webhooks;
CREATE VIEW chores AS SELECT * FROM housekeeping_tasks;
CREATE VIEW counted AS SELECT source AS what, last_counted AS up_to FROM daily_count_progress;
