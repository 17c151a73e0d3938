#!/bin/sh
# Creates the role and the database of the service. PostgreSQL's image runs this file once, on an empty data folder.
set -eu
psql --quiet --username "${POSTGRES_USER:-postgres}" --dbname postgres --set ON_ERROR_STOP=1 \
    --set password="$DATABASE_PASSWORD" <<'END'
CREATE ROLE sealpost LOGIN PASSWORD :'password';
CREATE DATABASE sealpost OWNER sealpost;
END
