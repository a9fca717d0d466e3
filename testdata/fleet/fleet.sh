#!/usr/bin/env bash
# The queries of docs/sql in real engines: about 1,000 Parquet files of the committed captures, and what dubbo-wire itself says of them.
# fleet.sh DUBBO-WIRE FOLDER: installs the engines from PyPI into FOLDER; Spark needs Java 17. ENGINES names fewer of them.
set -euo pipefail
wire=$(realpath "$1") folder=$2 here=$(realpath "$(dirname "$0")")
root=$(dirname "$(dirname "$here")")
times=3
mkdir -p "$folder"
folder=$(realpath "$folder")
if [ ! -x "$folder/python/bin/python" ]; then
	python3 -m venv "$folder/python"
	"$folder/python/bin/pip" -q install duckdb chdb pyspark
fi
rm -rf "$folder/calls" "$folder/reports"
mkdir -p "$folder/calls" "$folder/reports"

# The exit code of a capture that lacks something is not 0, and some have no calls.
one() {
	for n in $(seq 1 "$times"); do
		"$wire" calls "$1" -o "$folder/calls/$(basename "$1").$n.parquet" --node "host-$n" 2>/dev/null || true
	done
	"$wire" analyze "$1" --parts --buckets --format json -o "$folder/reports/$(basename "$1").json" 2>/dev/null || true
}
export -f one
export wire folder times
# The consumer's end of both-ends has the same calls as the provider's.
find "$root/testdata/captures" -name '*.pcap*' -not -name '*.consumer.*' | sort | xargs -P "$(nproc)" -I{} bash -c 'one {}'
"$wire" analyze "$folder"/reports/*.json --format json -o "$folder/report.json"
echo "$(find "$folder/calls" -maxdepth 1 -name '*.parquet' | wc -l) files"
cd "$folder"
# shellcheck disable=SC2086
exec "$folder/python/bin/python" "$here/engines.py" "$root/docs/sql" "$folder/calls/*.parquet" report.json "$times" ${ENGINES:-duckdb clickhouse spark}
