# Captures of what networks put around packets: tunnels, tags and labels, fragments, mirrors, both ends. Each function is the
# `talk` of a capture: it builds the network, lets provider and consumer talk over it, and takes it down.
# shellcheck shell=bash disable=SC2034,SC2154 # the settings are those of record in captures.sh
#
# What the kernel cannot do is Open vSwitch's work: a switch in user space on each host (datapath_type=netdev) makes the same
# bytes. The applications' own interface is `over`; what is recorded is the cable, `inner-b`.

# Two hosts with a cable between them, MTU 1500, segments cut by TCP itself and not by the card.
start_cable() {
  local side
  for side in a b; do
    ip netns delete "dubborig-$side" 2>/dev/null || true
    ip netns add "dubborig-$side"
    ip -n "dubborig-$side" link set lo up
    ip netns exec "dubborig-$side" sysctl -qw net.ipv6.conf.all.disable_ipv6="${quiet6:-1}"
  done
  ip -n dubborig-a link add inner-a type veth peer name inner-b netns dubborig-b
  for side in a b; do
    ip -n "dubborig-$side" link set inner-$side up
    ip netns exec "dubborig-$side" ethtool -K inner-$side tso off gso off gro off tx off >/dev/null
  done
}

# What provider and consumer are told, once the network is there.
on_cable() {
  host=${far:-198.18.0.2} consumer_ns=dubborig-a provider_ns=dubborig-b iface=${iface_of_cable:-inner-b}
  sniff_prefix="ip netns exec ${sniff_ns:-dubborig-b}"
  two_talk
}

# A switch on a host: bridge `over` with the applications' interface. Sets sw, the ovs-vsctl of that host.
start_switch() { # side
  local run=$work/ovs-$1
  trap 'stop_switches; kill $(jobs -p) 2>/dev/null || true' EXIT
  command -v ovs-vswitchd >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq openvswitch-switch; }
  rm -rf "$run" && mkdir "$run"
  ovsdb-tool create "$run/conf.db" /usr/share/openvswitch/vswitch.ovsschema
  export OVS_RUNDIR=$run
  ip netns exec "dubborig-$1" ovsdb-server "$run/conf.db" --remote="punix:$run/db.sock" --pidfile="$run/ovsdb.pid" --detach --log-file="$run/ovsdb.log" -vconsole:off 7>&- 9>&-
  sw="ovs-vsctl --db=unix:$run/db.sock --timeout=20"
  $sw --no-wait init
  ip netns exec "dubborig-$1" ovs-vswitchd "unix:$run/db.sock" --pidfile="$run/vswitchd.pid" --detach --log-file="$run/vswitchd.log" -vconsole:off 7>&- 9>&-
  $sw add-br over -- set bridge over datapath_type=netdev
}

stop_switches() {
  local side pid
  for side in a b; do
    for pid in vswitchd ovsdb; do
      kill "$(cat "$work/ovs-$side/$pid.pid")" 2>/dev/null || true
    done
  done
  sleep 0.5
}

flow() { # side flow
  OVS_RUNDIR=$work/ovs-$1 ovs-ofctl -O OpenFlow15 add-flow "unix:$work/ovs-$1/over.mgmt" "$2"
}

mac_of() { # side interface
  ip netns exec "dubborig-$1" cat "/sys/class/net/$2/address"
}

# The address of the applications' interface, and the neighbour's, so that nobody asks for it.
address_over() { # side own mtu
  ip -n "dubborig-$1" addr add "$2/24" dev over
  ip -n "dubborig-$1" link set over mtu "$3" up
  ip netns exec "dubborig-$1" ethtool -K over tx off >/dev/null
}

neighbours() {
  ip -n dubborig-a neigh replace 198.18.0.2 lladdr "$(mac_of b over)" dev over
  ip -n dubborig-b neigh replace 198.18.0.1 lladdr "$(mac_of a over)" dev over
}

# tunnel: type and options of Open vSwitch's port. One that carries IP without Ethernet gets its addresses anew behind it.
tunnel_talk() {
  local side number peer type options out
  read -r type options <<<"$tunnel"
  start_cable
  for side in a b; do
    [ $side = a ] && number=1 peer=2 || number=2 peer=1
    start_switch $side
    $sw add-br cable -- set bridge cable datapath_type=netdev -- add-port cable inner-$side
    ip -n dubborig-$side addr add 198.18.9.$number/24 dev cable
    ip -n dubborig-$side link set cable up
    # shellcheck disable=SC2086
    $sw add-port over out -- set interface out type=$type options:remote_ip=198.18.9.$peer $options ofport_request=9
    address_over $side 198.18.0.$number 1400
  done
  neighbours
  case $options in
    *legacy_l3*)
      for side in a b; do
        flow $side "priority=10,in_port=LOCAL,ip,actions=output:9"
        flow $side "priority=10,in_port=9,actions=set_field:$(mac_of $side over)->eth_dst,output:LOCAL"
      done
      ;;
  esac
  sleep 1
  on_cable
  stop_switches
}

