#!/bin/bash
# releases.sh [--accept]: what kanon publishes, compared with test/releases.txt:
# every method on small tables, and on the real ones where there are any, as checksums
# of the targets.  A change that is meant to leave releases as they are leaves these.
# --accept: take what comes out now as what is expected.
# make check-releases; to accept, with the real tables: KANON_DATA=… dev/with-server test/releases.sh --accept
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
data=${KANON_DATA:-}
out=$(mktemp)
trap 'rm -f "$out"' EXIT
psql -X -q -v data="$data" -f "$here/releases.sql" >"$out"
if [ "${1:-}" = --accept ]; then
	cp "$out" "$here/releases.txt"
	exit
fi
expected=$here/releases.txt
if [ -z "$data" ]; then
	# only what there is without the real tables
	diff <(grep -Ev '^[a-z_]+ (adult|nursery|cmc|arx) ' "$expected") "$out"
else
	diff "$expected" "$out"
fi
echo "$(wc -l <"$out") releases as before"
