package madeup

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/dev/streams"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// One side of a connection is a protocol that the capture has, and from the middle on it is that protocol or unknown, or one that its
// bytes cannot be told from. In captures of HTTP one client sends "ls" and nothing else, a line of telnet as long as no answer is seen.
func TestNoConfusion(t *testing.T) {
	type names []string
	for _, test := range []struct {
		capture      string
		own, midways names
	}{
		{"edge-hessian2", names{"dubbo", "telnet"}, nil},
		{"edge-kryo", names{"dubbo", "telnet"}, nil},
		{"edge-json-2.5.3", names{"dubbo", "telnet"}, nil},
		{"edge-fastjson", names{"dubbo", "telnet"}, nil},
		{"edge-java", names{"dubbo", "telnet"}, nil},
		{"triple-3.3.6", names{"triple", "grpc"}, names{"grpc"}}, // of Triple if a header has its mark
		{"grpc-go-1.72.0", names{"grpc"}, nil},
		{"rest-edge-jetty-2.7.23", names{"rest", "http", "telnet"}, nil},
		{"rest-edge-netty-2.7.23", names{"rest", "http", "telnet"}, nil},
		{"rest-jetty-xml-2.7.23", names{"rest", "http", "telnet"}, nil},
		{"rest-edge-3.2.16", names{"http", "telnet"}, nil},
		{"rest-edge-http2-3.3.6", names{"http"}, nil},
		{"hessian-http-2.7.23", names{"hessian", "http", "telnet"}, nil}, // Jetty's own answers are HTTP
		{"json-rpc-2.7.23", names{"http", "telnet"}, nil},
		{"qos-2.7.23", names{"http", "telnet", "dubbo"}, nil}, // its provider serves dubbo, too
		{"thrift-2.7.23", names{"thrift"}, nil},
		{"native-thrift-2.7.23", names{"nativethrift"}, nil},
		{"edge-nativejava", names{"dubbo", "telnet"}, nil},
		{"rmi-2.7.23", names{"rmi"}, nil},
		{"tls-go-1.26.8", names{"tls"}, nil},
		{"libthrift-compact", names{"nativethrift"}, nil},
		{"libthrift-framed", names{"nativethrift"}, nil},
	} {
		t.Run(test.capture, func(t *testing.T) {
			t.Parallel()
			seen, order := streams.Of(t, testkit.Get(t, test.capture).Path())
			for i, way := range testkit.Some(order, max(1, len(order)/8)) {
				stream := seen[way]
				whole := append(namesOf(t, stream, false), namesOf(t, seen[way.Back()], false)...) // an answer of telnet alone may be unknown
				assert.Subset(t, test.own, whole, "stream %d", i)
				const cuts = 10
				for k := 1; k < cuts; k++ {
					part := stream[len(stream)*k/cuts:]
					got := namesOf(t, part, true)
					assert.Subset(t, slices.Concat(whole, test.midways), got, "stream %d, from byte %d", i, len(stream)-len(part))
				}
			}
		})
	}
}

// Both sides of a connection from the middle on are its protocol or unknown, too.
func TestNoConfusionOfBothSides(t *testing.T) {
	for _, test := range []struct {
		capture string
		own     []string
	}{
		{"edge-hessian2", []string{"dubbo", "telnet"}},
		{"edge-kryo", []string{"dubbo", "telnet"}},
		{"triple-3.3.6", []string{"triple", "grpc"}}, // of Triple if a header has its mark
		{"grpc-go-1.72.0", []string{"grpc"}},
		{"rest-edge-jetty-2.7.23", []string{"rest", "http", "telnet"}},
		{"rest-edge-netty-2.7.23", []string{"rest", "http", "telnet"}},
		{"rest-edge-3.2.16", []string{"http", "telnet"}},
		{"rest-edge-http2-3.3.6", []string{"http"}},
		{"hessian-http-2.7.23", []string{"hessian", "http", "telnet"}},
		{"json-rpc-2.7.23", []string{"http", "telnet"}},
		{"qos-2.7.23", []string{"http", "telnet", "dubbo"}},
		{"thrift-2.7.23", []string{"thrift"}},
		{"native-thrift-2.7.23", []string{"nativethrift"}},
		{"edge-nativejava", []string{"dubbo", "telnet"}},
		{"rmi-2.7.23", []string{"rmi"}},
		{"tls-go-1.26.8", []string{"tls"}},
		{"libthrift-compact", []string{"nativethrift"}},
		{"libthrift-framed", []string{"nativethrift"}},
	} {
		t.Run(test.capture, func(t *testing.T) {
			t.Parallel()
			talks := streams.Talks(t, testkit.Get(t, test.capture).Path(), 700)
			for i, talk := range testkit.Some(talks, max(1, len(talks)/8)) {
				const cuts = 10
				for k := range cuts {
					from := len(talk) * k / cuts
					got := namesIn(t, talk[from:], k > 0)
					assert.Subset(t, test.own, got, "connection %d, from segment %d", i, from)
				}
			}
		})
	}
}

// Wherever in a connection of HTTP/1 a capture begins, no more than the first request and the first response are without the other.
func TestHTTP1FromTheMiddle(t *testing.T) {
	for _, name := range []string{"rest-jetty-json-2.7.23", "rest-tomcat-xml-gzip-2.7.23", "rest-netty-json-2.7.23", "rest-3.3.6"} {
		t.Run(name, func(t *testing.T) {
			talk := streams.Talks(t, testkit.Get(t, name).Path(), 1448)[0]
			for from := range min(40, len(talk)) {
				totals := totalsOf(t, withoutPackets(t, traffic.Talk(talk[from:]), 3))
				assert.LessOrEqual(t, totals.Unanswered, int64(1), "from segment %d", from)
				assert.LessOrEqual(t, totals.Orphans, int64(1), "from segment %d", from)
			}
		})
	}
}

