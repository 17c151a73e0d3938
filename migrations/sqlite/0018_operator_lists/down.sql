DROP INDEX ix_api_keys__status__id;
DROP INDEX ix_api_keys__plan__id;
DROP INDEX ix_api_keys__label__id;
DROP INDEX ix_api_keys__handle__id;
