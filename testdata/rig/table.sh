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
  local s form

  # The published workloads and the edge set in every serialization.
  for s in hessian2 java compactedjava nativejava fastjson gson kryo fst kryo2 protostuff avro msgpack native-hessian smartbuf; do
    capture $s serialization=$s
    capture edge-$s serialization=$s workloads=edge heartbeat=1000
  done
  for s in kryo fst; do
    capture $s-optimizer serialization=$s optimizer=true
    capture edge-$s-optimizer serialization=$s optimizer=true workloads=edge heartbeat=1000
  done

  # Two applications with optimizers of their own: the same number stands for different classes.
  for s in kryo fst; do
    capture two-optimizers-$s serialization=$s talk=optimizers_talk optimizer=true second_optimizer=org.dubbowire.rig.apache.UsersOptimizer \
      workloads="bid some-users" filter="tcp portrange 20880-20881" note="two providers, each with its own consumer and optimizer"
  done

  # Provider and consumer have different versions of the same classes.
  for s in kryo kryo2 fst compactedjava; do
    capture skew-$s serialization=$s workloads=skew properties=-Drig.extra=skew note="provider and consumer have different versions of the same classes"
  done
  for s in kryo-2.6.12 fst-2.6.12 kryo-3.2.16 fst-3.2.16; do
    capture skew-$s dubbo=${s#*-} serialization=${s%-*} workloads=skew properties=-Drig.extra=skew note="provider and consumer have different versions of the same classes"
  done

  # Random graphs of the models, whose classes have all that makes a difference to formats without names.
  for s in kryo kryo-optimizer kryo-2.6.12 kryo-3.2.16 kryo-optimizer-3.2.16 kryo2 kryo2-3.2.16 \
    fst fst-optimizer fst-2.6.12 fst-optimizer-2.6.12 fst-3.2.16 fst-optimizer-3.2.16 compactedjava compactedjava-2.6.12 compactedjava-3.2.16; do
    models $s
  done

  # Other releases: other envelopes and another hessian-lite.
  for s in 2.7.8 2.7.3; do
    capture hessian2-$s dubbo=$s
    capture edge-hessian2-$s dubbo=$s workloads=edge heartbeat=1000
  done

  # Protostuff had id 10 in 2.7.0 and 2.7.1; since 2.7.2 that is native-hessian's.
  # 2.7.0 writes nested messages with a length, as protocol buffers do; 2.7.1 as groups.
  capture protostuff-2.7.0 dubbo=2.7.0 serialization=protostuff
  capture edge-protostuff-2.7.0 dubbo=2.7.0 serialization=protostuff workloads=edge heartbeat=1000
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
  # Kryo of 2.6.0 to 2.6.5 writes classes of the JDK through Java streams.
  capture kryo-2.6.0 dubbo=2.6.0 serialization=kryo
  capture edge-kryo-2.6.0 dubbo=2.6.0 serialization=kryo workloads=edge heartbeat=1000

  # Forks of Dubbo, of whose jars none is served: a codec with their order of fields (ForkCodec) on the serializations of 2.6.0, which are Dubbox's.
  local forks="no release of Dubbo: the rig's ForkCodec writes request bodies in the order of fields of"
  for s in kryo fst hessian2 java; do
    capture dubbox-$s dubbo=2.6.0 serialization=$s workloads="bid edge" heartbeat=1000 properties=-Drig.layout=DUBBOX note="$forks Dubbox 2.8.4"
  done
  for s in kryo fst; do
    capture dubbox-older-$s dubbo=2.6.0 serialization=$s workloads="bid edge" heartbeat=1000 properties=-Drig.layout=OLDER_DUBBOX note="$forks Dubbox before 2.8.4"
  done
  # With the Kryo that Dubbox brings.
  local kryo="Kryo 2.24.0 and kryo-serializers 0.26, as Dubbox 2.8.4 has them; $forks Dubbox 2.8.4"
  capture dubbox-kryo-2.24 dubbo=2.6.0 libraries=dubbox serialization=kryo workloads="bid edge" heartbeat=1000 properties=-Drig.layout=DUBBOX note="$kryo"
  capture models-kryo-2.24 dubbo=2.6.0 libraries=dubbox serialization=kryo workloads=models properties="-Drig.layout=DUBBOX -Drig.extra=models" note="random graphs of models whose classes have all that makes a difference; $kryo"
  # With the FST that Dubbox brings.
  local fst="FST 1.55, as Dubbox 2.8.4 has it; $forks Dubbox 2.8.4"
  capture dubbox-fst-1.55 dubbo=2.6.0 libraries=dubbox serialization=fst workloads="bid edge" heartbeat=1000 properties=-Drig.layout=DUBBOX note="$fst"
  capture models-fst-1.55 dubbo=2.6.0 libraries=dubbox serialization=fst workloads=models properties="-Drig.layout=DUBBOX -Drig.extra=models" note="random graphs of models whose classes have all that makes a difference; $fst"
  for s in kryo hessian2; do
    capture fork-$s dubbo=2.6.0 serialization=$s workloads="bid" properties=-Drig.layout=UNKNOWN note="$forks a fork that is made up"
  done

  # A connection has one serialization here, and the provider answers in its own, whatever it was asked in.
  capture mixed-2.5.3 dubbo=2.5.3 workloads=mixed serializations=dubbo,json,hessian2,java,compactedjava,nativejava,fastjson properties=-Drig.connections=1 \
    note="each reference has its own connection; the provider answers in hessian2"
  capture mixed-2.6.12 dubbo=2.6.12 workloads=mixed serializations=hessian2,java,compactedjava,nativejava,fastjson,kryo,fst,smartbuf properties=-Drig.connections=1 \
    note="each reference has its own connection; the provider answers in hessian2"
  capture exhausted-2.5.3 dubbo=2.5.3 workloads=exhausted threads=4 payload=20000 note="four provider threads, payload limit 20000 bytes at the provider"
  capture exhausted-2.6.12 dubbo=2.6.12 workloads=exhausted threads=4 payload=20000 note="four provider threads, payload limit 20000 bytes at the provider"

  # Many calls at once; several serializations on one connection; refusals.
  capture interleaved workloads=interleaved
  capture mixed workloads=mixed serializations=hessian2,java,compactedjava,nativejava,fastjson,gson,kryo,fst,kryo2,protostuff,avro,msgpack,native-hessian,smartbuf \
    note="three references per serialization share one connection"
  capture exhausted workloads=exhausted threads=4 payload=20000 note="four provider threads, payload limit 20000 bytes at the provider"

  # All generations at once; who talks to whom is in fleet.sh.
  capture fleet talk=fleet_talks dubbo="2.5.3 2.6.12 2.7.23 3.2.16 3.3.6" workloads=fleet heartbeat=1000 pause=20 \
    serializations=hessian2,java,fastjson,dubbo,json,kryo,fst,protostuff,msgpack,fastjson2,jackson \
    note="four providers and five consumers of other releases, each with an address of its own; peer in the truth is the release"

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

  # What networks put around packets; tunnels.sh builds them.
  capture tunnel-vxlan talk=vxlan_talk vxlan="dstport 4789" workloads=conditions "filter=udp port 4789" note="VXLAN of the kernel"
  capture tunnel-vxlan-8472 talk=vxlan_talk vxlan="dstport 8472" workloads=bid "filter=udp port 8472" note="VXLAN at the port Linux had before there was a number"
  capture tunnel-vxlan-policy talk=tunnel_talk tunnel="vxlan options:key=100 options:exts=gbp" workloads=bid "filter=udp port 4789" note="VXLAN with group policy"
  capture tunnel-geneve talk=tunnel_talk tunnel="geneve options:key=100" workloads=conditions "filter=udp port 6081" note="GENEVE"
  capture tunnel-gre talk=tunnel_talk tunnel="gre options:key=7 options:seq=true" workloads=conditions "filter=ip proto 47" note="Ethernet in GRE with key and sequence number"
  capture tunnel-gre-ip talk=tunnel_talk tunnel="gre options:packet_type=legacy_l3" workloads=bid "filter=ip proto 47" note="IP in GRE"
  capture tunnel-erspan2 talk=tunnel_talk tunnel="erspan options:key=5 options:erspan_ver=1 options:erspan_idx=3" workloads=conditions "filter=ip proto 47" note="ERSPAN II"
  capture tunnel-erspan3 talk=tunnel_talk tunnel="erspan options:key=5 options:erspan_ver=2 options:erspan_dir=1 options:erspan_hwid=4" workloads=bid "filter=ip proto 47" note="ERSPAN III"
  capture tags-vlan talk=tags_talk push="push_vlan:0x8100,set_field:4196->vlan_vid" match=dl_vlan=100 pop=pop_vlan,output:LOCAL workloads=bid filter=vlan note="a VLAN tag"
  capture tags-qinq talk=tags_talk push="push_vlan:0x8100,set_field:4196->vlan_vid,push_vlan:0x88a8,set_field:4106->vlan_vid" match=dl_vlan=10 pop="pop_vlan,resubmit(,1)" then=dl_vlan=100,actions=pop_vlan,output:LOCAL \
    workloads=bid filter= note="two VLAN tags, the outer one 802.1ad"
  capture tags-mpls talk=tags_talk push="push_mpls:0x8847,set_field:100->mpls_label,push_mpls:0x8847,set_field:200->mpls_label" kind=0x8847 pop="pop_mpls:0x8847,pop_mpls:0x0800,set_field:SELF->eth_dst,output:LOCAL" \
    workloads=bid filter=mpls note="two MPLS labels"
  capture tags-pseudowire talk=tags_talk push="encap(mpls),set_field:100->mpls_label,encap(ethernet),set_field:PEER->eth_dst" kind=0x8847 pop="decap(),decap(packet_type(ns=0,type=0)),output:LOCAL" \
    workloads=bid filter=mpls note="Ethernet on an MPLS pseudowire, without control word"
  capture fragments-v4 talk=narrow_talk workloads=conditions filter=ip note="TCP in IPv4 fragments of 576 bytes, cut by routers"
  capture fragments-vxlan talk=vxlan_talk vxlan="dstport 4789 df unset" mtu=1500 workloads=conditions filter=ip note="VXLAN packets in IPv4 fragments"
  capture fragments-v6 talk=ipip_talk outer=fd00:9:: inner=198.18.0. mtu=1500 workloads=conditions filter=ip6 note="IPv4 in IPv6, in IPv6 fragments"
  capture tunnel-6in4 talk=ipip_talk outer=198.18.9. inner=fd00:1:: mtu=1400 workloads=bid filter="ip proto 41" note="IPv6 in IPv4"
  capture tunnel-4in4 talk=ipip_talk outer=198.18.9. inner=198.18.0. mtu=1400 workloads=bid filter="ip proto 4" note="IPv4 in IPv4"
  capture offload talk=offload_talk workloads=conditions note="the card cuts segments: packets of up to 64 KiB, checksums not filled in"
  capture nflog talk=nflog_talk workloads=bid filter= note="what netfilter logs"

  # Every packet more than once.
  capture two-ports talk=bridge_talk watched=port-a sniffer=dumpcap "dumpcap_options=-i port-b" file=two-ports.pcapng.zst workloads=bid note="both ports of a bridge, one pcapng interface each"
  capture mirror talk=bridge_talk watched=port-a sniffer=dumpcap "dumpcap_options=-i port-b" flatten=yes workloads=conditions note="both ports of a bridge in one stream, as a port mirror of both has them"
  capture any-doubles talk=bridge_talk watched=any workloads=conditions note="the two ports of a bridge: each packet twice"
  capture any-doubles-cooked1 file=any-doubles-cooked1.pcap.gz talk=bridge_talk watched=any "tcpdump_options=-y LINUX_SLL" workloads=bid note="the two ports of a bridge: each packet twice"
  capture both-ends talk=both_talk workloads=conditions note="captured at both hosts; this is the provider's file, both-ends.consumer.pcap.zst the consumer's"

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
  # 3.x numbers the optimizer's classes in the order of a HashMap, by identity: two processes agree only where all hashes are the same.
  for s in kryo fst; do
    capture $s-optimizer-3.2.16 dubbo=3.2.16 serialization=$s optimizer=true properties="-XX:+UnlockExperimentalVMOptions -XX:hashCode=2"
    capture edge-$s-optimizer-3.2.16 dubbo=3.2.16 serialization=$s optimizer=true workloads=edge heartbeat=1000 properties="-XX:+UnlockExperimentalVMOptions -XX:hashCode=2"
  done
  for s in protobuf protobuf-json; do
    capture $s-3.2.16 dubbo=3.2.16 serialization=$s workloads=protobuf heartbeat=1000
  done
  capture own-3.3.6 dubbo=3.3.6 serialization=own workloads="bid edge" heartbeat=1000 note="id 31: a serialization that a user has written for himself"

  capture mislabelled-3.3.6 dubbo=3.3.6 serialization=hessian2-as-kryo workloads="bid zoo" properties="-Drig.extra=zoo -Drig.share=4" \
    note="a user's own serialization that writes Hessian2 behind kryo's id 8"

  # The extensions of before 3.2.0 with the same release: Kryo 5.3, another layout of fastjson.
  for s in fastjson gson kryo; do
    capture $s-extensions-1.0.1 dubbo=3.2.16-extensions-1.0.1 serialization=$s
    capture edge-$s-extensions-1.0.1 dubbo=3.2.16-extensions-1.0.1 serialization=$s workloads=edge heartbeat=1000
  done
  capture mixed-extensions-1.0.1 dubbo=3.2.16-extensions-1.0.1 workloads=mixed serializations=hessian2,fastjson,gson,kryo,kryo2,fst,native-hessian \
    properties=-Drig.accepted=fastjson,gson,kryo,kryo2,fst,native-hessian

  # Several serializations on one connection: taken, refused, and answered in another one. Classes that are not on the list.
  for s in 3.2.16 3.3.6; do
    capture mixed-$s dubbo=$s workloads=mixed serializations=hessian2,fastjson2,kryo,kryo2,fastjson,jackson,fury,fury-compatible,msgpack,gson,fst,protostuff,avro,native-hessian,java,compactedjava,nativejava,own \
    properties=-Drig.accepted=fastjson2,kryo,kryo2,fastjson,jackson,fury,fury-compatible,msgpack,gson,fst,protostuff,avro,native-hessian,java,compactedjava,nativejava,own
  done
  capture refused-3.3.6 dubbo=3.3.6 workloads=mixed serializations=fastjson2,kryo,jackson note="the provider takes only hessian2"
  capture edge-preferred-3.3.6 dubbo=3.3.6 workloads=edge heartbeat=1000 serializations=fastjson2,hessian2 properties=-Drig.preferred=fastjson2 \
    note="the consumer prefers fastjson2, the provider hessian2: what is no result, and callbacks, are in hessian2"
  for s in hessian2 fastjson2; do
    capture edge-strict-$s-3.3.6 dubbo=3.3.6 serialization=$s workloads=edge heartbeat=1000 note="classes that are not on the list are refused" \
      properties="-Ddubbo.application.serialize-check-status=STRICT -Ddubbo.application.check-serializable=true"
  done

  # A provider that leaves and comes back (R, W); too many calls, answers above the limit (status 25); many calls at once.
  capture graceful-3.3.6 dubbo=3.3.6 workloads=graceful properties=-Drig.extra=graceful
  for s in 3.2.16 3.3.6; do
    capture exhausted-$s dubbo=$s workloads=exhausted threads=4 payload=20000 note="four provider threads, payload limit 20000 bytes at the provider"
  done
  capture interleaved-3.3.6 dubbo=3.3.6 workloads=interleaved serialization=fastjson2

  # Calls that time out and are retried at another provider. 2.7.7 to 2.7.23 do not send the timeout.
  for s in 2.7.3 3.3.6; do
    capture failover-$s dubbo=$s talk=failover_talk workloads=failover filter="tcp portrange 20880-20881" note="timeout 300 ms, two retries, two providers; the second one is slow"
  done

  # Other protocols. Triple: gRPC over HTTP/2, POJOs wrapped, messages not. One port for two protocols.
  for s in 3.2.16 3.3.6; do
    capture triple-$s dubbo=$s protocol=tri
  done
  capture edge-triple-3.3.6 dubbo=3.3.6 protocol=tri workloads=edge
  capture triple-protobuf-3.3.6 dubbo=3.3.6 protocol=tri serialization=protobuf workloads=protobuf
  # Triple with the truth of Netty's frames, release by release. 3.0 and 3.1 have fewer serializations.
  for s in 3.0.15 3.1.11 3.2.16 3.3.6; do
    capture triple-hessian2-$s dubbo=$s protocol=tri workloads=triple properties=-Drig.extra=triple
    [ "${s%.*}" = 3.0 ] || capture triple-fastjson2-$s dubbo=$s protocol=tri serialization=fastjson2 workloads=triple properties=-Drig.extra=triple
  done
  for s in gson jackson msgpack kryo fst; do
    capture triple-$s-3.2.16 dubbo=3.2.16 protocol=tri serialization=$s workloads=triple properties=-Drig.extra=triple
  done
  for s in 3.0.15 3.2.16; do
    capture triple-protobuf-$s dubbo=$s protocol=tri serialization=protobuf workloads=protobuf
  done
  # Stubs that Dubbo's compiler generates.
  for s in 3.2.16 3.3.6; do
    capture triple-stubs-$s dubbo=$s protocol=tri serialization=protobuf workloads=stubs properties=-Drig.extra=stubs
  done
  capture triple-stubs-gzip-3.2.16 dubbo=3.2.16 protocol=tri serialization=protobuf workloads=stubs properties=-Drig.extra=stubs environment=DUBBO_RPC_TRI_COMPRESSOR=gzip \
    note="messages compressed with gzip"
  for s in gzip snappy bzip2; do
    capture triple-$s-3.2.16 dubbo=3.2.16 protocol=tri workloads=triple properties=-Drig.extra=triple environment=DUBBO_RPC_TRI_COMPRESSOR=$s note="messages compressed with $s"
  done
  capture triple-bzip2-3.3.6-to-3.2.16 dubbo="3.2.16 3.3.6" protocol=tri workloads=triple properties=-Drig.extra=triple environment=DUBBO_RPC_TRI_COMPRESSOR=bzip2 \
    note="messages compressed with bzip2; the consumer is 3.3.6, the provider 3.2.16"
  capture triple-multiplexed-3.3.6 dubbo=3.3.6 protocol=tri workloads=multiplexed properties=-Drig.extra=multiplexed note="300 calls at once on one connection"
  capture triple-loss-3.3.6 dubbo=3.3.6 protocol=tri workloads=multiplexed pause=20 wire="0.02 0.03 0.01" properties=-Drig.extra=multiplexed \
    note="2 % of the segments lost, 3 % overtaken, 1 % repeated; captured at the provider's interface"
  capture triple-missed-3.3.6 dubbo=3.3.6 protocol=tri wire="0 0 0 0.03" workloads=conditions repeat=2 complete=false note="the recorder missed one packet in thirty"
  capture triple-snap200-3.3.6 dubbo=3.3.6 protocol=tri workloads=triple properties=-Drig.extra=triple "tcpdump_options=-s 200" complete=false note="snap length 200: longer packets are cut"
  for s in 3.2.16 3.3.6; do
    capture triple-midway-$s dubbo=$s protocol=tri workloads="conditions triple" pause=20 late_after='"kind":"call"' late_start=0.3 properties=-Drig.extra=triple complete=false note="the capture starts while calls are running"
  done
  capture triple-requests-3.3.6 dubbo=3.3.6 protocol=tri workloads=triple properties=-Drig.extra=triple "filter=tcp dst port $port" complete=false note="only packets towards the provider"
  # gRPC without Dubbo.
  for s in grpc-java-1.72.0 grpc-go-1.72.0; do
    capture $s dubbo=$s protocol=grpc serialization=protobuf workloads=verbs
    capture $s-multiplexed dubbo=$s protocol=grpc serialization=protobuf workloads=multiplexed note="200 calls at once on one connection"
  done
  capture grpc-go-to-java dubbo="grpc-java-1.72.0 grpc-go-1.72.0" protocol=grpc serialization=protobuf workloads=verbs note="the client is grpc-go, the server grpc-java"
  capture two-protocols-3.3.6 dubbo=3.3.6 protocol=tri second_protocol=dubbo workloads="triple@tri published@dubbo" properties=-Drig.extra=triple note="one port speaks Dubbo and Triple"

  # REST of 2.7 (JAX-RS) on its three servers. What is on the wire was logged below the sockets of both ends.
  for s in jetty tomcat netty; do
    for form in json xml json-gzip xml-gzip; do
      rest_of_27 $s rest-$s-$form-2.7.23 rest-bids "-Drig.form=$form"
    done
    rest_of_27 $s rest-edge-$s-2.7.23 rest-edge -Drig.dubbo.client=true
  done
  # REST of 3: a protocol of its own in 3.2, one port with Triple in 3.3, there over HTTP/1.1 and HTTP/2.
  capture rest-forms-3.2.16 dubbo=3.2.16 protocol=rest tap=http1 workloads=rest-forms properties=-Drig.extra=rest-forms note="JSON, XML and form fields by an HTTP client of the JDK"
  capture rest-forms-3.3.6 dubbo=3.3.6 protocol=tri spoken=rest tap=http1 workloads=rest-forms properties=-Drig.extra=rest-forms \
    note="HTTP/1.1 on a port of Triple: JSON, XML and form fields by an HTTP client of the JDK"
  capture rest-forms-http2-3.3.6 dubbo=3.3.6 protocol=tri spoken=http2 workloads=rest-forms properties="-Drig.extra=rest-forms -Drig.http=HTTP_2" note="JSON, XML and form fields over HTTP/2 by Netty"
  capture rest-edge-3.2.16 dubbo=3.2.16 protocol=rest tap=http1 workloads=rest-edge properties=-Drig.extra=rest-edge note="everything that HTTP has, by the JDK's client and by bare sockets"
  capture rest-edge-3.3.6 dubbo=3.3.6 protocol=tri spoken=rest tap=http1 workloads=rest-edge properties=-Drig.extra=rest-edge note="everything that HTTP has, by the JDK's client and by bare sockets"
  capture rest-edge-http2-3.3.6 dubbo=3.3.6 protocol=tri spoken=http2 workloads=rest-edge-2 properties="-Drig.extra=rest-edge -Drig.http=HTTP_2" note="REST over HTTP/2 by Netty"
  capture rest-3.2.4 dubbo=3.2.4 protocol=rest tap=http1 workloads=rest properties=-Drig.extra=rest note="responses of more than about 1,000 bytes have no Content-Type; the consumer is an HTTP client of the JDK"
  capture rest-3.2.16 dubbo=3.2.16 protocol=rest workloads=rest properties=-Drig.extra=rest note="the consumer is an HTTP client of the JDK"
  capture rest-3.3.6 dubbo=3.3.6 protocol=tri spoken=rest workloads=rest properties=-Drig.extra=rest note="HTTP/1.1 on a port of Triple; the consumer is an HTTP client of the JDK"
  capture rest-upgrade-3.2.16 dubbo=3.2.16 protocol=rest workloads=rest properties="-Drig.extra=rest -Drig.http=HTTP_2" note="the HTTP client of the JDK asks to switch to HTTP/2, which the provider ignores"
  capture upgrade-3.3.6 dubbo=3.3.6 protocol=tri spoken=http2 workloads=upgrade note="the HTTP client of the JDK switches from HTTP/1.1 to HTTP/2; bodies are JSON"
  capture one-port-3.3.6 dubbo=3.3.6 protocol=tri second_protocol=dubbo workloads="published@dubbo published@tri" note="one port speaks Dubbo and Triple"

  # Thrift: Dubbo's own, the native one in Dubbo, and libthrift's own client and server.
  capture thrift-2.6.12 dubbo=2.6.12-thrift protocol=thrift serialization=thrift workloads=catalog properties="-Drig.extra=catalog -Drig.timeout=1500" note="Dubbo's own frames around messages of Thrift"
  capture thrift-2.7.23 dubbo=2.7.23-thrift protocol=thrift serialization=thrift workloads=catalog properties="-Drig.extra=catalog -Drig.timeout=250 -Drig.unread=true" \
    note="Dubbo's own frames around messages of Thrift, with a path in requests; the consumer cannot read the answers"
  capture native-thrift-2.7.23 dubbo=2.7.23-thrift protocol=native-thrift serialization=thrift workloads=catalog properties=-Drig.extra=catalog note="compact messages in frames, the service before the method's name"
  capture libthrift-binary dubbo=libthrift-0.12.0 protocol=thrift serialization=thrift workloads=catalog properties=-Drig.thrift=binary,binary-loose "filter=tcp portrange 20880-20881" \
    note="binary messages without frames; at port 20881 without a version"
  capture libthrift-framed dubbo=libthrift-0.12.0 protocol=thrift serialization=thrift workloads=catalog properties=-Drig.thrift=binary-framed,binary-framed-loose "filter=tcp portrange 20880-20881" \
    note="binary messages in frames; at port 20881 without a version"
  capture libthrift-compact dubbo=libthrift-0.12.0 protocol=thrift serialization=thrift workloads=catalog properties=-Drig.thrift=compact,compact-framed "filter=tcp portrange 20880-20881" \
    note="compact messages without frames; at port 20881 with frames"

  # Hessian over HTTP, JSON-RPC, RMI, and what an administrator asks.
  capture hessian-http-2.7.23 dubbo=2.7.23-proxies protocol=hessian workloads="bid edge hessian" properties=-Drig.extra=hessian note="requests in Hessian 1 and responses in Hessian 2, on Jetty"
  capture hessian-http-v2-2.7.23 dubbo=2.7.23-proxies protocol=hessian workloads="bid edge hessian" properties="-Drig.extra=hessian -Drig.parameters=hessian2.request=true,server=tomcat" \
    note="requests in Hessian 2, on Tomcat"
  capture json-rpc-2.7.23 dubbo=2.7.23-proxies protocol=http serialization=json workloads="published undated" note="JSON-RPC 2.0 on Jetty"
  capture rmi-2.7.23 dubbo=2.7.23-proxies protocol=rmi serialization=java workloads="bid some-users" filter=tcp note="RMI: the registry at port 20880, objects at another"
  capture qos-2.7.23 dubbo=2.7.23-proxies workloads="bid administration" properties="-Drig.extra=administration -Drig.qos=22222" "filter=tcp port $port or tcp port 22222" note="QoS at port 22222, over HTTP and as text"

  # Connections that nobody can read.
  capture tls-go-1.26.8 dubbo=tls-go-1.26.8 protocol=tls serialization=none workloads=handshakes wire="0 0 0" \
    note="TLS 1.2 and 1.3 of Go, with and without SNI and ALPN, resumed, asked again, refused; ClientHellos in one segment and in several"

  # Other models, filled at random: what no decoder was written against. Each has every second of the workload's single values, here these, there those.
  zoo hessian2-2.5.3 2
  zoo hessian2-2.6.12 1
  zoo hessian2-2.7.8 2
  zoo hessian2 3
  zoo hessian2-3.2.16 4
  zoo hessian2-3.3.6 5
  zoo native-hessian 6
  zoo java 7
  zoo nativejava 8
  zoo compactedjava 9 -Drig.share=1
  zoo dubbo-2.5.3 10
  zoo json-2.5.3 11
  zoo fastjson-2.5.3 12
  zoo fastjson 13
  zoo fastjson-3.2.16 14
  zoo gson 15
  zoo jackson-3.2.16 16
  zoo fastjson2-3.3.6 17
  zoo msgpack 18
  zoo smartbuf 19
  if [ -n "${RIG_ZOO:-}" ]; then # more of them for trials
    for s in java compactedjava nativejava; do zoo $s-2.5.3 1 && zoo $s-2.6.12 1; done
    for s in java compactedjava nativejava native-hessian gson msgpack kryo fst fury fury-compatible kryo2 protostuff avro fastjson2; do zoo $s-3.2.16 1; done
    for s in fastjson gson kryo; do zoo $s-3.2.16-extensions-1.0.1 1; done
    for s in 2.5.10 2.7.0 2.7.1 2.7.3; do zoo hessian2-$s 1; done
    for s in kryo fst kryo2 protostuff avro fastjson-2.6.12 kryo-2.6.12 fst-2.6.12 smartbuf-2.6.12 dubbo-2.6.0 kryo-2.6.0; do zoo $s 1; done
  fi
}

