#!/usr/bin/env bash
# Measures the live tables with real Dubbo peers under load: tables.sh [DUBBO-WIRE [SET...]]
# A set is published (the serializations of the published tables), triple (Triple beside the dubbo protocol, in one run) or rest (REST
# beside the dubbo protocol); without one all are measured. Leaves what dubbo-wire reports in tables/SET: calls/SERIALIZATION.METHOD.json,
# traffic/SERIALIZATION.WORKLOAD.json, and machine.json about the machine, what the callers counted, and what could not be measured. Needs root,
# Java 17, Maven, Go (without DUBBO-WIRE); about 8 minutes for each, and nothing else should run meanwhile: JVMs and dubbo-wire share the processors.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
out=${RIG_OUT:-$here/tables} # another folder for trials
host=127.0.0.1

# Each method is called by many threads for some seconds, after all were for a while.
seconds=5 warm_up=3 fresh=0
# calls: the four methods of dubbo-benchmark's UserService.
calls_dubbo=2.7.23 calls_threads=32
calls_serializations=(kryo kryo+optimizer fst fst+optimizer hessian2 fastjson)
calls_methods=(createUser existUser getUser listUser)
# traffic: the three workloads of smartbuf-dubbo.
traffic_dubbo=2.6.12 traffic_threads=4
traffic_serializations=(fastjson fst fst+optimizer hessian2 kryo kryo+optimizer smartbuf)
traffic_methods=(posts user tiny)

# Triple and the dubbo protocol of one release, PROTOCOL-SERIALIZATION.
triple_dubbo=3.3.6
triple_serializations=(dubbo-hessian2 tri-hessian2 dubbo-fastjson2 tri-fastjson2 tri-protobuf)

# REST beside the dubbo protocol: the releases, and what each speaks; dubbo-SERIALIZATION, rest-SERVER-FORM of Dubbo 2.7, http1-FORM and http2-FORM of Dubbo 3.
rest_dubbo=2.7.23 rest_threads=10
declare -A rest_rows=(
  [2.7.23]="dubbo-kryo dubbo-kryo+optimizer dubbo-fst dubbo-fst+optimizer dubbo-hessian2 dubbo-fastjson dubbo-java dubbo-nativejava"
  [2.6.0]=dubbo-dubbo
  [2.5.3]=dubbo-json
  [2.7.23-rest]=$(echo rest-{jetty,tomcat,netty}-{json,xml}{,-gzip})
  [3.2.16]="http1-json-3.2.16 http1-xml-3.2.16"
  [3.3.6]="http1-json-3.3.6 http1-xml-3.3.6 http2-json-3.3.6 http2-xml-3.3.6"
)
rest_releases=(2.7.23 2.6.0 2.5.3 2.7.23-rest 3.2.16 3.3.6)

build_load() { # release
  local module classes
  module=$(module_of "$1")
  [[ " ${built:-} " == *" $module "* ]] || build "$module"
  built="${built:-} $module"
  class_path "$1" >/dev/null
  # Without the wrappers that write the truth: they would be measured, too.
  classes=$work/load-classes-$module
  rm -rf "$classes" && cp -r "$work/provider-classes-$module" "$classes" && rm -rf "$classes/META-INF/dubbo"
}

peer() { # release serialization main settings-and-workload...
  local module options=()
  module=$(module_of "$1")
  [ ! -e "$here/$module/jvm.options" ] || options=("@$here/$module/jvm.options")
  local protocol=dubbo serialization=${2%+optimizer}
  case $2 in
    dubbo-* | tri-*) protocol=${serialization%%-*} serialization=${serialization#*-} ;;
    rest-*) # SERVER-FORM
      protocol=rest serialization=${2#rest-*-}
      options+=(-Drig.extra=rest-bids -Drig.server="$(cut -d- -f2 <<<"$2")" -Drig.form="$serialization")
      [[ $2 != *-gzip ]] || options+=(-Drig.extensions=org.dubbowire.rig.rest.GzipRequests)
      ;;
    http[12]-*) # FORM-RELEASE; a client of HTTP calls
      protocol=tri serialization=hessian2
      [[ $1 != 3.2.* ]] || protocol=rest
      options+=(-Drig.extra=rest-forms -Drig.form="$(cut -d- -f2 <<<"$2")")
      [[ $2 != http2-* ]] || options+=(-Drig.http=HTTP_2)
      ;;
  esac
  exec java -Xmx1g "${opens[@]}" "${options[@]}" -Ddubbo.application.logger=log4j -Ddubbo.service.shutdown.wait=500 \
    -Drig.host=$host -Drig.port=$port -Drig.protocol=$protocol -Drig.serialization="$serialization" -Drig.optimizer="$([[ $2 = *+optimizer ]] && echo true || echo false)" \
    "${@:4}" -cp "$work/load-classes-$module:$(class_path "$1")" "org.dubbowire.rig.run.$3" load </dev/null
}