// A port that serves several protocols has each on its connections, also if their packets alternate.
func TestProtocolsOfOnePort(t *testing.T) {
	var talks [][]traffic.Segment
	want, skipped := map[string]int64{}, int64(0)
	for _, name := range []string{"edge-hessian2", "rest-edge-jetty-2.7.23", "triple-3.3.6", "native-thrift-2.7.23"} {
		for _, talk := range testkit.Some(streams.Talks(t, testkit.Get(t, name).Path(), 1448), 2) {
			alone := totalsOf(t, traffic.Talk(talk))
			for protocol, connections := range connectionsOf(alone) {
				want[protocol] += connections
			}
			skipped += alone.Skipped // what follows a request of two lengths, for example
			talks = append(talks, talk)
		}
	}
	var all []traffic.Segment
	for i := 0; ; i++ {
		before := len(all)
		for conn, talk := range talks {
			if i < len(talk) {
				segment := talk[i]
				segment.Conn = conn
				all = append(all, segment)
			}
		}
		if len(all) == before {
			break
		}
	}
	totals := totalsOf(t, traffic.Talk(all))
	assert.Equal(t, want, connectionsOf(totals))
	for _, protocol := range []string{"dubbo", "http", "triple", "nativethrift"} {
		assert.Contains(t, want, protocol)
	}
	assert.Equal(t, skipped, totals.Skipped)
}

// connectionsOf returns the number of connections of each protocol, and of each name that other bytes have.
func connectionsOf(totals *pipeline.Totals) map[string]int64 {
	all := maps.Clone(totals.Protocols)
	for name, other := range totals.Other {
		all[name] += other.Connections
	}
	maps.DeleteFunc(all, func(_ string, n int64) bool { return n == 0 })
	return all
}

// What other services send is none of the protocols.
func TestForeignStarts(t *testing.T) {
	for name, stream := range map[string]string{
		"Redis":      "*3\r\n$3\r\nSET\r\n$4\r\nuser\r\n$5\r\nalice\r\n",
		"memcached":  "get user:42\r\nVALUE user:42 0 5\r\nalice\r\nEND\r\n",
		"SMTP":       "220 mail.example ESMTP\r\n250 HELP\r\n",
		"PostgreSQL": "\x00\x00\x00\x29\x00\x03\x00\x00user\x00alice\x00database\x00orders\x00\x00\x00\x00\x00",
		"MySQL":      "\x4a\x00\x00\x00\x0a8.0.36\x00\x08\x00\x00\x00abcdefgh\x00\xff\xf7\x08\x02\x00",
		"Kafka":      "\x00\x00\x00\x23\x00\x12\x00\x03\x00\x00\x00\x01\x00\x0aconsumer-1\x00\x12apache-kafka-java\x063.7.0\x00",
		"ZooKeeper":  "\x00\x00\x00\x2d\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x75\x30\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x10",
		"SSH":        "SSH-2.0-OpenSSH_9.6\r\n",
	} {
		for _, joined := range []bool{false, true} {
			assert.Empty(t, namesOf(t, bytes.Repeat([]byte(stream), 20), joined), name)
		}
	}
}

// namesOf returns the protocols that a capture of one side of a connection has, without the handshake if it was joined.
func namesOf(t *testing.T, stream []byte, joined bool) []string {
	var segments []traffic.Segment
	for piece := range slices.Chunk(stream, 1448) {
		segments = append(segments, traffic.Segment{Data: piece})
	}
	return namesIn(t, segments, joined)
}

// namesIn returns the protocols that a capture of a connection has, without the handshake if it was joined.
func namesIn(t *testing.T, segments []traffic.Segment, joined bool) []string {
	file := traffic.Talk(segments)
	if joined {
		file = withoutPackets(t, file, 3)
	}
	totals := totalsOf(t, file)
	names := slices.Collect(maps.Keys(totals.Other))
	for name, connections := range totals.Protocols {
		if connections > 0 {
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return name == "unknown" || strings.HasPrefix(name, "http") && strings.Contains(name, " ") // no protocols
	})
}

// totalsOf returns the totals of a pcap file.
func totalsOf(t *testing.T, file []byte) *pipeline.Totals {
	src, err := capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(file)})
	require.NoError(t, err)
	defer src.Close()
	cfg := measure.Config{By: sizes.DefaultBy(), Filter: &measure.Filter{}, Sample: measure.AsNeeded}
	opt := pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Envelope}
	c := cfg.Collect([]string{"-"}, &opt)
	totals, err := pipeline.Run(src, opt, c)
	require.NoError(t, err)
	return totals
}

// withoutPackets returns a pcap file without its first n packets.
func withoutPackets(t *testing.T, file []byte, n int) []byte {
	const header, record = 24, 16
	order := binary.ByteOrder(binary.LittleEndian)
	if file[0] == 0xa1 {
		order = binary.BigEndian
	}
	at := header
	for range n {
		at += record + int(order.Uint32(file[at+8:]))
	}
	require.LessOrEqual(t, at, len(file), fmt.Sprint(n))
	return append(slices.Clone(file[:header]), file[at:]...)
}
