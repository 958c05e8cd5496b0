#!/bin/bash
# freeform.sh ADULT RESULTS: the experiments of "k-Anonymization by Freeform
# Generalization" on Adult-2 (age a number): GCP and processor time against k,
# dimension and size, and 14-row samples against the optimum; beside them methods
# with classes (Mondrian, bottom_up, pattern-guided), priced the same way.  Writes
# RESULTS/freeform*.tsv.
set -euo pipefail
adult=$1
results=$2
bench=build/core-plain/bench_freeform
echo "method	rows	columns	k	partition_size	gcp	seconds	mib" >"$results/freeform.tsv"

# one case METHOD ROWS COLUMNS K [PARTITION_SIZE]
one() {
	"$bench" "$adult" "$@" | tee -a "$results/freeform.tsv"
}
# all ROWS COLUMNS K: every method that takes that many rows, the paper's partition
# sizes, but no fewer than 2k rows
all() {
	local rows=$1 columns=$2 k=$3 method
	least() { echo $(($1 > 2 * k ? $1 : 2 * k)); }
	for method in greedy sort_greedy ring mondrian bottom_up pattern_guided; do
		one "$method" "$rows" "$columns" "$k"
	done
	one greedy "$rows" "$columns" "$k" "$(least 250)"
	one sort_greedy "$rows" "$columns" "$k" "$(least 150)"
	one hungarian "$rows" "$columns" "$k" "$(least 100)"
	one min_cost_flow "$rows" "$columns" "$k" "$(least 100)"
	one concealment "$rows" "$columns" "$k" "$(least 250)"
}
for k in 2 5 10 20 50; do all 10000 8 $k; done
for columns in 2 3 4 5 6 7; do all 10000 $columns 10; done
for rows in 1000 2000 4000 8000 16000 32000; do all $rows 8 10; done

echo "method	samples	rows	columns	k	gcp" >"$results/freeform_samples.tsv"
for k in 2 3 4 5 6; do "$bench" "$adult" samples 100 14 8 $k; done >>"$results/freeform_samples.tsv"
awk -F'\t' 'NR > 1 { gcp[$1] += $6 }
	END { for (m in gcp) if (m != "mip" && m != "concealment" && m !~ /^(mondrian|bottom_up|pattern_guided)$/)
		printf "14-row samples, k = 2..6, %s: %.3f of the gap between concealment and the optimum closed\n",
			m, (gcp["concealment"] - gcp[m]) / (gcp["concealment"] - gcp["mip"]) }' \
	"$results/freeform_samples.tsv" | sort