start_provider() { # release serialization
  rm -f "$work"/load-*.log # nobody may wait for what an earlier peer said
  peer "$1" "$2" Provider >"$work/load-provider.log" 2>&1 &
  provider_pid=$!
  wait_for "$work/load-provider.log" READY 60 $provider_pid
}

stop_provider() {
  kill $provider_pid
  wait $provider_pid || true
}

missing() { # table serialization error
  echo "   missing: $3"
  jq -n --arg table "$1" --arg serialization "$2" --arg error "$3" '$ARGS.named' >>"$work/missing.json"
}

# A load in which a call failed is no measurement of the serialization.
check() { # table serialization column log release
  local line
  awk -v method="$3" '$1 == "CALLS" && $2 == method {print $3, $4, $5}' "$4" |
    jq -R --arg table "$1" --arg serialization "$2" --arg method "$3" --arg dubbo "${5%%-*}" \
      'split(" ") | map(tonumber) | {$table, $serialization, $method, $dubbo, calls: .[0], seconds: .[1], meanMicros: .[2]}' >>"$work/callers.json"
  line=$(grep "^LOAD $3 " "$4" || echo "LOAD $3 failed to start: $(grep -m1 Exception "$4" || true)")
  if [ "$line" = "LOAD $3 failed 0" ]; then
    printf '   %s: %s\n' "$3" "$(jq -c '[([.groups[].calls] | add), .coverage.percent]' "$tables/$1/$2.$3.json")"
  else
    rm -f "$tables/$1/$2.$3.json"
    missing "$1" "$2" "$3: ${line#LOAD "$3" failed }"
  fi
}

measure() { # table release threads serialization methods...
  local table=$1 release=$2 threads=$3 serialization=$4 method consumer_pid
  shift 4
  echo "== $table $serialization"
  start_provider "$release" "$serialization"
  # The load goes on for longer than the window that is captured; a new connection takes some of the window, and none of the load.
  peer "$release" "$serialization" Consumer -Drig.load.threads="$threads" -Drig.load.warmUp=$warm_up -Drig.load.seconds=$((seconds + 2)) \
    -Drig.load.fresh=$fresh -Drig.load.methods="$(IFS=, && echo "$*")" >"$work/load-consumer.log" 2>&1 &
  consumer_pid=$!
  for method in "$@"; do
    wait_for "$work/load-consumer.log" "^START $method" 60 $consumer_pid || break
    [ $fresh -gt 0 ] || sleep 0.5
    "$wire" capture lo --port $port --duration ${seconds}s -o "$tables/$table/$serialization.$method.json" 2>"$work/wire.log" || cat "$work/wire.log"
  done
  wait $consumer_pid || true
  stop_provider
  for method in "$@"; do check "$table" "$serialization" "$method" "$work/load-consumer.log" "$release"; done
}

# The machine, and how much else it had to do: the processes that waited for a processor, at the start.
machine() { # calls-release calls-threads traffic-release
  jq -n --arg date "$(date -u +%Y-%m-%d)" --arg cpu "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" --argjson cores "$(nproc)" \
    --argjson memory $(($(awk '/^MemTotal/ {print $2}' /proc/meminfo) * 1024)) --arg kernel "$(uname -r)" \
    --arg jdk "$(java -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.runtime.version = //p')" --argjson load "$load" \
    --arg calls "$1" --arg traffic "$3" --argjson callThreads "$2" --argjson seconds $seconds \
    --argjson trafficThreads $traffic_threads --slurpfile missing "$work/missing.json" --slurpfile callers "$work/callers.json" \
    '{date: $date, cpu: $cpu, cores: $cores, memoryBytes: $memory, kernel: $kernel, jdk: $jdk, load: $load,
      calls: {dubbo: $calls, threads: $callThreads, seconds: $seconds}, traffic: {dubbo: $traffic, threads: $trafficThreads, seconds: $seconds}, missing: $missing, callers: $callers} |
      if $traffic == "" then del(.traffic) else . end'
}

