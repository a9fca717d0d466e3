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

// One side of a connection, from its start or from the middle on, is its own protocol or unknown, never another one.
// In captures of HTTP one client sends "ls" and nothing else, a line of telnet as long as no answer is seen.
func TestNoConfusion(t *testing.T) {
	for capture, names := range map[string][]string{
		"edge-hessian2":          {"dubbo", "telnet"},
		"edge-kryo":              {"dubbo", "telnet"},
		"edge-json-2.5.3":        {"dubbo", "telnet"},
		"edge-fastjson":          {"dubbo", "telnet"},
		"edge-java":              {"dubbo", "telnet"},
		"triple-3.3.6":           {"triple", "grpc"}, // of Triple if a header has its mark
		"grpc-go-1.72.0":         {"grpc"},
		"rest-edge-jetty-2.7.23": {"http", "telnet"},
		"rest-edge-netty-2.7.23": {"http", "telnet"},
		"rest-jetty-xml-2.7.23":  {"http", "telnet"},
		"rest-edge-3.2.16":       {"http", "telnet"},
		"rest-edge-http2-3.3.6":  {"http2", "grpc"}, // of gRPC if the content type is among the headers that are not known
		"hessian-http-2.7.23":    {"http", "telnet"},
		"json-rpc-2.7.23":        {"http", "telnet"},
		"qos-2.7.23":             {"http", "telnet", "dubbo"}, // its provider serves dubbo, too
		"thrift-2.7.23":          {"thrift", "nativethrift"},  // a frame whose head was not captured is a message of Thrift's own
		"native-thrift-2.7.23":   {"nativethrift"},
		"libthrift-compact":      {"nativethrift"},
		"libthrift-framed":       {"nativethrift"},
	} {
		t.Run(capture, func(t *testing.T) {
			t.Parallel()
			seen, order := streams.Of(t, testkit.Get(t, capture).Path())
			for i, way := range testkit.Some(order, max(1, len(order)/8)) {
				stream := seen[way]
				const cuts = 10
				for k := range cuts {
					part := stream[len(stream)*k/cuts:]
					got := namesOf(t, part[:min(len(part), 1<<16)], k > 0)
					assert.Subset(t, names, got, "stream %d, from byte %d", i, len(stream)-len(part))
				}
			}
		})
	}
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
	file := traffic.Talk(segments)
	if joined {
		file = withoutPackets(t, file, 3)
	}
	src, err := capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(file)})
	require.NoError(t, err)
	defer src.Close()
	cfg := measure.Config{By: sizes.DefaultBy(), Filter: &measure.Filter{}, Sample: measure.AsNeeded}
	opt := pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Envelope}
	c := cfg.Collect([]string{"-"}, &opt)
	totals, err := pipeline.Run(src, opt, c)
	require.NoError(t, err)
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
