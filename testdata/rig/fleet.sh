# Many applications of all generations at once, each on a host (namespace) of its own: the capture named fleet.
# shellcheck shell=bash disable=SC2034,SC2154 # the settings are those of record in captures.sh

# Who answers: release, address, its serialization, what else it accepts (only Dubbo 3 asks).
fleet_providers=(
  "2.7.23 198.18.0.11 hessian2"
  "2.5.3 198.18.0.12 fastjson" # answers in its own, whatever it was asked in
  "2.6.12 198.18.0.13 kryo"
  "3.2.16 198.18.0.14 kryo fastjson2,jackson,hessian2"
)
# Who asks whom in what: release, address, targets as Fleet.java has them. On a connection that they share all references
# of 2.5 and 2.6 would use one serialization: there each has its own connection. The Kryo 5 of 3.2.16 and the Kryo 4 of 2.7.23 do
# not understand each other.
fleet_consumers=(
  "2.5.3 198.18.0.21 198.18.0.11=hessian2!,java!;198.18.0.12=dubbo!,json!,hessian2!"
  "2.6.12 198.18.0.22 198.18.0.11=hessian2!,kryo!,fastjson!;198.18.0.12=hessian2!"
  "2.7.23 198.18.0.23 198.18.0.11=hessian2,kryo,fst,protostuff,msgpack;198.18.0.12=hessian2!;198.18.0.13=hessian2,fst,kryo"
  "3.2.16 198.18.0.24 198.18.0.11=hessian2,kryo!;198.18.0.14=kryo,fastjson2,jackson"
  "3.3.6 198.18.0.25 198.18.0.11=hessian2;198.18.0.14=fastjson2,hessian2"
)
fleet_telnet=2.7.23 # this consumer sends text, too

# A host with Ethernet to all others, MTU 1500, segments cut by TCP itself and not by the card. The bridge sees every packet once.
fleet_host() { # number address
  local ns=dubborig-$1
  ip netns delete "$ns" 2>/dev/null || true
  ip netns add "$ns"
  ip link add "port-$1" type veth peer name "inner-$1"
  ip link set "inner-$1" netns "$ns"
  ip link set "port-$1" master fleet up
  ip -n "$ns" addr add "$2/24" dev "inner-$1"
  ip -n "$ns" link set lo up
  ip -n "$ns" link set "inner-$1" up
  ethtool -K "port-$1" tso off gso off gro off tx off >/dev/null
  ip netns exec "$ns" ethtool -K "inner-$1" tso off gso off gro off tx off >/dev/null
}

fleet_talks() {
  local entry version address accepted rest number=0 providers=() consumers=() pid
  ip link delete fleet 2>/dev/null || true
  ip link add fleet type bridge
  ip link set fleet up
  iface=fleet
  start_sniffer
  rm -f "$work/gate" "$work/stdin" && mkfifo "$work/stdin"
  for entry in "${fleet_providers[@]}"; do
    read -r version address serialization accepted <<<"$entry"
    number=$((number + 1)) host=$address properties=${accepted:+-Drig.accepted=$accepted}
    fleet_host $number "$address"
    (java_side "provider-$version" "$version" dubborig-$number Provider) >"$work/provider-$version.log" 2>&1 &
    providers+=($!)
    wait_for "$work/provider-$version.log" READY 60 $!
  done
  exec 7<>"$work/stdin" # all consumers read from it, and end when it is closed
  for entry in "${fleet_consumers[@]}"; do
    read -r version address rest <<<"$entry"
    number=$((number + 1)) host=198.18.0.11 serialization=hessian2 properties=
    fleet_host $number "$address"
    (fleet_consumer "$version" dubborig-$number "$rest") <"$work/stdin" >"$work/consumer-$version.log" 2>&1 7>&- &
    consumers+=($!)
    wait_for "$work/consumer-$version.log" ^CONNECTED 60 $!
  done
  touch "$work/gate"
  for entry in "${fleet_consumers[@]}"; do wait_for "$work/consumer-${entry%% *}.log" ^DONE 120; done
  for pid in "${providers[@]}"; do kill -TERM "$pid"; wait "$pid" || true; done # they say farewell while the consumers stay
  sleep 0.3
  exec 7>&-
  for pid in "${consumers[@]}"; do wait "$pid" || true; done
  stop_sniffer
  ip link delete fleet
  while [ $number -gt 0 ]; do
    ip netns delete dubborig-$number
    number=$((number - 1))
  done
}

fleet_consumer() { # version netns targets: on becomes the consumer
  local telnet=false
  [ "$1" != $fleet_telnet ] || telnet=true
  properties+=" -Drig.targets=$3 -Drig.gate=$work/gate -Drig.fleet.telnet=$telnet"
  java_side "consumer-$1" "$1" "$2" Consumer fleet
}
