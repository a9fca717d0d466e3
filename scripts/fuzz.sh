#!/bin/sh
# Runs every fuzz target of the module for FUZZTIME (default 5s), as many packages at a time as there are processors. With UNGUIDED
# inputs are changed at random, whatever code they reach: then nothing is compiled again to see that, which takes longer than all targets
# when each has a second.
set -eu
GO=${GO:-go}
FUZZTIME=${FUZZTIME:-5s}
export GO FUZZTIME
guided=-fuzz=.
[ -z "${UNGUIDED:-}" ] || guided=

# build PACKAGE FILE: the tests of a package for fuzzing. Nobody debugs them, so they need no tables for that, which are half of a link.
build() { $GO test -c -vet=off -ldflags=-w $guided -o "$2" "$1"; }

# fuzz.sh one TARGETS PACKAGE DIR: the targets of a package, which is built once: what this script starts for each package.
if [ "${1:-}" = one ]; then
	package=$3
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	cd "$4"
	if ! build . "$work/fuzz.test" >"$work/log" 2>&1; then
		echo "fuzz $package does not build"
		cat "$work/log"
		exit 255 # xargs starts no other one
	fi
	for target in $(sed -n 's|^func \(Fuzz[A-Za-z0-9_]*\)(.*|\1|p' ./*_test.go); do
		# When the time is up in the middle of an input, the fuzzer now and then calls that a failure ("context deadline
		# exceeded", without a failing input). Then the target has to pass in another run.
		for try in 1 2 3; do
			if "$work/fuzz.test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$FUZZTIME" -test.fuzzminimizetime 1x -test.parallel 1 \
				-test.fuzzcachedir "$FUZZCACHE/$package" >"$work/log" 2>&1; then
				echo "fuzz $target in $package"
				break
			fi
			if [ "$try" = 3 ] || ! grep -q 'context deadline exceeded' "$work/log" || grep -Eq 'Failing input|panic' "$work/log"; then
				echo "fuzz $target in $package failed"
				cat "$work/log"
				exit 255
			fi
		done
	done
	exit 0
fi

FUZZCACHE=$($GO env GOCACHE)/fuzz
export FUZZCACHE
packages=$($GO list -f '{{.ImportPath}} {{.Dir}}' ./... | while read -r package dir; do
	targets=$(cat "$dir"/*_test.go 2>/dev/null | grep -c '^func Fuzz' || true)
	[ "$targets" = 0 ] || echo "$targets $package $dir"
done | sort -rn)
targets=$(echo "$packages" | awk '{ n += $1 } END { print n }')
jobs=${FUZZJOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
# Builds at the same time compile what they share once each. So the tests with most of the module come first, and alone.
build ./internal/dev/truth /dev/null
echo "$packages" | xargs -n 3 -P "$jobs" "$0" one
echo "$targets fuzz targets passed, $FUZZTIME each"
