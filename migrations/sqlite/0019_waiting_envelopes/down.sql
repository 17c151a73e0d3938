DROP TRIGGER tr_api_keys__waiting;
DROP TRIGGER tr_webhooks__waiting;
DROP TABLE waiting_skips;
DROP TABLE waiting_transfers;
DROP TABLE waiting_envelopes;
