DROP TABLE issuer_keys;