begin() { # set
  tables=$out/$1
  ip link delete outer 2>/dev/null || true # of Dubbo 3 in an earlier set
  rm -rf "$tables" && mkdir -p "$tables/calls" "$tables/traffic"
  : >"$work/missing.json" && : >"$work/callers.json"
  idle
}

# Waits until what built the peers no longer counts, 5 minutes at most, and notes the load average of the last minute.
idle() {
  local i
  for ((i = 0; i < 60; i++)); do
    load=$(cut -d' ' -f1 /proc/loadavg)
    [ "$(jq -n "$load < 0.3")" = false ] || break
    sleep 5
  done
}

published() {
  local serialization
  for serialization in "${calls_serializations[@]}"; do measure calls $calls_dubbo $calls_threads "$serialization" "${calls_methods[@]}"; done
  for serialization in "${traffic_serializations[@]}"; do measure traffic $traffic_dubbo $traffic_threads "$serialization" "${traffic_methods[@]}"; done
  machine $calls_dubbo $calls_threads $traffic_dubbo >"$tables/machine.json"
}

# Dubbo 3 asks for its address with every call of Triple until it has found one beside the loopback, and logs that it has not.
outer_address() {
  ip link show outer >/dev/null 2>&1 || { ip link add outer type veth peer name outer-peer && ip addr add 198.18.0.1/24 dev outer; }
  ip link set outer-peer up && ip link set outer up
}

# A connection of its own for each method: the headers of a connection that was there before the capture cannot be read.
triple() {
  local serialization seconds=4 warm_up=5 fresh=1500
  outer_address
  for serialization in "${triple_serializations[@]}"; do measure calls $triple_dubbo $calls_threads "$serialization" "${calls_methods[@]}"; done
  for serialization in "${triple_serializations[@]}"; do
    case $serialization in
      *-protobuf)
        measure traffic $triple_dubbo $traffic_threads "$serialization" posts
        missing traffic "$serialization" "user, tiny: no messages are declared for them"
        ;;
      *) measure traffic $triple_dubbo $traffic_threads "$serialization" "${traffic_methods[@]}" ;;
    esac
  done
  machine $triple_dubbo $calls_threads $triple_dubbo >"$tables/machine.json"
}

# The published workload, and the text of 50 KB, which is the same with each optimizer and in each form of the object.
rest() {
  local release row fresh methods seconds=4
  for release in "${rest_releases[@]}"; do
    [[ $release != 3.* ]] || outer_address
    for row in ${rest_rows[$release]}; do
      fresh=0 methods=(bid text)
      [[ $row != http2-* ]] || fresh=1500 # as with Triple
      [[ $row != *+optimizer && $row != *-xml* ]] || methods=(bid)
      measure calls "$release" $rest_threads "$row" "${methods[@]}"
    done
  done
  machine $rest_dubbo $rest_threads "" >"$tables/machine.json"
}

lock
if [ "$(ip netns identify)" != dubborig ]; then # before, because Maven and Go need the network
  install_tools
  wire=${1:-$work/dubbo-wire}
  [ -n "${1:-}" ] || (cd "$here/../.." && CGO_ENABLED=0 go build -o "$wire" ./cmd/dubbo-wire)
  [ $# -gt 1 ] || set -- "$wire" published triple rest
  for set in "${@:2}"; do
    case $set in
      published) build_load $calls_dubbo && build_load $traffic_dubbo ;;
      triple) build_load $triple_dubbo ;;
      rest) for release in "${rest_releases[@]}"; do build_load "$release"; done ;;
      *) echo "no tables are named $set" >&2 && exit 2 ;;
    esac
  done
  in_namespace "$(realpath "$wire")" "${@:2}"
fi
wire=$1
for set in "${@:2}"; do begin "$set" && $set; done
