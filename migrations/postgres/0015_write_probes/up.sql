-- Always empty: a probe inserts a row and deletes it in one transaction.
CREATE TABLE write_probes (id BIGINT NOT NULL);
