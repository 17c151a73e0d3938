-- Each filter of the operators' list of keys reads only the matching keys, newest first.
CREATE INDEX ix_api_keys__handle__id ON api_keys (handle, id) WHERE handle IS NOT NULL;
CREATE INDEX ix_api_keys__label__id ON api_keys (label, id);
CREATE INDEX ix_api_keys__plan__id ON api_keys (plan, id);
CREATE INDEX ix_api_keys__status__id ON api_keys (status, id);
