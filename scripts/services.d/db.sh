# shellcheck shell=bash
# One MariaDB server with its own data folder, port and socket: never the system's.

db_program() {
  local name
  for name in "$@"; do
    # Debian keeps servers in sbin, which is not on every user's path.
    PATH=$PATH:/usr/sbin:/usr/local/sbin command -v "$name" && return
  done
  die "no $1: MariaDB 10.11 or newer is needed. scripts/install installs it."
}

db_sql() {
  "$(db_program mariadb mysql)" --no-defaults --user=root --socket="$DIR/db.sock" --connect-timeout=2 "$@"
}

db_answers() { db_sql --skip-column-names --batch --execute 'SELECT 1' >/dev/null 2>&1; }

# shellcheck disable=SC2120
db_init() {
  [[ -d $DIR/db/mysql ]] && return
  local part=$DIR/db.new user=()
  [[ $(id -u) == 0 ]] && user=(--user=root)
  rm -rf "$part"
  "$(db_program mariadb-install-db mysql_install_db)" --no-defaults "${user[@]}" --datadir="$part" \
    --auth-root-authentication-method=normal --skip-test-db >>"$DIR/db.log" 2>&1 || {
    tail -n 20 "$DIR/db.log" >&2
    die "MariaDB's data folder could not be made"
  }
  mv "$part" "$DIR/db"
}

db_launch() {
  local server user=()
  server=$(db_program mariadbd mysqld) || exit
  listens "$DB_PORT" && die "port $DB_PORT is taken: set TIDEGATE_DB_PORT to another one, or to auto"
  ((${#DIR} < 95)) || die "the path of TIDEGATE_SERVICES_DIR is too long for a socket in it: $DIR"
  [[ $(id -u) == 0 ]] && user=(--user=root)
  db_init
  spawn db "$server" --no-defaults "${user[@]}" --datadir="$DIR/db" --bind-address=127.0.0.1 \
    --port="$DB_PORT" --socket="$DIR/db.sock" --pid-file="$DIR/db/server.pid" --skip-name-resolve \
    --character-set-server=utf8mb4 --collation-server=utf8mb4_unicode_ci \
    --sql-mode=STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION \
    --innodb-flush-log-at-trx-commit=1 --innodb-buffer-pool-size=256M --innodb-log-file-size=256M \
    --max-connections=200 --max-allowed-packet=64M
}

# The account of the jobs: all rights on the schema `shop`, and on every schema whose name begins with `tidegate_`
# (which it may create and drop).
db_wait() {
  wait_ready db 60
  db_sql <<'SQL' || die "the app user could not be made"
CREATE DATABASE IF NOT EXISTS shop;
CREATE USER IF NOT EXISTS app@'%' IDENTIFIED BY 'app';
GRANT ALL ON shop.* TO app@'%';
GRANT ALL ON `tidegate\_%`.* TO app@'%';
SQL
  say "db answers at 127.0.0.1:$DB_PORT"
}
