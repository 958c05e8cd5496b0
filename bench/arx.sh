#!/bin/bash
# arx.sh DATA RESULTS: what ARX makes of Adult, where its jars are given (ARX_JAR, a class path; a JDK is
# needed, too): RESULTS/arx_theirs.tsv, with which bench/arx.sql compares kanon.  An empty one where they are not.
# shellcheck source=dev/common.sh
. "$(dirname "$0")/../dev/common.sh"
theirs=$2/arx_theirs.tsv
: >"$theirs"
if [ -z "${ARX_JAR:-}" ] || [ -z "$1" ]; then
	echo "arx: not compared (needs ARX_JAR and the reference tables)"
	exit 0
fi
scratch
javac -nowarn -proc:none -encoding UTF-8 -cp "$ARX_JAR" -d "$scratch" bench/Arx.java
java -cp "$scratch:$ARX_JAR" Arx "$1" | tee "$theirs"
