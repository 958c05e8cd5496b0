#!/bin/bash
# citus.sh RESULTS: processor seconds of the coordinator and of the workers, where the server that
# KANON_SERVER_CONF describes (what finds kanon and Citus) has Citus; nothing where it has not.
# Adult-2 x 93 and x 186 (3 and 6 million rows), two kept columns: the colocated copy, what
# kanon.distribute = 'off' does, what kanon does by itself, and where it replaces a table of the coordinator.  Means of
# three runs beside their musts go to citus_musts.tsv.  Three servers on sockets, as
# the current user, who is not root.
# shellcheck source=dev/common.sh
. "$(dirname "$0")/../dev/common.sh"
results=$1
if [ ! -r "${KANON_SERVER_CONF:-}" ]; then echo "scale: no Citus here (KANON_SERVER_CONF)"; exit 0; fi
data=${KANON_DATA:-}
[ -n "$data" ] || die "the benchmark of Citus needs KANON_DATA"
scratch
bin=$("$pg_config" --bindir)
ask() { "$bin/psql" -X -qAt -v ON_ERROR_STOP=1 -h "$scratch" -p "$((5700 + $1))" -U bench -d postgres "${@:2}"; }

for i in 1 2 3; do
	"$bin/initdb" -N -D "$scratch/$i" -U bench -A trust --locale=C.UTF-8 --encoding=UTF8 >/dev/null
	cat "$KANON_SERVER_CONF" - >>"$scratch/$i/postgresql.conf" <<-END
		listen_addresses = ''
		unix_socket_directories = '$scratch'
		port = $((5700 + i))
		shared_preload_libraries = 'citus'
		citus.enable_version_checks = off
		columnar.enable_version_checks = off
		citus.node_conninfo = 'sslmode=disable'
		citus.shard_count = 8
		max_prepared_transactions = 50
		shared_buffers = 512MB
		max_wal_size = 8GB
		kanon.progress = off
	END
	"$bin/pg_ctl" -D "$scratch/$i" -l "$scratch/log$i" -w start >/dev/null
	if ! ask $i -c 'CREATE EXTENSION citus' 2>/dev/null; then echo "scale: no Citus here"; exit 0; fi
done
ask 1 -o /dev/null -c "SELECT citus_set_coordinator_host('$scratch', 5701)" \
	-c "SELECT citus_add_node('$scratch', 5702)" -c "SELECT citus_add_node('$scratch', 5703)" -c 'CREATE EXTENSION kanon'

# Of a server with all that it has started, those that have ended among them.
seconds() {
	local pid child
	pid=$(head -n 1 "$scratch/$1/postmaster.pid")
	{
		sed 's/.*) //' "/proc/$pid/stat" | awk '{ print $12 + $13 + $14 + $15 }'
		for child in $(pgrep -P "$pid"); do sed 's/.*) //' "/proc/$child/stat" 2>/dev/null | awk '{ print $12 + $13 }'; done
	} | awk -v ticks="$(getconf CLK_TCK)" '{ sum += $1 } END { printf "%.2f\n", sum / ticks }'
}

# measure WHAT ROWS STATEMENT [BEFORE]: a line of results
measure() {
	local coordinator workers
	ask 1 -o /dev/null -c 'SET client_min_messages = warning' -c 'DROP TABLE IF EXISTS bench_out' -c "${4:-SELECT}" -c 'CHECKPOINT'
	sleep 1
	coordinator=$(seconds 1) workers=$(awk "BEGIN { print $(seconds 2) + $(seconds 3) }")
	ask 1 -o /dev/null -c 'SET client_min_messages = warning' -c "$3"
	sleep 1 # until the backend is seen to have ended
	awk -v what="$1" -v rows="$2" -v c="$coordinator" -v w="$workers" -v c2="$(seconds 1)" -v w2="$(seconds 2)" -v w3="$(seconds 3)" \
		'BEGIN { printf "%s\t%d\t%.2f\t%.2f\n", what, rows, c2 - c, w2 + w3 - w }' | tee -a "$results/citus.tsv"
}

printf 'what\trows\tcoordinator s\tworkers s\n' | tee "$results/citus.tsv"
ask 1 -c "CREATE TABLE adult (age int, workclass text, fnlwgt int, education text, education_num int, marital_status text, occupation text, relationship text,
	race text, sex text, capital_gain int, capital_loss int, hours_per_week int, native_country text, salary_class text)" \
	-c "\\copy adult FROM '$data/adult.csv' (FORMAT csv, DELIMITER ';')"
columns='age, workclass, education, marital_status, occupation, race, sex, native_country, salary_class'
for copies in 93 186; do
	ask 1 -o /dev/null -c 'SET client_min_messages = warning' -c 'DROP TABLE IF EXISTS big' \
		-c "CREATE TABLE big AS SELECT 0::bigint AS id, $columns, capital_gain, hours_per_week FROM adult WITH NO DATA" \
		-c "SELECT create_distributed_table('big', 'id')" \
		-c "INSERT INTO big SELECT row_number() OVER (), $columns, capital_gain, hours_per_week FROM adult, generate_series(1, $copies)"
	rows=$(ask 1 -c 'SELECT count(*) FROM big')
	call="SELECT FROM kanon_pattern_guided('big', 'bench_out', '{$columns}', 10, method => 'greedy', keep => '{capital_gain,hours_per_week}')"
	for _ in 1 2 3; do
		measure 'colocated copy' "$rows" "CREATE TABLE bench_out (LIKE big); SELECT create_distributed_table('bench_out', 'id', colocate_with => 'big'); INSERT INTO bench_out TABLE big"
		measure "kanon.distribute = 'off'" "$rows" "SET kanon.distribute = off; $call"
		measure 'kanon' "$rows" "$call"
		measure 'kanon, replacing' "$rows" "${call/%)/, replace => true)}" 'CREATE TABLE bench_out (id int)'
	done
done
awk -F'\t' '
	NR > 1 && !first { first = $2 }
	$2 == first { n[$1]++; coordinator[$1] += $3; all[$1] += $3 + $4 }
	function line(what, ours, other, must) { printf "%s\t%.2f\t%.2f\t%.2f\t%s\n", what, ours, other, ours / other, must }
	END {
		print "what\tours, s\tthe other, s\tratio\tmust"
		line(first " rows, all nodes / a colocated copy", all["kanon"] / n["kanon"], all["colocated copy"] / n["colocated copy"], 3)
		line("replacing a table of the coordinator, its seconds / 1 s", coordinator["kanon, replacing"] / n["kanon, replacing"], 1, 2)
	}' "$results/citus.tsv" | tee "$results/citus_musts.tsv"
