-- The reason of the newest failure, beside its class in `last_failure`. Servers of earlier versions leave it as it is, so
-- it may belong to an older failure while such a server runs.
ALTER TABLE webhooks ADD COLUMN last_failure_detail TEXT;
INSERT INTO additive_migrations (version) VALUES ('0038');
