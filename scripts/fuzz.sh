#!/bin/sh
# Runs every fuzz target of the module for FUZZTIME (default 5s), as many packages at a time as there are processors.
set -eu
GO=${GO:-go}
FUZZTIME=${FUZZTIME:-5s}
export GO FUZZTIME

# fuzz.sh one DIR: the targets of a package, which is built once: what this script starts for each package.
if [ "${1:-}" = one ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	cd "$2"
	if ! $GO test -c -fuzz=. -o "$work/fuzz.test" . >"$work/log" 2>&1; then
		echo "fuzz ${2#"$PWD"/} does not build"
		cat "$work/log"
		exit 255 # xargs starts no other one
	fi
	for target in $(sed -n 's|^func \(Fuzz[A-Za-z0-9_]*\)(.*|\1|p' ./*_test.go); do
		# When the time is up in the middle of an input, the fuzzer now and then calls that a failure ("context deadline
		# exceeded", without a failing input). Then the target has to pass in another run.
		for try in 1 2 3; do
			if "$work/fuzz.test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$FUZZTIME" -test.fuzzminimizetime 1x -test.parallel 1 \
				-test.fuzzcachedir "$($GO env GOCACHE)/fuzz/$($GO list .)" >"$work/log" 2>&1; then
				echo "fuzz $target in $($GO list .)"
				break
			fi
			if [ "$try" = 3 ] || ! grep -q 'context deadline exceeded' "$work/log" || grep -Eq 'Failing input|panic' "$work/log"; then
				echo "fuzz $target in $2 failed"
				cat "$work/log"
				exit 255
			fi
		done
	done
	exit 0
fi

dirs=$(for dir in $($GO list -f '{{.Dir}}' ./...); do
	grep -l '^func Fuzz' "$dir"/*_test.go >/dev/null 2>&1 && echo "$dir" || true
done)
targets=$(for dir in $dirs; do
	cat "$dir"/*_test.go
done | grep -c '^func Fuzz')
jobs=${FUZZJOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
echo "$dirs" | xargs -n 1 -P "$jobs" "$0" one
echo "$targets fuzz targets passed, $FUZZTIME each"
