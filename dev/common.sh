# shellcheck shell=bash disable=SC2034
# What the scripts beside this file share; sourced, never run.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"

# The same results on every machine: no locale, time zone, server address or
# psql habit of the caller's gets through.
for name in ${!LC_@} ${!PG@}; do
	[ "$name" = PG_CONFIG ] || unset "$name"
done
unset name LANGUAGE
export LANG=C.UTF-8 LC_ALL=C.UTF-8 TZ=UTC
umask 022

pg_config=${PG_CONFIG:-pg_config}

# A make above us may be a parallel one, but cannot lend us its job server.
if [ -n "${MAKEFLAGS:-}" ]; then
	MAKEFLAGS=$(sed -E 's/(^| )-j[0-9]*//g; s/(^| )--jobserver-(auth|fds)=[^ ]*//g' <<<"$MAKEFLAGS")
fi

pg_major() { "$pg_config" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/'; }
die() { echo "kanon: $*" >&2; exit 1; }
heading() { printf '\n==== %s ====\n' "$*"; }

# scratch: make $scratch, a folder that goes when we do, with the servers in it.
# As root it has to be where the user postgres gets in, whatever TMPDIR says.
scratch() {
	[ "$(id -u)" != 0 ] || export TMPDIR=/tmp
	scratch=$(mktemp -d "${TMPDIR:-/tmp}/kanon.XXXXXX")
	chmod 755 "$scratch"
	trap clean_up EXIT
	trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM
}

clean_up() {
	trap '' HUP INT TERM
	local file pid
	find "$scratch" -name postmaster.pid | while read -r file; do
		read -r pid <"$file" && kill -QUIT "$pid" && tail --pid="$pid" -f /dev/null
	done 2>/dev/null
	rm -rf "$scratch"
}

# attend COMMAND…: run it, and when a signal stops us, stop it and all that it
# started, and let it clean up, before we go.  (Bash runs a trap only when the
# command in the foreground is over.  On a terminal nothing is needed: Ctrl-C
# reaches everybody.)
attend() {
	if [ -t 0 ]; then "$@"; return; fi
	local child code=0
	set -m
	{ set +m; "$@"; } &
	child=$!
	set +m
	# shellcheck disable=SC2064
	trap "stop $child; exit 129" HUP
	# shellcheck disable=SC2064
	trap "stop $child; exit 130" INT
	# shellcheck disable=SC2064
	trap "stop $child; exit 143" TERM
	wait "$child" || code=$?
	trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM
	return "$code"
}

stop() {
	trap '' HUP INT TERM
	local tries
	kill -TERM -- "-$1" 2>/dev/null || true
	wait "$1" || true
	for ((tries = 0; tries < 100; tries++)); do
		kill -0 -- "-$1" 2>/dev/null || break
		sleep 0.1
	done
}

# The real tables for comparisons and benchmarks, where there are any.
if [ -z "${KANON_DATA:-}" ] && [ -d ../shared/data ]; then
	KANON_DATA=$(cd ../shared/data && pwd)
	export KANON_DATA
fi

# Runs side by side in one checkout take turns (the lock is the folder itself).
build() {
	flock src make --no-print-directory -s -j"$(nproc)" all
}

# stage: build, install below $scratch/stage, and set server_settings to what a
# server needs to find it there.  KANON_BESIDE: a folder as DESTDIR makes one, whose
# extensions the server has, too (a Citus that is not installed, for t/043 and t/044).
stage() {
	build || return
	[ -z "${KANON_BESIDE:-}" ] || cp -R "$KANON_BESIDE/." "$scratch/stage" || return
	flock src make --no-print-directory -s install DESTDIR="$scratch/stage" || return
	chmod -R a+rX "$scratch/stage"
	find_staged "$pg_config"
}

# find_staged PG_CONFIG: the settings for that one's server
find_staged() {
	local share lib
	share=$("$1" --sharedir) lib=$("$1" --pkglibdir)
	if grep -q extension_destdir "$share/postgresql.conf.sample"; then
		# Debian's own setting, up to PostgreSQL 17
		server_settings=("extension_destdir=$scratch/stage"
			"dynamic_library_path=$scratch/stage$lib:$lib")
	elif grep -q extension_control_path "$share/postgresql.conf.sample"; then
		# from PostgreSQL 18 on
		server_settings=("extension_control_path=$scratch/stage$share:\$system"
			"dynamic_library_path=$scratch/stage$lib:\$libdir")
	else
		die "this server finds extensions only where they are installed: use 'make install' and 'make installcheck'"
	fi
	# A server that has to be killed leaves its shared memory: there it goes with its folder.
	server_settings+=(dynamic_shared_memory_type=mmap)
}

# The package mirror: the one that is named, else the machine's own, else Debian's.
mirror() {
	local found=${KANON_MIRROR:-}
	# shellcheck disable=SC2016
	[ -n "$found" ] || found=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2>/dev/null | head -1 || true)
	found=${found:-http://deb.debian.org/debian}
	echo "${found%/}"
}
