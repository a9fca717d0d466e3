#!/usr/bin/env bash
# Measures the live tables with real Dubbo peers under load: tables.sh [DUBBO-WIRE]
# Leaves what dubbo-wire reports in tables/: calls/SERIALIZATION.METHOD.json, traffic/SERIALIZATION.WORKLOAD.json, and
# machine.json about the machine and what could not be measured. Needs root, Java 17, Maven, Go (without DUBBO-WIRE);
# about 8 minutes, and nothing else may run meanwhile: JVMs and dubbo-wire share the processors.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
tables=${RIG_OUT:-$here/tables} # another folder for trials
host=127.0.0.1

# calls: the four methods of dubbo-benchmark's UserService, each by many threads for some seconds.
calls_dubbo=2.7.23 calls_threads=32 calls_seconds=5 warm_up=3 # seconds of each method before any is measured
calls_serializations=(kryo kryo+optimizer fst fst+optimizer hessian2 fastjson)
calls_methods=(createUser existUser getUser listUser)
# traffic: a number of calls of the three workloads of smartbuf-dubbo; few threads, so that no packet is missed.
traffic_dubbo=2.6.12 traffic_threads=4
traffic_serializations=(fastjson fst fst+optimizer hessian2 kryo kryo+optimizer smartbuf)
declare -A traffic_calls=([posts]=400 [user]=3000 [tiny]=10000)

build_load() { # release
  local module classes
  module=$(module_of "$1")
  build "$module"
  class_path "$1" >/dev/null
  # Without the wrappers that write the truth: they would be measured, too.
  classes=$work/load-classes-$module
  rm -rf "$classes" && cp -r "$work/provider-classes-$module" "$classes" && rm -rf "$classes/META-INF/dubbo"
}

peer() { # release serialization main settings-and-workload...
  local module options=()
  module=$(module_of "$1")
  [ ! -e "$here/$module/jvm.options" ] || options=("@$here/$module/jvm.options")
  exec java -Xmx1g "${opens[@]}" "${options[@]}" -Ddubbo.application.logger=log4j -Ddubbo.service.shutdown.wait=500 \
    -Drig.host=$host -Drig.port=$port -Drig.serialization="${2%+optimizer}" -Drig.optimizer="$([[ $2 = *+optimizer ]] && echo true || echo false)" \
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
check() { # table serialization column log
  local line
  line=$(grep "^LOAD $3 " "$4" || echo "LOAD $3 failed to start: $(grep -m1 Exception "$4" || true)")
  if [ "$line" = "LOAD $3 failed 0" ]; then
    printf '   %s: %s\n' "$3" "$(jq -c '[([.groups[].calls] | add), .coverage.percent]' "$tables/$1/$2.$3.json")"
  else
    rm -f "$tables/$1/$2.$3.json"
    missing "$1" "$2" "$3: ${line#LOAD "$3" failed }"
  fi
}

measure_calls() { # serialization
  local method consumer_pid
  echo "== calls $1"
  start_provider $calls_dubbo "$1"
  # The load goes on for longer than the window that is captured.
  peer $calls_dubbo "$1" Consumer -Drig.load.threads=$calls_threads -Drig.load.warmUp=$warm_up -Drig.load.seconds=$((calls_seconds + 2)) \
    -Drig.load.methods="$(IFS=, && echo "${calls_methods[*]}")" >"$work/load-consumer.log" 2>&1 &
  consumer_pid=$!
  for method in "${calls_methods[@]}"; do
    wait_for "$work/load-consumer.log" "^START $method" 60 $consumer_pid || break
    sleep 0.5
    "$wire" capture lo --port $port --duration ${calls_seconds}s -o "$tables/calls/$1.$method.json" 2>"$work/wire.log" || cat "$work/wire.log"
  done
  wait $consumer_pid || true
  stop_provider
  for method in "${calls_methods[@]}"; do check calls "$1" "$method" "$work/load-consumer.log"; done
}

measure_traffic() { # serialization
  local workload wire_pid
  echo "== traffic $1"
  start_provider $traffic_dubbo "$1"
  for workload in posts user tiny; do
    "$wire" capture lo --port $port -o "$tables/traffic/$1.$workload.json" 2>"$work/wire.log" &
    wire_pid=$!
    sleep 0.5
    (peer $traffic_dubbo "$1" Consumer -Drig.load.threads=$traffic_threads -Drig.load.calls="${traffic_calls[$workload]}" \
      -Drig.load.methods="$workload") >"$work/load-consumer.log" 2>&1 || true
    sleep 0.5
    kill -INT $wire_pid
    wait $wire_pid || cat "$work/wire.log"
    check traffic "$1" "$workload" "$work/load-consumer.log"
  done
  stop_provider
}

machine() {
  jq -n --arg date "$(date -u +%Y-%m-%d)" --arg cpu "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" --argjson cores "$(nproc)" \
    --argjson memory $(($(awk '/^MemTotal/ {print $2}' /proc/meminfo) * 1024)) --arg kernel "$(uname -r)" \
    --arg jdk "$(java -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.runtime.version = //p')" \
    --arg calls $calls_dubbo --arg traffic $traffic_dubbo --argjson callThreads $calls_threads --argjson seconds $calls_seconds \
    --argjson trafficThreads $traffic_threads --slurpfile missing "$work/missing.json" \
    '{date: $date, cpu: $cpu, cores: $cores, memoryBytes: $memory, kernel: $kernel, jdk: $jdk,
      calls: {dubbo: $calls, threads: $callThreads, seconds: $seconds}, traffic: {dubbo: $traffic, threads: $trafficThreads}, missing: $missing}'
}

lock
if [ "$(ip netns identify)" != dubborig ]; then # before, because Maven and Go need the network
  install_tools
  wire=${1:-$work/dubbo-wire}
  [ -n "${1:-}" ] || (cd "$here/../.." && CGO_ENABLED=0 go build -o "$wire" ./cmd/dubbo-wire)
  build_load $calls_dubbo
  build_load $traffic_dubbo
  in_namespace "$(realpath "$wire")"
fi
wire=$1
rm -rf "$tables/calls" "$tables/traffic" && mkdir -p "$tables/calls" "$tables/traffic"
: >"$work/missing.json"
for serialization in "${calls_serializations[@]}"; do measure_calls "$serialization"; done
missing calls triple "dubbo-wire counts HTTP/2 connections, it does not read the calls inside yet"
for serialization in "${traffic_serializations[@]}"; do measure_traffic "$serialization"; done
machine >"$tables/machine.json"
