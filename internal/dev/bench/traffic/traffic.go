// Package traffic writes captures of Dubbo traffic that never was, with the truth about them: what benchmarks read.
//
// The traffic is pipelined calls on many connections at once, answered out of order. A frame is a Dubbo 2 header and a
// Hessian2 body made by dubbo-go-hessian2 (github.com/apache/dubbo-go-hessian2), so that what is measured did not write
// what it reads. Two mixes have the same values in Triple's wrapper, over HTTP/2 that golang.org/x/net writes. TCP cuts
// the frames as a network does: full segments, acknowledgements about one per two of them, handshakes and farewells, now
// and then a segment that is sent twice or overtaken.
//
// A capture is the same on every machine, byte by byte, for the same Config: numbers come from a PCG with a fixed seed,
// times from a fixed date, and no map is walked.
package traffic

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
)

// Config says what to write; zero values are the defaults.
type Config struct {
	// Size is how large the capture shall be, in bytes, give or take what is under way at the end (default 1 GB).
	Size int64
	// Mix names what the traffic consists of (default "default"; see Mixes).
	Mix string
	// Connections are open at once (default 64).
	Connections int
}

func (c Config) withDefaults() Config {
	return Config{Size: cmp.Or(c.Size, 1e9), Mix: cmp.Or(c.Mix, "default"), Connections: cmp.Or(c.Connections, 64)}
}

// seed starts the random numbers: those of the bodies and those of the network are apart, so that neither moves the other.
const seed = 0xdabb

// Write writes a capture (pcap, microseconds, little-endian, Ethernet) to w and returns the truth about it.
func Write(w io.Writer, cfg Config) (*Truth, error) { return Record(w, cfg, nil) }

// Record is Write. It calls record, unless that is nil, with each message of HTTP/2 traffic when its direction has ended.
func Record(w io.Writer, cfg Config, record func(*Message)) (*Truth, error) {
	cfg = cfg.withDefaults()
	mix, err := findMix(cfg.Mix)
	if err != nil {
		return nil, err
	}
	p, err := makePool()
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 1<<20)
	g := &generator{
		methods: make([]Method, len(p.methods)*max(mix.copies, 1)),
		chooser: chooser{rng: rand.New(rand.NewPCG(seed, 2)), mix: mix, pool: p},
		record:  record,
		writer:  newWriter(out, mix.MSS),
		truth:   Truth{Version: version, Config: cfg},
	}
	g.run(cfg)
	if err := out.Flush(); err != nil {
		return nil, err
	}
	t := &g.truth
	t.Packets, t.LinkBytes, t.FileBytes = g.writer.packets, g.writer.linkBytes, g.writer.fileBytes
	t.Frames = t.Requests + t.Responses
	t.SHA256 = hex.EncodeToString(sum.Sum(nil))
	for i, m := range g.methods {
		if m.Requests > 0 {
			x := p.methods[i%len(p.methods)]
			m.Service, m.Method = x.service, x.name
			if mix.copies > 0 {
				m.Method += copyName(i / len(p.methods))
			}
			t.Methods = append(t.Methods, m)
		}
	}
	return t, nil
}

// Mix is what traffic consists of.
type Mix struct {
	Name string
	// Percent of the bodies by class: small (about 360 bytes), medium (3.8 KB), large (20 KB), text (a string of 50 KB).
	Percent [nClasses]int
	// MSS is the largest TCP payload of a packet, in bytes.
	MSS int
	// What it stands for.
	Text string
	// styles are those of HTTP/2 connections; nil: the dubbo protocol.
	styles []http2Style
	// http1 is set if calls go over HTTP/1.1, one at a time on each connection.
	http1 bool
	// copies is how many names each method has, in the dubbo protocol; 0: its own only.
	copies int
}

// Mixes are the known mixes. Ratios between programs depend on it: the more bytes a packet and a frame have, the less
// a program does for each byte.
var Mixes = []Mix{
	{"default", [nClasses]int{70, 20, 8, 2}, 1448, "calls of all sizes over an ordinary network", nil, false, 0},
	{"small", [nClasses]int{100, 0, 0, 0}, 1448, "small calls only", nil, false, 0},
	{"short", [nClasses]int{100, 0, 0, 0}, 512, "small calls, a message or two to a packet", nil, false, 0},
	{"methods", [nClasses]int{100, 0, 0, 0}, 1448, "small calls of 50,000 methods", nil, false, 1316},
	{"offload", [nClasses]int{70, 20, 8, 2}, 32 << 10, "the default calls, captured above segmentation offload: packets up to 32 KiB", nil, false, 0},
	{"triple", [nClasses]int{70, 20, 8, 2}, 1448, "the default calls over Triple", []http2Style{dubboStyle}, false, 0},
	{"rest", [nClasses]int{70, 20, 8, 2}, 1448, "calls of the default sizes over HTTP/1.1, as Dubbo's REST sends them", nil, true, 0},
	{"http2", [nClasses]int{70, 20, 8, 2}, 1448, "Triple and gRPC of many kinds: streams, compression, large headers, padding", http2Styles, false, 0},
}

// mean is the mean size of a body in bytes.
func (m *Mix) mean() int64 {
	n := 0
	for c, percent := range m.Percent {
		n += percent * sizes[c].bytes
	}
	return int64(n / 100)
}

// HTTP2 reports whether the calls are Triple's and gRPC's, not those of the dubbo protocol.
func (m *Mix) HTTP2() bool { return m.styles != nil }

func findMix(name string) (Mix, error) {
	names := ""
	for _, m := range Mixes {
		if m.Name == name {
			return m, nil
		}
		names += " " + m.Name
	}
	return Mix{}, fmt.Errorf("no mix %q; choose from:%s", name, names)
}
