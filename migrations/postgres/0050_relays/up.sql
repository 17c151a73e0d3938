-- Connections of receivers that have no public address (relays). The connections of a node count while its row is not
-- expired, so that those of a dead node soon count no more.
CREATE TABLE relay_nodes (
    node BIGINT PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
CREATE TABLE relay_connections (
    id BIGINT PRIMARY KEY,
    node BIGINT NOT NULL,
    webhook_id TEXT COLLATE "C" NOT NULL,
    token BYTEA NOT NULL,
    connected_at BIGINT NOT NULL,
    client_address TEXT
);
CREATE INDEX ix_relay_connections__webhook_id ON relay_connections (webhook_id);
CREATE INDEX ix_relay_connections__node ON relay_connections (node);

-- A delivery that waits for a connection has the lease -1. It has indexes of its own, so that it costs other claims
-- nothing.
DROP INDEX ix_deliveries__lease_end;
CREATE INDEX ix_deliveries__lease_end ON deliveries (due_at) WHERE lease <> -1;
CREATE INDEX ix_deliveries__due_at__relay ON deliveries (due_at) WHERE lease = -1;
CREATE INDEX ix_deliveries__webhook_id__due_at__relay ON deliveries (webhook_id, due_at) WHERE lease = -1;
