#!/usr/bin/env bash
# Records the captures of testdata/captures from nothing: captures.sh [NAME...]
# Needs root (tcpdump, network namespaces), Java 17, Maven; installs tcpdump, dumpcap, zstd, iproute2, ethtool where missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/fleet.sh"
. "$here/tunnels.sh"
out=${RIG_OUT:-$here/../captures} # another folder for trials
default_release=2.7.23
mkdir -p "$out"

# Everything Maven must do for the captures asked for, before the namespace: Maven needs the network.
prepare() {
  local wanted version module
  releases=()
  action=need_release
  for wanted in "${@:-}"; do all_captures "$wanted"; done
  for version in $(printf '%s\n' "${releases[@]}" | sort -u); do
    module=$(module_of "$version")
    [[ " ${built:-} " == *" $module "* ]] || build "$module"
    built="${built:-} $module"
    class_path "$version" >/dev/null
    [[ " ${dubbox:-} " != *" $version "* ]] || dubbox "$(class_path "$version")"
  done
  build_tap
}

need_release() { # name settings...
  local setting version=$default_release
  for setting in "${@:2}"; do
    case $setting in
      dubbo=*) version=${setting#*=} ;;
      libraries=dubbox) dubbox+=" $version" ;;
    esac
  done
  # shellcheck disable=SC2206 # a fleet has several
  releases+=($version)
}

java_side() { # side[-name] dubbo-version netns-or-empty main-class args...
  local side=$1 version=$2 ns=$3 main=$4 module options=()
  module=$(module_of "$version")
  shift 4
  case $version in
    grpc-go-* | tls-go-*) exec ${ns:+ip netns exec "$ns"} "$work/$module" -side "${side%%-*}" -truth "$work/$side.truth" -address "$host:$port" "$@" ;;
    grpc-java-*) main=Grpc$main ;;
    libthrift-*) main=Thrift$main ;;
  esac
  [ ! -e "$here/$module/jvm.options" ] || options=("@$here/$module/jvm.options") # what a generation needs beyond this
  # shellcheck disable=SC2206
  options+=($properties)
  [ -z "$tap" ] || options+=(--patch-module java.base="$work/tap" --add-exports java.base/sun.nio.ch=ALL-UNNAMED)
  local path
  path=$(class_path "$version")
  [ "$libraries" != dubbox ] || path=$(dubbox_path "$path")
  # shellcheck disable=SC2206
  local jvm=(env $environment java -Xmx384m -XX:TieredStopAtLevel=1 "${opens[@]}" "${options[@]}"
    -Dtruth.side="${side%%-*}" -Dtruth.peer="${side#"${side%%-*}"}" -Dtruth.file="$work/$side.truth"
    -Ddubbo.application.logger=log4j -Ddubbo.security.serialize.generic.native-java-enable=true -Ddubbo.service.shutdown.wait=1000 -Duser.timezone=UTC -Duser.language=en
    -Drig.host="$host" -Drig.port=$port -Drig.serialization="$serialization" -Drig.serializations="${serializations:-$serialization}" -Drig.optimizer="$optimizer"
    -Drig.protocol="$protocol" -Drig.protocol.second="$second_protocol"
    -Drig.heartbeat="$heartbeat" -Drig.threads="$threads" -Drig.payload="$payload" -Drig.repeat="$repeat" -Drig.pause="$pause"
    -cp "$work/${side%%-*}-classes-$module:$path" "org.dubbowire.rig.run.$main" "$@")
  if [ -n "$ns" ]; then exec ip netns exec "$ns" "${jvm[@]}"; else exec "${jvm[@]}"; fi
}