# push and pop: what the switches do to a packet on its way to the cable, and from it; then: a second flow on the way from it.
tags_talk() {
  local side number
  start_cable
  for side in a b; do
    [ $side = a ] && number=1 || number=2
    start_switch $side
    $sw set Open_vSwitch . other_config:vlan-limit=2 -- add-port over inner-$side -- set interface inner-$side ofport_request=9
    address_over $side 198.18.0.$number 1450
  done
  neighbours
  for side in a b; do
    [ $side = a ] && number=b || number=a
    OVS_RUNDIR=$work/ovs-$side ovs-ofctl -O OpenFlow15 del-flows "unix:$work/ovs-$side/over.mgmt"
    flow $side "priority=10,in_port=LOCAL,ip,actions=${push//PEER/$(mac_of $number over)},output:9"
    flow $side "priority=10,in_port=9,${match:-eth_type=$kind},actions=${pop//SELF/$(mac_of $side over)}"
    [ -z "$then" ] || flow $side "table=1,priority=10,in_port=9,$then"
  done
  sleep 1
  on_cable
  stop_switches
}

# VXLAN as the kernel makes it. An overlay with the MTU of the cable makes fragments of the outer packets.
vxlan_talk() { # settings: vxlan (arguments of ip link), mtu
  local side number peer net=198.18.9. bits=24
  start_cable
  for side in a b; do
    [ $side = a ] && number=1 peer=2 || number=2 peer=1
    ip -n dubborig-$side addr add $net$number/$bits dev inner-$side
    # shellcheck disable=SC2086
    ip -n dubborig-$side link add over type vxlan id 100 local $net$number remote $net$peer $vxlan
    address_over $side 198.18.0.$number "$mtu"
    ip netns exec dubborig-$side ethtool -K over tso off gso off gro off >/dev/null
  done
  neighbours
  on_cable
}

# IP in IP, by tunnel.py. An inner MTU as large as the cable's makes fragments of the outer packets.
ipip_talk() { # settings: outer, inner (the first half of the addresses: 198.18.9. or fd00:9::), mtu
  local side number peer bits=24 relays=()
  quiet6=0
  start_cable
  for side in a b; do
    [ $side = a ] && number=1 peer=2 || number=2 peer=1
    [[ $outer == *:* ]] && bits=64 || bits=24
    ip -n dubborig-$side addr add "$outer$number/$bits" dev inner-$side $([[ $outer == *:* ]] && echo nodad)
  done
  for side in a b; do
    [ $side = a ] && number=1 peer=2 || number=2 peer=1
    ip netns exec dubborig-$side python3 "$here/tunnel.py" over "$outer$number" "$outer$peer" >"$work/tunnel-$side.log" 2>&1 7>&- &
    relays+=($!)
    wait_for "$work/tunnel-$side.log" "tunnel ready" 10 $!
    [[ $inner == *:* ]] && bits=64 || bits=24
    ip -n dubborig-$side link set over mtu "$mtu" up
    ip -n dubborig-$side addr add "$inner$number/$bits" dev over $([[ $inner == *:* ]] && echo nodad)
  done
  far=${inner}2
  on_cable
  kill "${relays[@]}"
  far='' quiet6=
}

