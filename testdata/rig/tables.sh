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

# Each method is called by many threads for some seconds, after all were for a while.
seconds=5 warm_up=3
# calls: the four methods of dubbo-benchmark's UserService.
calls_dubbo=2.7.23 calls_threads=32
calls_serializations=(kryo kryo+optimizer fst fst+optimizer hessian2 fastjson)
calls_methods=(createUser existUser getUser listUser)
# traffic: the three workloads of smartbuf-dubbo.
traffic_dubbo=2.6.12 traffic_threads=4
traffic_serializations=(fastjson fst fst+optimizer hessian2 kryo kryo+optimizer smartbuf)
traffic_methods=(posts user tiny)

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

measure() { # table release threads serialization methods...
  local table=$1 release=$2 threads=$3 serialization=$4 method consumer_pid
  shift 4
  echo "== $table $serialization"
  start_provider "$release" "$serialization"
  # The load goes on for longer than the window that is captured.
  peer "$release" "$serialization" Consumer -Drig.load.threads="$threads" -Drig.load.warmUp=$warm_up -Drig.load.seconds=$((seconds + 4)) \
    -Drig.load.methods="$(IFS=, && echo "$*")" >"$work/load-consumer.log" 2>&1 &
  consumer_pid=$!
  for method in "$@"; do
    wait_for "$work/load-consumer.log" "^START $method" 60 $consumer_pid || break
    sleep 0.5
    "$wire" capture lo --port $port --duration ${seconds}s -o "$tables/$table/$serialization.$method.json" 2>"$work/wire.log" || cat "$work/wire.log"
  done
  wait $consumer_pid || true
  stop_provider
  for method in "$@"; do check "$table" "$serialization" "$method" "$work/load-consumer.log"; done
}

machine() {
  jq -n --arg date "$(date -u +%Y-%m-%d)" --arg cpu "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" --argjson cores "$(nproc)" \
    --argjson memory $(($(awk '/^MemTotal/ {print $2}' /proc/meminfo) * 1024)) --arg kernel "$(uname -r)" \
    --arg jdk "$(java -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.runtime.version = //p')" \
    --arg calls $calls_dubbo --arg traffic $traffic_dubbo --argjson callThreads $calls_threads --argjson seconds $seconds \
    --argjson trafficThreads $traffic_threads --slurpfile missing "$work/missing.json" \
    '{date: $date, cpu: $cpu, cores: $cores, memoryBytes: $memory, kernel: $kernel, jdk: $jdk,
      calls: {dubbo: $calls, threads: $callThreads, seconds: $seconds}, traffic: {dubbo: $traffic, threads: $trafficThreads, seconds: $seconds}, missing: $missing}'
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
for serialization in "${calls_serializations[@]}"; do measure calls $calls_dubbo $calls_threads "$serialization" "${calls_methods[@]}"; done
missing calls triple "connections of HTTP/2 are counted, the calls inside are not read yet"
for serialization in "${traffic_serializations[@]}"; do measure traffic $traffic_dubbo $traffic_threads "$serialization" "${traffic_methods[@]}"; done
machine >"$tables/machine.json"
