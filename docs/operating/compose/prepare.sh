#!/bin/sh
# Writes what compose.yml needs: .env with passwords, and the folder secrets with the key file and certificates for
# PostgreSQL. Overwrites nothing. Run it as root, so that only the users of the containers can read the files.
#
#   compose/prepare.sh HOST                                    HOST is the public name of the service
#   SEALPOST='podman run --rm sealpost' compose/prepare.sh HOST    with Podman
set -eu
umask 077
host=${1:?give the public name of the service, for example seal.example.org}
sealpost=${SEALPOST:-docker run --rm sealpost}
cd "$(dirname "$0")/.."

# The users of the images: 65532 of Sealpost, and group 999 of PostgreSQL.
sealpost_user=65532
postgres_group=999

if [ -e .env ] || [ -e secrets ]; then
    echo "compose/prepare.sh: $PWD/.env or $PWD/secrets exists: delete both to start again with an empty database" >&2
    exit 1
fi
new=$(mktemp -d ./secrets.XXXXXX)
trap 'rm -rf "$new"' EXIT

$sealpost kek new >"$new/kek"

# The key of the authority is not kept: a new certificate needs a new authority.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=Sealpost database authority" \
    -keyout "$new/authority.key" -out "$new/database-ca.pem" 2>/dev/null
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=postgres \
    -keyout "$new/database.key" -out "$new/request.pem" 2>/dev/null
printf 'subjectAltName=DNS:postgres\nextendedKeyUsage=serverAuth\n' >"$new/extensions"
openssl x509 -req -in "$new/request.pem" -CA "$new/database-ca.pem" -CAkey "$new/authority.key" -CAcreateserial -days 3650 \
    -extfile "$new/extensions" -out "$new/database.pem" 2>/dev/null
rm -f "$new/authority.key" "$new/request.pem" "$new/extensions" "$new"/*.srl

chmod 0755 "$new"
chmod 0644 "$new/database-ca.pem" "$new/database.pem"
chown "$sealpost_user" "$new/kek"
chown "root:$postgres_group" "$new/database.key"
chmod 0640 "$new/database.key"

cat >"$new/env" <<END
PUBLIC_HOST=$host
DATABASE_PASSWORD=$(openssl rand -hex 24)
POSTGRES_PASSWORD=$(openssl rand -hex 24)
END
mv "$new/env" .env
mv "$new" secrets
trap - EXIT
echo "wrote $PWD/.env and $PWD/secrets; back up secrets/kek, apart from the database"