# Two routers between the hosts, with a cable of MTU 576 between them, and hosts that let their packets be cut.
narrow_talk() {
  local ns
  start_cable
  for ns in r s; do
    ip netns delete dubborig-$ns 2>/dev/null || true
    ip netns add dubborig-$ns
    ip netns exec dubborig-$ns sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.disable_ipv6=1
  done
  ip -n dubborig-a link delete inner-a
  ip -n dubborig-a link add inner-a type veth peer name to-a netns dubborig-r
  ip -n dubborig-r link add narrow-r type veth peer name narrow-s netns dubborig-s
  ip -n dubborig-b link add inner-b type veth peer name to-b netns dubborig-s
  ip -n dubborig-a addr add 198.18.1.1/24 dev inner-a
  ip -n dubborig-r addr add 198.18.1.2/24 dev to-a
  ip -n dubborig-r addr add 198.18.3.1/24 dev narrow-r
  ip -n dubborig-s addr add 198.18.3.2/24 dev narrow-s
  ip -n dubborig-s addr add 198.18.2.2/24 dev to-b
  ip -n dubborig-b addr add 198.18.2.1/24 dev inner-b
  for ns in "a inner-a" "r to-a" "r narrow-r" "s narrow-s" "s to-b" "b inner-b"; do
    ip -n "dubborig-${ns% *}" link set "${ns#* }" up
    ip netns exec "dubborig-${ns% *}" ethtool -K "${ns#* }" tso off gso off gro off tx off >/dev/null
  done
  ip -n dubborig-r link set narrow-r mtu 576
  ip -n dubborig-s link set narrow-s mtu 576
  ip -n dubborig-a route add default via 198.18.1.2
  ip -n dubborig-b route add default via 198.18.2.2
  ip -n dubborig-r route add 198.18.2.0/24 via 198.18.3.2
  ip -n dubborig-s route add 198.18.1.0/24 via 198.18.3.1
  for ns in a b; do
    ip netns exec dubborig-$ns sysctl -qw net.ipv4.ip_no_pmtu_disc=1
  done
  far=198.18.2.1 iface_of_cable=narrow-s sniff_ns=dubborig-s
  on_cable
  far='' iface_of_cable='' sniff_ns=''
}

# The cable with the card's offloads on: segments of up to 64 KiB, checksums not filled in.
offload_talk() {
  local side number
  start_cable
  for side in a b; do
    [ $side = a ] && number=1 || number=2
    ip netns exec dubborig-$side ethtool -K inner-$side tso on gso on gro on tx on >/dev/null
    ip -n dubborig-$side addr add 198.18.0.$number/24 dev inner-$side
  done
  on_cable
}

# A bridge between the hosts. Who watches it sees each packet at both ports.
bridge_talk() {
  local side number
  start_cable
  ip netns delete dubborig-r 2>/dev/null || true
  ip netns add dubborig-r
  ip netns exec dubborig-r sysctl -qw net.ipv6.conf.all.disable_ipv6=1
  ip -n dubborig-a link delete inner-a
  ip -n dubborig-r link add bridge type bridge
  ip -n dubborig-r link set bridge up
  for side in a b; do
    [ $side = a ] && number=1 || number=2
    ip -n dubborig-$side link add inner-$side type veth peer name port-$side netns dubborig-r
    ip -n dubborig-r link set port-$side master bridge up
    ip -n dubborig-$side addr add 198.18.0.$number/24 dev inner-$side
    ip -n dubborig-$side link set inner-$side up
    ip netns exec dubborig-$side ethtool -K inner-$side tso off gso off gro off tx off >/dev/null
    ip netns exec dubborig-r ethtool -K port-$side tso off gso off gro off tx off >/dev/null
  done
  iface_of_cable=$watched sniff_ns=dubborig-r
  on_cable
  iface_of_cable='' sniff_ns=''
}

# The packets at both hosts, in two files: the consumer's is NAME.consumer.pcap.zst.
both_talk() {
  local side number other
  start_cable
  for side in a b; do
    [ $side = a ] && number=1 || number=2
    ip -n dubborig-$side addr add 198.18.0.$number/24 dev inner-$side
  done
  ip netns exec dubborig-a tcpdump -i inner-a -B 65536 -U -n -w "$work/raw.consumer" "$filter" >"$work/sniffer.consumer.log" 2>&1 7>&- &
  other=$!
  wait_for "$work/sniffer.consumer.log" "listening on" 10
  on_cable
  kill -INT $other
  wait $other || true
  grep -q "^0 packets dropped by kernel" "$work/sniffer.consumer.log"
  zstd -q -19 --long=24 -f "$work/raw.consumer" -o "$out/$name.consumer.pcap.zst"
}

# What netfilter logs of the packets that go out and come in at the provider.
nflog_talk() {
  local side number chain
  start_cable
  for side in a b; do
    [ $side = a ] && number=1 || number=2
    ip -n dubborig-$side addr add 198.18.0.$number/24 dev inner-$side
  done
  command -v nft >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nftables; }
  ip netns exec dubborig-b nft -f - <<<"table ip seen {
    chain in { type filter hook input priority 0; tcp dport $port log group 5; }
    chain out { type filter hook output priority 0; tcp sport $port log group 5; }
  }"
  iface_of_cable=nflog:5
  on_cable
  iface_of_cable=''
}
