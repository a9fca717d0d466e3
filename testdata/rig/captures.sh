#!/usr/bin/env bash
# Records the captures of testdata/captures from nothing: captures.sh [NAME...]
# Needs root (tcpdump, network namespaces), Java 17, Maven; installs tcpdump, dumpcap, zstd, iproute2, ethtool where missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$here/../captures
work=$here/work
port=20880
mkdir -p "$out" "$work"

install_tools() {
  local missing=()
  command -v tcpdump >/dev/null || missing+=(tcpdump)
  command -v dumpcap >/dev/null || missing+=(wireshark-common)
  command -v zstd >/dev/null || missing+=(zstd)
  command -v ip >/dev/null || missing+=(iproute2)
  command -v ethtool >/dev/null || missing+=(ethtool)
  command -v jq >/dev/null || missing+=(jq)
  if [ ${#missing[@]} -gt 0 ]; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}"
  fi
}

build() {
  (cd "$here" && mvn -q -B compile)
  # Each side lacks one package, so that classes exist which the other side does not know.
  for side in provider consumer; do
    rm -rf "$work/$side-classes" && cp -r "$here/target/classes" "$work/$side-classes"
  done
  rm -rf "$work/provider-classes/org/dubbowire/rig/consumeronly" "$work/consumer-classes/org/dubbowire/rig/provideronly"
}

# The jars of one Dubbo release, in Maven's order.
class_path() {
  local file=$work/classpath-$1
  [ -s "$file" ] || (cd "$here" && mvn -q -B dependency:build-classpath -Ddubbo.version="$1" -Dmdep.outputFile="$file" -Dmdep.includeScope=runtime)
  cat "$file"
}

# What Java 17 must open for serializers that reflect on JDK classes.
opens=()
for package in java.lang java.lang.reflect java.lang.invoke java.util java.util.concurrent java.util.concurrent.atomic java.text java.net java.io java.nio \
  java.math java.time java.time.chrono java.time.zone java.security sun.security.action sun.util.calendar; do
  opens+=(--add-opens "java.base/$package=ALL-UNNAMED")
done
opens+=(--add-opens java.sql/java.sql=ALL-UNNAMED)

java_side() { # side dubbo-version netns-or-empty main-class args...
  local side=$1 version=$2 ns=$3 main=$4
  shift 4
  local jvm=(java -Xmx384m -XX:TieredStopAtLevel=1 "${opens[@]}"
    -Dtruth.side="$side" -Dtruth.file="$work/$side.truth"
    -Djava.net.preferIPv6Addresses="$([[ $host == *:* ]] && echo true || echo false)"
    -Ddubbo.application.logger=log4j -Ddubbo.service.shutdown.wait=1000 -Duser.timezone=UTC -Duser.language=en
    -Drig.host="$host" -Drig.port=$port -Drig.serialization="$serialization" -Drig.optimizer="$optimizer"
    -Drig.heartbeat="$heartbeat" -Drig.threads="$threads" -Drig.payload="$payload" -Drig.repeat="$repeat"
    -cp "$work/$side-classes:$(class_path "$version")" "org.dubbowire.rig.run.$main" "$@")
  if [ -n "$ns" ]; then exec ip netns exec "$ns" "${jvm[@]}"; else exec "${jvm[@]}"; fi
}

wait_for() { # file pattern seconds
  for _ in $(seq $(($3 * 10))); do
    grep -q "$2" "$1" 2>/dev/null && return 0
    sleep 0.1
  done
  echo "no '$2' in $1:" >&2
  tail -20 "$1" >&2
  return 1
}

start_sniffer() {
  if [ "$sniffer" = dumpcap ]; then
    dumpcap -q -i "$iface" -f "$filter" -B 64 -w "$work/raw" >"$work/sniffer.log" 2>&1 &
    sniffer_pid=$!
    wait_for "$work/sniffer.log" "File:" 10
  else
    # shellcheck disable=SC2086
    $sniff_prefix tcpdump -i "$iface" -B 65536 -U -n $tcpdump_options -w "$work/raw" "$filter" >"$work/sniffer.log" 2>&1 &
    sniffer_pid=$!
    wait_for "$work/sniffer.log" "listening on" 10
  fi
  sleep 0.3
}

stop_sniffer() {
  sleep 0.7
  kill -INT $sniffer_pid
  wait $sniffer_pid || true
  if [ "$sniffer" = tcpdump ] && ! grep -q "^0 packets dropped by kernel" "$work/sniffer.log"; then
    cat "$work/sniffer.log" >&2
    return 1
  fi
}

# One capture. Settings are variables with defaults; the table at the end overrides them.
record() {
  name=$1
  shift
  local dubbo=2.7.23 workloads=published file='' note='' complete=true late_start='' late_stop=''
  serialization=hessian2 serializations='' optimizer=false heartbeat=60000 threads=200 payload=8388608 repeat=1 host=127.0.0.1
  sniffer=tcpdump iface=lo tcpdump_options='' filter="tcp port $port" sniff_prefix='' provider_ns='' consumer_ns=''
  local setting
  for setting in "$@"; do
    printf -v "${setting%%=*}" '%s' "${setting#*=}"
  done
  file=${file:-$name.pcap.zst}
  echo "== $name"
  rm -f "$work"/raw "$work"/*.truth "$work"/*.log
  class_path "$dubbo" >/dev/null
  [ -n "$late_start" ] || start_sniffer
  (java_side provider "$dubbo" "$provider_ns" Provider) >"$work/provider.log" 2>&1 &
  local provider_pid=$!
  wait_for "$work/provider.log" READY 60
  rm -f "$work/stdin" && mkfifo "$work/stdin"
  # shellcheck disable=SC2086
  (java_side consumer "$dubbo" "$consumer_ns" Consumer $workloads) <"$work/stdin" >"$work/consumer.log" 2>&1 &
  local consumer_pid=$!
  exec 7>"$work/stdin"
  if [ -n "$late_start" ]; then
    until [ -s "$work/consumer.truth" ]; do sleep 0.05; done
    sleep "$late_start"
    start_sniffer
  fi
  wait_for "$work/consumer.log" "^DONE" 180
  # Graceful end of the provider while the consumer stays: the read-only event is sent.
  kill -TERM $provider_pid
  wait $provider_pid || true
  sleep 0.3
  exec 7>&-
  wait $consumer_pid || true
  stop_sniffer
  grep -h -E "^(FAILED|NOT FAILED|DONE)" "$work/consumer.log" | tee "$work/$name.steps" | tail -3
  cat "$work/consumer.truth" "$work/provider.truth" | zstd -q -19 --long=24 -f -o "$out/$name.truth.jsonl.zst"
  case $file in
    *.zst) zstd -q -19 --long=24 -f "$work/raw" -o "$out/$file" ;;
    *.gz) gzip -9 -n -c "$work/raw" >"$out/$file" ;;
    *) cp "$work/raw" "$out/$file" ;;
  esac
  provenance "$dubbo" "$workloads" "$complete" "$note"
}

provenance() { # dubbo workloads complete note
  local packets link
  packets=$(tcpdump -nn -r "$work/raw" 2>"$work/read.log" | wc -l)
  link=$(sed -n 's/.*link-type \([A-Z0-9_]*\).*/\1/p' "$work/read.log" | head -1)
  tr ':' '\n' <"$work/classpath-$1" | sed 's#.*/##' | sort | jq -R . | jq -s . >"$work/jars-$1.json"
  jq -n --arg name "$name" --arg file "$file" --arg dubbo "$1" --arg ser "${serializations:-$serialization}" --argjson complete "$3" \
    --arg link "$link" --arg note "$4" --arg workloads "$2" --argjson optimizer "$optimizer" --arg packets "$packets" \
    --arg date "$(date -u +%Y-%m-%d)" --arg jdk "$(java -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.runtime.version = //p')" \
    --arg sniffer "$([ "$sniffer" = dumpcap ] && dumpcap --version | head -1 || tcpdump --version 2>&1 | paste -sd' ')" \
    --arg kernel "$(uname -r)" --arg iface "$iface" --arg filter "$filter" --arg options "$tcpdump_options" \
    --arg sum "$(sha256sum "$out/$file" | cut -d' ' -f1)" --arg truthsum "$(sha256sum "$out/$name.truth.jsonl.zst" | cut -d' ' -f1)" \
    --slurpfile frames <(cat "$work"/consumer.truth "$work"/provider.truth | jq -c 'select(.dir=="out" and .kind!="telnet") | .kind' | sort | uniq -c | awk '{gsub(/"/,"",$2); print "{\"" $2 "\":" $1 "}"}') \
    '{name: $name, file: $file, truth: ($name + ".truth.jsonl.zst"), dubbo: $dubbo, serializations: ($ser | split(",")), optimizer: $optimizer,
      complete: $complete, linkType: $link, note: $note, workloads: ($workloads | split(" ")), packets: ($packets | tonumber),
      framesSent: ($frames | add), date: $date, jdk: $jdk, kernel: $kernel, sniffer: $sniffer,
      capture: ("-i " + $iface + " " + $options + " " + $filter | gsub(" +"; " ")),
      command: ("testdata/rig/captures.sh " + $name), sha256: $sum, truthSha256: $truthsum}' >"$work/entry.json"
  [ -s "$out/provenance.json" ] || echo '[]' >"$out/provenance.json"
  jq --slurpfile e "$work/entry.json" 'map(select(.name != $e[0].name)) + $e | sort_by(.name)' "$out/provenance.json" >"$work/all.json"
  mv "$work/all.json" "$out/provenance.json"
  # The jars are the same for all captures of a release.
  [ -s "$out/jars.json" ] || echo '{}' >"$out/jars.json"
  jq --arg v "$1" --slurpfile j "$work/jars-$1.json" '.[$v] = $j[0]' "$out/jars.json" >"$work/jars.json" && mv "$work/jars.json" "$out/jars.json"
}

. "$here/table.sh"

install_tools
build
if [ $# -gt 0 ]; then
  for wanted in "$@"; do
    found=
    all_captures "$wanted"
    [ -n "$found" ] || { echo "no capture is named $wanted" >&2; exit 2; }
  done
else
  all_captures ''
fi
