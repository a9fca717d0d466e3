#!/usr/bin/env bash
# screenshots.sh [FOLDER]: writes page.png, the HTML report of a committed capture, and screen.png, the full screen of a live capture
# while that traffic is replayed, to docs/images. Needs Chromium, tmux, and the right to capture on the loopback interface. PORT
# replaces the port of the replayed traffic.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-docs/images}")
port=${PORT:-20880} columns=120 rows=28
capture=testdata/captures/fleet.pcap.zst
go=${GO:-go}
export CGO_ENABLED=0

work=$(mktemp -d)
tmux() { command tmux -u -L "screenshots-$$" -f /dev/null "$@"; }
trap 'tmux kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$out"
"$go" build -trimpath -o "$work/dubbo-wire" ./cmd/dubbo-wire
"$go" test -c -trimpath -o "$work/replay" ./cmd/dubbo-wire # the test program is the replayer if that is its name
cp "$capture" "$work/"
capture=$(basename "$capture")

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || command -v chrome)
# picture PAGE WIDTH HEIGHT PNG
picture() {
	"$browser" --headless=new --no-sandbox --disable-gpu --disable-lcd-text --hide-scrollbars --user-data-dir="$work/profile" \
		--window-size="$2,$3" --screenshot="$4" "file://$1" 2>/dev/null
	"$go" run scripts/palette.go "$4"
	[ "$(wc -c <"$4")" -lt 200000 ] || { echo "$4 is larger than 200 kB" >&2; exit 1; }
}

(cd "$work" && ./dubbo-wire analyze "$capture" -o page.html)
picture "$work/page.html" 1200 1240 "$out/page.png"

tmux new-session -d -c "$work" -x $columns -y $rows env -i PATH="$work:$PATH" TERM=screen-256color PS1='$ ' sh
tmux set -g status off
tmux resize-window -x $columns -y $rows
tmux send-keys "dubbo-wire capture lo tcp port $port" Enter
for _ in $(seq 100); do
	if tmux capture-pane -p | grep -q 'q quit'; then break; fi
	sleep 0.1
done
for _ in 1 2 3 4 5 6 7 8; do
	(cd "$work" && PORT=$port ./replay "$capture" >/dev/null)
	sleep 1
done
# The attributes that the screen uses, as HTML: a span for each change.
tmux capture-pane -e -p | awk '
function open_span(  class) {
	class = (bold ? " b" : "") (faint ? " f" : "") (under ? " u" : "") (reverse ? " r" : "") (fore ? " c" fore : "") (back ? " g" back : "")
	return class == "" ? "<span>" : "<span class=\"" substr(class, 2) "\">"
}
function attributes(codes,  n, list, i, c) {
	n = split(codes, list, ";")
	if (n == 0) bold = faint = under = reverse = fore = back = 0
	for (i = 1; i <= n; i++) {
		c = list[i] + 0
		if (c == 0) bold = faint = under = reverse = fore = back = 0
		else if (c == 1) bold = 1
		else if (c == 2) faint = 1
		else if (c == 4) under = 1
		else if (c == 7) reverse = 1
		else if (c == 22) bold = faint = 0
		else if (c == 24) under = 0
		else if (c == 27) reverse = 0
		else if (c >= 30 && c <= 37) fore = c
		else if (c == 39) fore = 0
		else if (c >= 40 && c <= 47) back = c
		else if (c == 49) back = 0
	}
}
BEGIN {
	print "<!doctype html><meta charset=utf-8><style>"
	print "body { margin: 0; background: #16191d; } pre { margin: 12px; font: 15px/18px DejaVu Sans Mono, monospace; color: #d8dde2; }"
	print ".b { font-weight: bold; color: #fff; } .f { color: #8d96a0; } .u { text-decoration: underline; } .r { background: #d8dde2; color: #16191d; }"
	print ".c31 { color: #ff7f77; } .c32 { color: #6fd08b; } .c33 { color: #e8c15a; } .c34 { color: #8fb0ff; } .c35 { color: #dd8fdb; } .c36 { color: #58c9d3; } .c37 { color: #fff; } .g41 { background: #b3261e; }"
	print "</style><pre>"
}
{
	gsub(/\016|\017/, ""); gsub(/&/, "\\&amp;"); gsub(/</, "\\&lt;")
	line = ""
	while (match($0, /\033\[[0-9;]*m/)) {
		line = line open_span() substr($0, 1, RSTART - 1) "</span>"
		attributes(substr($0, RSTART + 2, RLENGTH - 3))
		$0 = substr($0, RSTART + RLENGTH)
	}
	print line open_span() $0 "</span>"
}
END { print "</pre>" }' >"$work/screen.html"
tmux send-keys q
picture "$work/screen.html" $((columns * 9 + 30)) $((rows * 18 + 24)) "$out/screen.png"
ls -l "$out"
