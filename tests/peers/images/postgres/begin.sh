# The user, the password and the database that the environment names are made at the first start.
set -e
data=/var/lib/postgresql/data
as_postgres() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
if [ ! -s "$data/PG_VERSION" ]; then
  chown postgres "$data" && chmod 700 "$data"
  echo "$POSTGRES_PASSWORD" > /run/password && chown postgres /run/password
  as_postgres initdb --pgdata="$data" --username="$POSTGRES_USER" --pwfile=/run/password --auth=scram-sha-256 --auth-local=trust
  rm /run/password
  echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"
  echo "CREATE DATABASE $POSTGRES_DB" | as_postgres postgres --single -D "$data" postgres
fi
exec setpriv --reuid=postgres --regid=postgres --clear-groups postgres -D "$data" -c listen_addresses='*'
