DROP TRIGGER tr_api_keys__waiting ON api_keys;
DROP TRIGGER tr_webhooks__waiting ON webhooks;
DROP FUNCTION transfer_waiting_envelopes();
DROP TABLE waiting_skips;
DROP TABLE waiting_transfers;
DROP TABLE waiting_envelopes;