# Two hosts (namespaces) with Ethernet between them, MTU 1500, segments cut by TCP itself and not by the card. With a share of
# missed segments, the interface mirror shows the others.
start_wire() { # loss reorder duplicate [missed]
  local side
  for side in a b; do
    ip link delete "outer-$side" 2>/dev/null || true
    ip link add "outer-$side" type veth peer name "inner-$side"
    ip link set "inner-$side" netns "dubborig-$side"
    ip link set "outer-$side" up
    ip -n "dubborig-$side" link set lo up
    ip -n "dubborig-$side" link set "inner-$side" up
    # Without transmit offload the kernel also fills in the checksums, which the wire passes on as they are.
    ethtool -K "outer-$side" tso off gso off gro off tx off >/dev/null
    ip netns exec "dubborig-$side" ethtool -K "inner-$side" tso off gso off gro off tx off >/dev/null
  done
  ip -n dubborig-a addr add 198.18.0.1/24 dev inner-a
  ip -n dubborig-b addr add 198.18.0.2/24 dev inner-b
  if [ -n "${4:-}" ]; then
    ip link delete mirror 2>/dev/null || true
    ip link add mirror type veth peer name mirrored
    ip link set mirror up && ip link set mirrored up
  fi
  python3 "$here/wire.py" outer-a outer-b "${@:1:3}" ${4:+mirrored "$4"} >"$work/wire.log" 2>&1 &
  wire_pid=$!
  wait_for "$work/wire.log" "wire ready" 10
}

