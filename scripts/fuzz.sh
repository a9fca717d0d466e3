#!/bin/sh
# Runs every fuzz target of the module for FUZZTIME (default 5s), as many at a time as there are processors.
set -eu
GO=${GO:-go}
FUZZTIME=${FUZZTIME:-5s}
export GO FUZZTIME

# fuzz.sh one DIR TARGET: what this script starts for each target.
if [ "${1:-}" = one ]; then
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	# When the time is up in the middle of an input, go test now and then calls that a failure ("context deadline
	# exceeded", without a failing input). Then the target has to pass in another run.
	for try in 1 2 3; do
		if (cd "$2" && $GO test -run '^$' -fuzz "^$3\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 1x -parallel 1 . >"$log" 2>&1); then
			echo "fuzz $3 in ${2#"$PWD"/}"
			exit 0
		fi
		if [ "$try" = 3 ] || ! grep -q 'context deadline exceeded' "$log" || grep -Eq 'Failing input|panic' "$log"; then
			echo "fuzz $3 in ${2#"$PWD"/} failed"
			cat "$log"
			exit 255 # xargs starts no other one
		fi
	done
fi

targets=$(for dir in $($GO list -f '{{.Dir}}' ./...); do
	sed -n "s|^func \(Fuzz[A-Za-z0-9_]*\)(.*|$dir \1|p" "$dir"/*_test.go 2>/dev/null || true
done)
jobs=${FUZZJOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
echo "$targets" | xargs -n 2 -P "$jobs" "$0" one
echo "$(echo "$targets" | wc -l) fuzz targets passed, $FUZZTIME each"