rest_of_27() { # server name workload properties
  local extensions=org.dubbowire.rig.rest.RestNotes
  case $2 in *-gzip-*) extensions+=,org.dubbowire.rig.rest.GzipRequests ;; esac
  capture "$2" dubbo=2.7.23-rest protocol=rest tap=http1 workloads="$3" note="JAX-RS on $1" \
    properties="-Drig.extra=$3 -Drig.server=$1 -Drig.extensions=$extensions $4"
}

models() { # serialization[-optimizer][-release]
  local release='' family=apache optimizer=false properties=
  case $1 in *-[23].*) release=${1##*-} ;; esac
  case $release in 2.6.*) family=alibaba ;; esac
  case $1 in
    *-optimizer-3.*) optimizer=true properties="-XX:+UnlockExperimentalVMOptions -XX:hashCode=2" ;; # where the maps of Kryo 4 would grow without end
    *-optimizer*) optimizer=true ;;
  esac
  capture "models-$1" serialization="${1%%-*}" ${release:+dubbo=$release} workloads=models optimizer=$optimizer note="random graphs of models whose classes have all that makes a difference" \
    properties="-Drig.extra=models -Drig.optimizer.class=org.dubbowire.rig.$family.ModelsOptimizer $properties"
}

zoo() { # serialization[-release] seed; RIG_ZOO overrides, "-Drig.seed=5 -Drig.rounds=3 -Drig.large=true -Drig.share=1" for one
  local serialization=${1%%-[23].*}
  local release=${1#"$serialization"}
  capture "zoo-$1" serialization="$serialization" ${release:+dubbo=${release#-}} workloads=zoo note="models of its own, filled at random; seed $2" \
    properties="-Drig.extra=zoo -Drig.seed=$2 -Drig.share=2 ${3:-} ${RIG_ZOO:-}"
}