start_sniffer() { # descriptor 7 is the consumer's standard input: nobody else may hold it open
  if [ "$sniffer" = dumpcap ]; then
    # shellcheck disable=SC2086
    $sniff_prefix dumpcap -q -f "$filter" -B 64 -i "$iface" $dumpcap_options -w "$work/raw" >"$work/sniffer.log" 2>&1 7>&- &
    sniffer_pid=$!
    wait_for "$work/sniffer.log" "File:" 10
  else
    # shellcheck disable=SC2086
    $sniff_prefix tcpdump -i "$iface" -B 65536 -U -n $tcpdump_options -w "$work/raw" "$filter" >"$work/sniffer.log" 2>&1 7>&- &
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
  local dubbo=$default_release workloads=published file='' note='' complete=true late_start='' late_after=. talk=two_talk
  serialization=hessian2 serializations='' optimizer=false heartbeat=60000 threads=200 payload=8388608 repeat=1 pause=0 host=127.0.0.1
  sniffer=tcpdump iface=lo tcpdump_options='' filter="tcp port $port" sniff_prefix='' provider_ns='' consumer_ns='' wire='' dumpcap_options='' tunnel='' push='' pop='' kind='' match='' then='' vxlan='' mtu=1450 outer='' inner='' watched='' flatten='' properties='' environment='' libraries='' protocol=dubbo second_protocol='' spoken='' second_optimizer='' tap=''
  local setting
  for setting in "$@"; do
    printf -v "${setting%%=*}" '%s' "${setting#*=}"
  done
  file=${file:-$name.pcap.zst}
  echo "== $name"
  rm -f "$work"/raw "$work"/*.truth "$work"/*.log
  $talk
  [ -z "$flatten" ] || { editcap -F nsecpcap "$work/raw" "$work/flat" && mv "$work/flat" "$work/raw"; } # one interface, as a mirror's port is
  grep -ahE "^(FAILED|NOT FAILED|DONE)" "$work"/consumer*.log >"$work/$name.steps"
  grep ^DONE "$work/$name.steps"
  cat "$work"/*.truth | zstd -q -19 --long=24 -f -o "$out/$name.truth.jsonl.zst"
  case $file in
    *.zst) zstd -q -19 --long=24 -f "$work/raw" -o "$out/$file" ;;
    *.gz) gzip -9 -n -c "$work/raw" >"$out/$file" ;;
    *) cp "$work/raw" "$out/$file" ;;
  esac
  provenance "$dubbo" "$workloads" "$complete" "$note"
}

# One provider and one consumer, with the settings of record.
two_talk() {
  if [ -n "$wire" ]; then
    # shellcheck disable=SC2086
    start_wire $wire
    host=198.18.0.2 consumer_ns=dubborig-a provider_ns=dubborig-b iface=inner-b sniff_prefix="ip netns exec dubborig-b"
    [ "$(wc -w <<<"$wire")" -lt 4 ] || iface=mirror sniff_prefix=
  fi
  [ -n "$late_start" ] || start_sniffer
  (java_side provider "${dubbo%% *}" "$provider_ns" Provider) >"$work/provider.log" 2>&1 &
  local provider_pid=$!
  wait_for "$work/provider.log" READY 60 $provider_pid
  rm -f "$work/stdin" && mkfifo "$work/stdin"
  # shellcheck disable=SC2086
  (java_side consumer "${dubbo##* }" "$consumer_ns" Consumer $workloads) <"$work/stdin" >"$work/consumer.log" 2>&1 &
  local consumer_pid=$!
  exec 7>"$work/stdin"
  if [ -n "$late_start" ]; then
    wait_for "$work/consumer.truth" "$late_after" 60 $consumer_pid
    sleep "$late_start"
    start_sniffer
  fi
  wait_for "$work/consumer.log" "^DONE" 180 $consumer_pid
  # Graceful end of the provider while the consumer stays: the read-only event is sent.
  kill -TERM $provider_pid
  wait $provider_pid || true
  sleep 0.3
  exec 7>&-
  wait $consumer_pid || true
  stop_sniffer
  [ -z "$wire" ] || kill $wire_pid
}

# Two pairs of a provider and a consumer that know nothing of each other, at neighbouring ports, each with an optimizer of its own.
optimizers_talk() {
  local provider_pid second_pid consumer_pid number=0 workload optimizers=("" "-Drig.optimizer.class=$second_optimizer")
  start_sniffer
  (java_side provider-first "$dubbo" "" Provider) >"$work/provider.log" 2>&1 &
  provider_pid=$!
  (port=$((port + 1)) properties=${optimizers[1]} && java_side provider-second "$dubbo" "" Provider) >"$work/provider-second.log" 2>&1 &
  second_pid=$!
  wait_for "$work/provider.log" READY 60 $provider_pid
  wait_for "$work/provider-second.log" READY 60 $second_pid
  for workload in $workloads; do
    rm -f "$work/stdin" && mkfifo "$work/stdin"
    (port=$((port + number)) properties=${optimizers[number]} &&
      java_side "consumer-$workload" "$dubbo" "" Consumer "$workload") <"$work/stdin" >"$work/consumer-$workload.log" 2>&1 &
    consumer_pid=$!
    exec 7>"$work/stdin"
    wait_for "$work/consumer-$workload.log" "^DONE" 180 $consumer_pid
    exec 7>&-
    wait $consumer_pid || true
    number=$((number + 1))
  done
  kill -TERM $provider_pid $second_pid
  wait $provider_pid $second_pid || true
  stop_sniffer
}

# Two providers at neighbouring ports, of which the second one is slow.
failover_talk() {
  local provider_pid second_pid consumer_pid
  start_sniffer
  (java_side provider-first "$dubbo" "" Provider) >"$work/provider.log" 2>&1 &
  provider_pid=$!
  (port=$((port + 1)) properties="-Drig.delay=600" && java_side provider-second "$dubbo" "" Provider) >"$work/provider-second.log" 2>&1 &
  second_pid=$!
  wait_for "$work/provider.log" READY 60 $provider_pid
  wait_for "$work/provider-second.log" READY 60 $second_pid
  rm -f "$work/stdin" && mkfifo "$work/stdin"
  # shellcheck disable=SC2086
  (java_side consumer "$dubbo" "" Consumer $workloads) <"$work/stdin" >"$work/consumer.log" 2>&1 &
  consumer_pid=$!
  exec 7>"$work/stdin"
  wait_for "$work/consumer.log" "^DONE" 180 $consumer_pid
  grep ^CALL "$work/consumer.log"
  kill -TERM $provider_pid $second_pid
  wait $provider_pid $second_pid || true
  sleep 0.3
  exec 7>&-
  wait $consumer_pid || true
  stop_sniffer
}

provenance() { # dubbo workloads complete note
  local packets link version
  packets=$(tcpdump --count -r "$work/raw" 2>"$work/read.log" | cut -d' ' -f1) # printed, some packets have several lines
  link=$(sed -n 's/.*link-type \([A-Z0-9_]*\).*/\1/p' "$work/read.log" | head -1)
  jq -n --arg name "$name" --arg file "$file" --arg dubbo "${1// /, }" --arg ser "${serializations:-$serialization}" --argjson complete "$3" \
    --arg link "$link" --arg note "$4" --arg workloads "$2" --argjson optimizer "$optimizer" --arg packets "$packets" \
    --arg date "$(date -u +%Y-%m-%d)" --arg jdk "$(java -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.runtime.version = //p')" \
    --arg sniffer "$([ "$sniffer" = dumpcap ] && dumpcap --version | head -1 || tcpdump --version 2>&1 | paste -sd' ')" \
    --arg kernel "$(uname -r)" --arg iface "$iface" --arg filter "$filter" --arg options "$tcpdump_options" \
    --arg protocol "${spoken:-$protocol${second_protocol:+,$second_protocol}}" --arg calls "$(cat "$work"/consumer*.truth | grep -c '"kind":"call"')" \
    --arg sum "$(sha256sum "$out/$file" | cut -d' ' -f1)" --arg truthsum "$(sha256sum "$out/$name.truth.jsonl.zst" | cut -d' ' -f1)" \
    --slurpfile failed <(sed -n 's/^FAILED //p' "$work/$name.steps" | sort -u | jq -R 'split(" | ") | {step: .[0], error: (.[1:] | join(" | "))}') \
    --slurpfile frames <(cat "$work"/*.truth | jq -c 'select(.dir=="out" and .kind!="telnet" and .kind!="rubbish") | .kind' | sort | uniq -c | awk '{gsub(/"/,"",$2); print "{\"" $2 "\":" $1 "}"}') \
    '{name: $name, file: $file, truth: ($name + ".truth.jsonl.zst"), dubbo: $dubbo, serializations: ($ser | split(",")), optimizer: $optimizer,
      complete: $complete, linkType: $link, note: $note, workloads: ($workloads | split(" ")), packets: ($packets | tonumber),
      framesSent: ($frames | add), failedSteps: $failed, date: $date, jdk: $jdk, kernel: $kernel, sniffer: $sniffer,
      capture: ("-i " + $iface + " " + $options + " " + $filter | gsub(" +"; " ")),
      command: ("testdata/rig/captures.sh " + $name), sha256: $sum, truthSha256: $truthsum}
      + if $protocol == "dubbo" then {} else {protocols: ($protocol | split(",")), callsMade: ($calls | tonumber)} end' >"$work/entry.json"
  [ -s "$out/provenance.json" ] || echo '[]' >"$out/provenance.json"
  jq --slurpfile e "$work/entry.json" 'map(select(.name != $e[0].name)) + $e | sort_by(.name)' "$out/provenance.json" >"$work/all.json"
  mv "$work/all.json" "$out/provenance.json"
  # The jars are the same for all captures of a release.
  [ -s "$out/jars.json" ] || echo '{}' >"$out/jars.json"
  for version in $1; do
    tr ':' '\n' <"$work/classpath-$version" | sed 's#.*/##' | sort | jq -R . | jq -s . >"$work/jars-$version.json"
    jq --arg v "$version" --slurpfile j "$work/jars-$version.json" '.[$v] = $j[0]' "$out/jars.json" >"$work/jars.json" && mv "$work/jars.json" "$out/jars.json"
  done
}

# failed-steps.md: what a step of a workload could not do, from provenance.json.
failed_steps() {
  {
    echo "# Steps that failed"
    echo
    echo "Written by captures.sh from provenance.json; see [README.md](README.md#what-cannot-run)."
    echo
    echo "| captures | step | error |"
    echo "| --- | --- | --- |"
    jq -r '[.[] | .name as $n | .failedSteps[]? | . + {name: $n, error: (.error | gsub("[[:cntrl:]]"; "…") | gsub("(?<generated>Builder\\$bc|AnnotatedTypeBaseImpl\\$sw|bytecode\\.proxy)[0-9]+"; "\(.generated)…"))}]
      | group_by([.step, .error]) | map({names: (map(.name) | unique | join(", ")), step: .[0].step, error: .[0].error})
      | sort_by(.names, .step)[] | "| \(.names) | `\(.step)` | `\(.error | gsub("\\|"; "/") | gsub("`"; "\u0027"))` |"' "$out/provenance.json"
  } >"$here/failed-steps.md"
}

lock
. "$here/table.sh"

install_tools
[ "$(ip netns identify)" = dubborig ] || prepare "$@"
in_namespace "$@"
action=record
if [ $# -gt 0 ]; then
  for wanted in "$@"; do
    found=
    all_captures "$wanted"
    [ -n "$found" ] || { echo "no capture is named $wanted" >&2; exit 2; }
  done
else
  all_captures ''
fi
[ -n "${RIG_OUT:-}" ] || failed_steps
