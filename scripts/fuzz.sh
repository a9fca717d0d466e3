#!/bin/sh
# Runs every fuzz target of the module for FUZZTIME (default 5s), one after the other.
set -eu
GO=${GO:-go}
FUZZTIME=${FUZZTIME:-5s}
n=0
for dir in $($GO list -f '{{.Dir}}' ./...); do
	targets=$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$dir"/*_test.go 2>/dev/null || true)
	for target in $targets; do
		echo "fuzz $target in ${dir#"$PWD"/}"
		(cd "$dir" && $GO test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 1x . >"${TMPDIR:-/tmp}/fuzz.$$" 2>&1) || {
			cat "${TMPDIR:-/tmp}/fuzz.$$"
			rm -f "${TMPDIR:-/tmp}/fuzz.$$"
			exit 1
		}
		n=$((n + 1))
	done
done
rm -f "${TMPDIR:-/tmp}/fuzz.$$"
echo "$n fuzz targets, $FUZZTIME each"
