DROP TABLE chores;
DROP TABLE overages;
DROP TABLE remembered;
DROP TABLE audit_entries;
DROP INDEX ix_sessions__expires_at;
DROP INDEX ix_accounts__partner_id;
ALTER TABLE governance DROP COLUMN "by";
