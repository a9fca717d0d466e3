#!/bin/sh
# Measures a folder of captures, CAPTURES/HOST/..., with dubbo-wire: one process for each host, several at a time.
#
#   fleet.sh CAPTURES OUTPUT [FLAGS of dubbo-wire calls and analyze]
#
# OUTPUT gets calls/HOST.parquet, calls/_coverage/HOST.parquet, reports/HOST.json and, merged, report.json. A second run does only what is missing:
# hosts that were not done, or whose captures, FLAGS or program have changed. Captures have "cap" in their names, and no line break.
#
# From the environment: JOBS (2) processes; DUBBO_WIRE, the program; ANALYZE, more flags for the reports; ADDRESSES, a file with lines of
# HOST ADDRESS..., for --side.
#
# The exit code is one of dubbo-wire: 0; 1, nothing to report; 2, wrong flags, or a host that could not be done; 3, a coverage below --min-coverage; 4,
# captures that are damaged or cannot be read.
set -u
LC_ALL=C
export LC_ALL
wire=${DUBBO_WIRE:-dubbo-wire}

captures_of() {
	find -L "$1" -type f -name '*[cC][aA][pP]*' ! -path '*/[._]*' | sort
}

# one OUTPUT HOST FLAGS...: a host; the current folder is CAPTURES.
one() {
	output=$1 host=$2 status=$1/_status/$2 attempt=$1/_attempts/$2
	shift 2
	if [ -n "${ADDRESSES:-}" ]; then
		# shellcheck disable=SC2046
		set -- "$@" $(awk -v host="$host" '$1 == host { for (i = 2; i <= NF; i++) print "--self", $i }' "$ADDRESSES")
	fi
	IFS='
'
	set -f
	# shellcheck disable=SC2046
	set -- "$@" -- $(captures_of "$host")
	set +f
	unset IFS

	mkdir -p "$attempt/calls" && (printf '%s\n' "$PROGRAM" "$ANALYZE" "$@" && find -L "$host" -type f -exec ls -lnL {} + | sort) >"$attempt/state" || return 2
	if [ -f "$status" ] && sed '1,/^$/d' "$status" | cmp -s - "$attempt/state" && [ -z "$(find -L "$host" -newer "$status" | head -n 1)" ]; then
		return 0
	fi
	"$wire" calls --jobs 1 --node="$host" -o "$attempt/calls/$host.parquet" "$@" 2>"$attempt/errors"
	code=$?
	# shellcheck disable=SC2086
	"$wire" analyze --jobs 1 $ANALYZE --format json --buckets -o "$attempt/$host.json" "$@" 2>>"$attempt/errors"
	other=$?
	[ "$other" -le "$code" ] || code=$other
	if [ "$code" = 1 ] && [ ! -f "$attempt/$host.json" ]; then
		code=4 # nothing could be read
	elif [ "$code" = 2 ] || [ "$code" -gt 4 ] || [ ! -f "$attempt/$host.json" ] || [ ! -f "$attempt/calls/$host.parquet" ]; then
		sed "s/^dubbo-wire: /$host: /" "$attempt/errors" >&2
		return 2
	fi
	# The status is deleted first and written last: it never stands beside files of another run.
	rm -f "$status" "$output/calls/$host.parquet" "$output/calls/_coverage/$host.parquet" "$output/reports/$host.json" || return 2
	if [ -f "$attempt/$host.json" ]; then
		mv "$attempt/calls/$host.parquet" "$output/calls/" && mv "$attempt/calls/_coverage/$host.parquet" "$output/calls/_coverage/" &&
			mv "$attempt/$host.json" "$output/reports/" || return 2
	fi
	(echo "$code" && awk '!seen[$0]++ { sub(/^dubbo-wire: /, ""); print }' "$attempt/errors" && echo && cat "$attempt/state") >"$attempt/status" &&
		mv "$attempt/status" "$status" || return 2
}

if [ "${1:-}" = --one ]; then
	shift
	one "$@"
	exit
fi

fail() {
	echo "fleet.sh: $1" >&2
	exit 2
}
[ $# -ge 2 ] || fail "give the folder of captures and that of the output"
captures=$1 output=$2
shift 2
case $0 in /*) self=$0 ;; *) self=$PWD/$0 ;; esac
[ -z "${ADDRESSES:-}" ] || ADDRESSES=$(realpath "$ADDRESSES") || exit 2
wire=$(command -v "$wire") && wire=$(realpath "$wire") || fail "there is no program $wire; give it as DUBBO_WIRE"
DUBBO_WIRE=$wire PROGRAM=$(cksum <"$wire") ANALYZE=${ANALYZE:-}
export DUBBO_WIRE PROGRAM ANALYZE ADDRESSES
mkdir -p "$output/calls/_coverage" "$output/reports" "$output/_status" && output=$(realpath "$output") && cd "$captures" || exit 2
case $output/ in "$(pwd -P)"/*) fail "OUTPUT must not be in CAPTURES" ;; esac

# Wrong flags end here, not once for each host.
for command in "calls" "analyze $ANALYZE"; do
	case " $* " in *" --self"*) ;; *) command="$command --self 192.0.2.1" ;; esac
	# shellcheck disable=SC2086
	printf '\324\303\262\241\002\000\004\000\000\000\000\000\000\000\000\000\377\377\000\000\001\000\000\000' | "$wire" $command "$@" - 2>"$output/errors" >&2
	[ $? -le 1 ] || { cat "$output/errors" >&2; rm -f "$output/errors"; exit 2; }
done
rm -rf "$output/errors" "$output/_attempts"
for file in "$output"/_status/*; do
	host=${file##*/}
	[ ! -f "$file" ] || [ -n "$(captures_of "./$host" 2>/dev/null | head -n 1)" ] || fail "$output has files of $host, which has no captures; remove them, or choose another folder"
done

for host in [!._]*/; do
	[ -z "$(captures_of "${host%/}" | head -n 1)" ] || printf '%s\0' "${host%/}"
done | xargs -0 -P "${JOBS:-2}" -I %HOST% sh "$self" --one "$output" %HOST% "$@"
failed=$?
rm -rf "$output/_attempts"
[ "$failed" = 0 ] || fail "no report: not all hosts are done; run it again"

cd "$output" || exit 2
exits=
for status in _status/*; do
	[ -f "$status" ] || fail "$captures has no captures"
	code=$(head -n 1 "$status")
	exits="$exits $code"
	[ "$code" -le 1 ] || sed "1d; /^\$/,\$d; s|^|${status#_status/}: exit $code: |" "$status" >&2
done
result=1
set -- reports/*.json
if [ -f "$1" ]; then
	"$wire" analyze --format json --buckets -o report.json -- "$@" 2>errors
	result=$?
	# The hosts have said what is wrong with their captures.
	if [ "$result" = 2 ]; then cat errors; else grep -v '^dubbo-wire: reports/' errors; fi >&2
	rm -f errors
fi
for code in 2 3 4 0; do
	case " $exits $result " in *" $code "*) exit "$code" ;; esac
done
exit 1
