-- Times of requests that arrived while the delivery was leased. The delivery is due again after the lease: by
-- `redeliver_at` if the attempt succeeded, by `recover_at` otherwise. The next lease clears both.
ALTER TABLE deliveries ADD COLUMN redeliver_at BIGINT;
ALTER TABLE deliveries ADD COLUMN recover_at BIGINT;
INSERT INTO additive_migrations (version) VALUES ('0039');
