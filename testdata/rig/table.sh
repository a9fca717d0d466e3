# The captures: one line each, NAME and what differs from the defaults of record() in captures.sh. `dubbo=` chooses the release and with it the module.
# shellcheck shell=bash

capture() { # name settings...
  if [ -z "$wanted_name" ] || [ "$wanted_name" = "$1" ]; then
    found=yes
    $action "$@"
  fi
}

all_captures() {
  wanted_name=$1
  local s

  # The published workloads and the edge set in every serialization.
  for s in hessian2 java compactedjava nativejava fastjson gson kryo fst kryo2 protostuff avro msgpack native-hessian smartbuf; do
    capture $s serialization=$s
    capture edge-$s serialization=$s workloads=edge heartbeat=1000
  done
  for s in kryo fst; do
    capture $s-optimizer serialization=$s optimizer=true
    capture edge-$s-optimizer serialization=$s optimizer=true workloads=edge heartbeat=1000
  done

  # Other releases: other envelopes and another hessian-lite.
  for s in 2.7.8 2.7.3; do
    capture hessian2-$s dubbo=$s
    capture edge-hessian2-$s dubbo=$s workloads=edge heartbeat=1000
  done

  # Protostuff had id 10 in 2.7.0 and 2.7.1; since 2.7.2 that is native-hessian's.
  for s in protostuff hessian2; do
    capture $s-2.7.1 dubbo=2.7.1 serialization=$s
    capture edge-$s-2.7.1 dubbo=2.7.1 serialization=$s workloads=edge heartbeat=1000
  done

  # 2.5: ids that later releases do not have (dubbo, json), attachments always as an object, field 1 is the release.
  for s in dubbo json hessian2 java compactedjava nativejava fastjson; do
    capture edge-$s-2.5.3 dubbo=2.5.3 serialization=$s workloads=edge heartbeat=1000
    [ $s = dubbo ] || capture $s-2.5.3 dubbo=2.5.3 serialization=$s workloads="published undated"
  done
  capture dubbo-2.5.3 dubbo=2.5.3 serialization=dubbo # looks at the class of a field even where it is null
  capture hessian2-2.5.10 dubbo=2.5.10 workloads="published undated"
  capture edge-hessian2-2.5.10 dubbo=2.5.10 workloads=edge heartbeat=1000

  # Messages. In 2.7.5 both serializations have id 21; since 2.7.6 protobuf has 22.
  for s in 2.7.5 2.7.23; do
    capture protobuf-$s dubbo=$s serialization=protobuf workloads=protobuf heartbeat=1000
    capture protobuf-json-$s dubbo=$s serialization=protobuf-json workloads=protobuf heartbeat=1000
  done

  # 2.6: answers have attachments, maps are objects still; the Kryo and FST of its days.
  for s in hessian2 java compactedjava nativejava fastjson kryo fst smartbuf; do
    capture $s-2.6.12 dubbo=2.6.12 serialization=$s
    capture edge-$s-2.6.12 dubbo=2.6.12 serialization=$s workloads=edge heartbeat=1000
  done
  for s in kryo fst; do
    capture $s-optimizer-2.6.12 dubbo=2.6.12 serialization=$s optimizer=true
    capture edge-$s-optimizer-2.6.12 dubbo=2.6.12 serialization=$s optimizer=true workloads=edge heartbeat=1000
  done
  capture dubbo-2.6.0 dubbo=2.6.0 serialization=dubbo
  capture edge-dubbo-2.6.0 dubbo=2.6.0 serialization=dubbo workloads=edge heartbeat=1000

  capture mixed-2.6.12 dubbo=2.6.12 workloads=mixed serializations=hessian2,java,compactedjava,nativejava,fastjson,kryo,fst,smartbuf \
    note="three references per serialization share one connection"
  capture exhausted-2.5.3 dubbo=2.5.3 workloads=exhausted threads=4 payload=20000 note="four provider threads, payload limit 20000 bytes at the provider"
  capture exhausted-2.6.12 dubbo=2.6.12 workloads=exhausted threads=4 payload=20000 note="four provider threads, payload limit 20000 bytes at the provider"

  # Many calls at once; several serializations on one connection; refusals.
  capture interleaved workloads=interleaved
  capture mixed workloads=mixed serializations=hessian2,java,compactedjava,nativejava,fastjson,gson,kryo,fst,kryo2,protostuff,avro,msgpack,native-hessian,smartbuf \
    note="three references per serialization share one connection"
  capture exhausted workloads=exhausted threads=4 payload=20000 note="four provider threads, payload limit 20000 bytes at the provider"

  # File formats and link types, with little traffic.
  capture bid-plain workloads=bid file=bid-plain.pcap
  capture bid-nanoseconds workloads=bid file=bid-nanoseconds.pcap tcpdump_options=--time-stamp-precision=nano
  capture bid-gzip workloads=bid file=bid-gzip.pcap.gz
  capture bid-pcapng workloads=bid file=bid-pcapng.pcapng sniffer=dumpcap
  capture bid-cooked2 workloads=bid file=bid-cooked2.pcap.zst iface=any
  capture bid-cooked1 workloads=bid file=bid-cooked1.pcap.gz iface=any "tcpdump_options=-y LINUX_SLL"
  capture bid-ipv6 workloads=bid file=bid-ipv6.pcap host=::1

  # What a network does, and what an observer misses. The truth holds all frames sent.
  capture mtu1500 workloads=conditions wire="0 0 0" note="Ethernet, MTU 1500, offloads off"
  capture loss workloads=conditions repeat=2 wire="0.02 0.03 0.01" note="2 % of the segments lost, 3 % overtaken, 1 % repeated; captured at the provider's interface"
  capture snap200 workloads=conditions "tcpdump_options=-s 200" complete=false note="snap length 200: longer packets are cut"
  capture midway workloads=conditions repeat=2 pause=8 late_start=0.2 complete=false note="the capture starts while calls are running"
  capture requests-only workloads=conditions "filter=tcp dst port $port" complete=false note="only packets towards the provider"
  capture responses-only workloads=conditions "filter=tcp src port $port" complete=false note="only packets from the provider"

  # Dubbo 3: what each release ships, and the serializations of its extensions, run with 3.2.
  for s in 3.2.16 3.3.6; do
    capture hessian2-$s dubbo=$s
    capture edge-hessian2-$s dubbo=$s workloads=edge heartbeat=1000
    capture fastjson2-$s dubbo=$s serialization=fastjson2
    capture edge-fastjson2-$s dubbo=$s serialization=fastjson2 workloads=edge heartbeat=1000
  done
  for s in kryo jackson fastjson fury fury-compatible kryo2 msgpack gson fst protostuff avro native-hessian java compactedjava nativejava; do
    capture $s-3.2.16 dubbo=3.2.16 serialization=$s
    capture edge-$s-3.2.16 dubbo=3.2.16 serialization=$s workloads=edge heartbeat=1000
  done
}
