package traffic

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// http2Style is how the peers of an HTTP/2 connection write. Shares are out of a thousand.
type http2Style struct {
	name string
	// grpc peers are not Dubbo's.
	grpc bool
	// trace adds headers that differ in every request, large ones of several KB, now and then of 40 KB.
	trace, large bool
	// streams makes three of four methods streaming ones; interleaves lets the DATA frames of streams alternate.
	streams, interleaves bool
	gzip                 bool
	// frame and headerFrame are the largest payloads of DATA frames and of frames with header blocks.
	frame, headerFrame int
	// padding is a bound for the padding of frames; 0: none. Header blocks then also have priorities.
	padding int
	// table is SETTINGS_HEADER_TABLE_SIZE; 0: it is not sent.
	table uint32
	// streamWindows lets sides give back the windows of streams, not of the connection alone.
	streamWindows bool
	// pings and resizes of the header table per step; requests that end with an empty DATA frame; calls that are refused with
	// trailers only; responses that end with RST_STREAM.
	pings, resizes, emptyEnds, refusals, resets float64
}

// dubboStyle is what Dubbo 3.2 and 3.3 write for unary calls, frames of 16 KiB aside: between two of them frames are as large
// as messages.
var dubboStyle = http2Style{name: "dubbo", frame: 16 << 10, headerFrame: 16 << 10, table: 4096, pings: 1}

// http2Styles are the styles of the mix "http2", which its connections have in turn.
var http2Styles = []http2Style{
	dubboStyle,
	{name: "dubbo, large frames", frame: 8 << 20, headerFrame: 16 << 10, table: 65_536, pings: 1, refusals: 5},
	{name: "dubbo, trace ids", trace: true, interleaves: true, frame: 16 << 10, headerFrame: 16 << 10, table: 4096, pings: 5, refusals: 10},
	{name: "dubbo, streams", streams: true, interleaves: true, frame: 16 << 10, headerFrame: 16 << 10, emptyEnds: 500, streamWindows: true, resets: 10},
	{name: "dubbo, gzip", gzip: true, interleaves: true, frame: 16 << 10, headerFrame: 16 << 10, pings: 5, emptyEnds: 100},
	{name: "grpc", grpc: true, trace: true, streams: true, interleaves: true, frame: 16 << 10, headerFrame: 16 << 10, pings: 20, streamWindows: true, refusals: 10, resets: 10},
	{name: "grpc, large headers", grpc: true, trace: true, large: true, interleaves: true, frame: 16 << 10, headerFrame: 16 << 10, table: 8192, pings: 5},
	{name: "padding and resizing", trace: true, streams: true, interleaves: true, padding: 100, frame: 4 << 10, headerFrame: 64, resizes: 60, pings: 10, emptyEnds: 300},
}

// settings returns the first settings of a side, as Dubbo 3.3 sends them.
func (s *http2Style) settings(client bool) (list []http2.Setting) {
	if s.table > 0 {
		list = append(list, http2.Setting{ID: http2.SettingHeaderTableSize, Val: s.table})
	}
	if client {
		list = append(list, http2.Setting{ID: http2.SettingEnablePush, Val: 0})
	}
	return append(list,
		http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1<<31 - 1},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: 8 << 20},
		http2.Setting{ID: http2.SettingMaxFrameSize, Val: 8 << 20},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: 32_768})
}

// encode compresses a message if the style does.
func (s *http2Style) encode(b []byte) []byte {
	if !s.gzip {
		return b
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

func (c *http2Conn) requestHeaders(m *method) []hpack.HeaderField {
	list := []hpack.HeaderField{
		{Name: ":scheme", Value: "http"},
		{Name: ":authority", Value: "10.2.0.1:50051"},
		{Name: ":method", Value: "POST"},
		{Name: ":path", Value: "/" + m.service + "/" + m.name},
	}
	add := func(name, value string) { list = append(list, hpack.HeaderField{Name: name, Value: value}) }
	if c.style.grpc {
		add("content-type", "application/grpc")
		add("te", "trailers")
		add("user-agent", "grpc-java-netty/1.66.0")
		add("grpc-accept-encoding", "gzip")
		add("grpc-timeout", strconv.Itoa(4_900_000+c.rng.IntN(99_999))+"u")
	} else {
		add("content-type", "application/grpc+proto")
		add("te", "trailers")
		add("grpc-timeout", "3000000u")
		add("tri-consumer-appname", "shop-web")
		add("grpc-accept-encoding", "gzip,snappy")
		add("timeout", "3000")
	}
	if c.style.gzip {
		add("grpc-encoding", "gzip")
	}
	if c.style.trace {
		add("tri-trace-traceid", fmt.Sprintf("%016x%016x", c.rng.Uint64(), c.rng.Uint64()))
		add("tri-trace-rpcid", fmt.Sprintf("0.%d.%d", c.rng.IntN(9), c.rng.IntN(100)))
		if c.style.grpc { // a peer that is not Dubbo's has no headers of Dubbo
			list[len(list)-2].Name, list[len(list)-1].Name = "x-b3-traceid", "x-b3-spanid"
		}
	}
	if c.style.large {
		n := 1 + c.rng.IntN(3)
		if c.rng.IntN(20) == 0 {
			n = 20
		}
		for i := range n {
			list = append(list, hpack.HeaderField{
				Name: "x-claims-" + strconv.Itoa(i), Value: strings.Repeat(fmt.Sprintf("%08x.", c.rng.Uint32()), 220), Sensitive: i&1 == 1,
			})
		}
	}
	return list
}

func (c *http2Conn) responseHeaders() []hpack.HeaderField {
	list := []hpack.HeaderField{{Name: ":status", Value: "200"}}
	if !c.style.grpc {
		list = append(list, hpack.HeaderField{Name: "te", Value: "trailers"})
	}
	list = append(list, hpack.HeaderField{Name: "content-type", Value: "application/grpc"})
	if c.style.gzip {
		list = append(list, hpack.HeaderField{Name: "grpc-encoding", Value: "gzip"})
	}
	if c.style.trace && c.rng.IntN(3) == 0 {
		list = append(list, hpack.HeaderField{Name: "x-served-by", Value: strconv.Itoa(c.rng.IntN(1e6))})
	}
	return list
}
