package redact

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/redact/scrub"
	"dubbo-wire/internal/rpc"
)

const captures = "../../testdata/captures"

var testKey = [32]byte{7, 7, 7}

// redacted is what was made of a capture.
type redacted struct {
	path  string
	sum   Summary
	texts map[string]bool // that were replaced
	kept  []byte          // what frames became: package scrub says what of them may stay
}

// keeper looks at what the redactor is given.
type keeper struct {
	*Redactor
	x        *redacted
	scrubber *scrub.Scrubber
}

func (k keeper) Frame(r *pipeline.Row) {
	kept, note := k.scrubber.Message(k.x.kept, r.Msg)
	k.x.kept = append(append(kept, note.String()...), 0)
	k.Redactor.Frame(r)
}

func redactFile(t testing.TB, o Options, paths ...string) *redacted {
	t.Helper()
	src, err := capture.Open(paths, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	return redactSource(t, o, src)
}

func redactSource(t testing.TB, o Options, src *capture.Files) *redacted {
	t.Helper()
	x := &redacted{texts: map[string]bool{}, path: filepath.Join(t.TempDir(), "out.pcapng")}
	f, err := os.Create(x.path)
	require.NoError(t, err)
	defer f.Close()
	o.File, o.Protocols, o.Formats, o.Key, o.Origin, o.Ended = f, protocols.All(), formats.All(), testKey, src.Origin, src.Ended
	r := New(o)
	r.scrubber.Record(func(text string) { x.texts[text] = true })
	opt := pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, WholeBodies: true, Rows: true, Tap: r}
	_, err = pipeline.Run(src, opt, keeper{r, x, scrub.New(formats.All(), testKey)})
	require.NoError(t, err)
	x.sum, err = r.Close()
	require.NoError(t, err)
	require.Empty(t, r.dirsInUse(), "directions that nobody needs")
	return x
}

// dirsInUse is the directions that are still kept for something but claims.
func (r *Redactor) dirsInUse() (all []string) {
	for at, d := range r.dirs {
		if d.conns+d.units > 0 || len(d.claims) == 0 {
			all = append(all, at.src.String()+" "+at.dst.String())
		}
	}
	return all
}

// facts are what a capture says, but for values, addresses, and what is not TCP.
type facts struct {
	pipeline.Totals
	Rows  []string
	Calls []string
}

func (f *facts) Frame(r *pipeline.Row) {
	m := r.Msg
	line := fmt.Sprint(r.Number, r.Conn.Number, r.Side, m.Protocol.Name, m.HeaderLen, m.BodyLen, m.Status, m.Encoding, m.UncompressedLen, m.Captured, m.MissingAt, m.Short, m.Resync, m.LastByte, m.Span, m.Wire, len(m.Body), m.Kind, m.Format == nil)
	if m.Operation != nil {
		service := m.Operation.Service
		if call.IsHost(service) {
			service = "an address" // redacted, as those of packets
		}
		line += fmt.Sprint(service, m.Operation.Version, m.Operation.Method, m.Operation.Types, m.Group, m.GenericMethod)
	}
	if m.Extra != nil {
		line += fmt.Sprint(m.Extra.More)
	}
	f.Rows = append(f.Rows, line+fmt.Sprint(m.Exchange, m.Ordinal, m.Ends, m.FieldsLen, m.FieldsPlainLen, m.Serialization, m.ResultKind, m.ExceptionClass))
}

func (f *facts) Call(c *call.Call, _ bool) {
	line := fmt.Sprint(c.State(), c.Side)
	for _, m := range [2]*call.Message{c.Request, c.Response} {
		if m != nil {
			line += fmt.Sprint(m.Number, m.Wire)
		}
	}
	f.Calls = append(f.Calls, line)
}

// headers collects the texts of headers, which may be coded in the file.
type headers []byte

func (h *headers) Frame(r *pipeline.Row) {
	for _, f := range r.Msg.Headers {
		*h = append(append(append(append(*h, f.Name...), 0), f.Value...), 0)
	}
}

func (h *headers) Call(*call.Call, bool) {}

func headersOf(t testing.TB, path string) []byte {
	t.Helper()
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	var h headers
	_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Parts, Rows: true}, &h)
	require.NoError(t, err)
	return h
}

func factsOf(t testing.TB, paths ...string) *facts {
	t.Helper()
	src, err := capture.Open(paths, capture.Options{})
	require.NoError(t, err)
	return factsFrom(t, src)
}

func factsFrom(t testing.TB, src *capture.Files) *facts {
	t.Helper()
	defer src.Close()
	f := new(facts)
	totals, err := pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Envelope, Rows: true}, f)
	require.NoError(t, err)
	f.Totals = *totals
	for _, o := range f.Totals.Other { // names of hosts are left out
		o.Handshakes = nil
	}
	f.Packets, f.LinkBytes, f.NotTCPBytes, f.FragmentBytes, f.NotTCP, f.Unread = 0, 0, 0, 0, nil, nil
	return f
}

// words are those of comments, and of headers that stay.
const words = comment + "frame bytes behind a gap replaced by filler beyond the limit of bodies gzip grpc-status-details-bin"

// leaks are the texts that were replaced and are in the output. What stays is looked for last: few texts are in the output at all.
func (x *redacted) leaks(out []byte) (found []string) {
	hash := func(b []byte) uint32 { return binary.LittleEndian.Uint32(b) * 0x9e3779b1 >> 16 }
	var any [1 << 16]bool
	heads := map[[4]byte][]string{}
	for text := range x.texts {
		if bytes.Count([]byte(text), []byte{0}) >= len(text)-1 {
			continue // as the zeros of padding
		}
		any[hash([]byte(text))] = true
		heads[[4]byte([]byte(text))] = append(heads[[4]byte([]byte(text))], text)
	}
	stays := map[string]bool{}
	for i := 0; i+4 <= len(out); i++ {
		if !any[hash(out[i:])] {
			continue
		}
		for _, text := range heads[[4]byte(out[i:])] {
			if !bytes.HasPrefix(out[i:], []byte(text)) {
				continue
			}
			stay, known := stays[text]
			if !known {
				stay = bytes.Contains(x.kept, []byte(text)) || strings.Contains(words, text)
				stays[text] = stay
			}
			if !stay {
				found = append(found, fmt.Sprintf("%q at %d", text, i))
			}
		}
	}
	return found
}

// addressesOf is the addresses of a capture's segments and MACs.
func addressesOf(t testing.TB, path string) (ips, macs map[string]bool) {
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	ips, macs = map[string]bool{}, map[string]bool{}
	d := packet.Decoder{Layers: new(packet.Layers)}
	var p capture.Packet
	var s packet.Segment
	for {
		if err := src.Next(&p); errors.Is(err, io.EOF) {
			return ips, macs
		}
		if v := d.Decode(&p, &s); v != packet.TCP && v != packet.Held {
			continue
		}
		for _, l := range d.Layers.All {
			if l.In > 0 {
				continue
			}
			switch b := p.Data[l.From:l.To]; l.Kind {
			case packet.LayerIPv4:
				ips[string(b[12:16])], ips[string(b[16:20])] = true, true
			case packet.LayerIPv6:
				ips[string(b[8:24])], ips[string(b[24:40])] = true, true
			case packet.LayerAddresses:
				macs[string(b[:6])], macs[string(b[6:])] = true, true
			}
		}
	}
}

// Of every capture the output says the same, has all packets of TCP, and nothing that was replaced.
func TestCopies(t *testing.T) {
	testkit.EachLeft(t, 50, func(t *testing.T, c *testkit.Capture) {
		file := c.Path()
		x := redactFile(t, Options{}, file)
		was, is := factsOf(t, file), factsOf(t, x.path)
		assert.Equal(t, was.Totals, is.Totals)
		assert.Equal(t, was.Rows, is.Rows)
		assert.Equal(t, was.Calls, is.Calls)
		out, err := os.ReadFile(x.path)
		require.NoError(t, err)
		assert.Empty(t, x.leaks(out))
		ips, macs := addressesOf(t, file)
		newIPs, newMACs := addressesOf(t, x.path)
		assert.Len(t, newIPs, len(ips))
		for ip := range newIPs {
			assert.False(t, ips[ip], "%x stayed", ip)
		}
		for mac := range newMACs {
			assert.False(t, macs[mac] && mac != "\x00\x00\x00\x00\x00\x00" && mac != "\xff\xff\xff\xff\xff\xff", "%x stayed", mac)
		}
		assert.Equal(t, int64(len(was.Rows)), x.sum.Frames)
		assert.Empty(t, x.sum.Refused)
		assert.Empty(t, x.leaks(headersOf(t, x.path)), "in headers")
	}, "any-doubles", "both-ends", "edge-dubbo-2.5.3", "edge-fastjson2-3.3.6", "edge-kryo", "fragments-v4", "hessian2-3.3.6", "loss", "mixed", "snap200",
		"triple-3.3.6", "triple-bzip2-3.2.16", "triple-gzip-3.2.16", "triple-midway-3.2.16", "triple-missed-3.3.6", "grpc-go-to-java", "tunnel-vxlan")
}

// Packets keep their time, their lengths, their ports and their flags.
func TestPacketsStay(t *testing.T) {
	for _, name := range []string{"hessian2.pcap.zst", "loss.pcap.zst", "fragments-v4.pcap.zst", "tunnel-geneve.pcap.zst", "any-doubles.pcap.zst", "snap200.pcap.zst"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(captures, name)
			x := redactFile(t, Options{}, path)
			was, is := segmentsOf(t, path), segmentsOf(t, x.path)
			assert.Equal(t, was, is)
			assert.Equal(t, int64(len(was)), x.sum.Packets)
		})
	}
}

func segmentsOf(t testing.TB, path string) (all []string) {
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	var d packet.Decoder
	var p capture.Packet
	for {
		if err := src.Next(&p); errors.Is(err, io.EOF) {
			return all
		}
		var s packet.Segment
		v := d.Decode(&p, &s)
		if v != packet.TCP && v != packet.Held {
			continue
		}
		all = append(all, fmt.Sprint(v, p.Time, p.WireLen, len(p.Data), p.Link, s.Src.Port, s.Dst.Port, s.Seq, s.Ack, s.Flags, s.Window, s.PayloadLen, len(s.Payload), s.Padding, s.Extra))
	}
}

// Wireshark finds all checksums right, but those of packets that are not whole.
func TestChecksums(t *testing.T) {
	testkit.Needs(t, "tshark")
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("no tshark on this machine: checksums are not compared with its own")
	}
	for _, name := range []string{"hessian2", "bid-ipv6", "fragments-v4", "fragments-v6", "fragments-vxlan", "tunnel-vxlan", "tunnel-geneve", "tunnel-gre", "tunnel-6in4", "tags-mpls", "offload", "loss", "triple-3.3.6", "triple-gzip-3.2.16", "grpc-go-1.72.0", "grpc-java-1.72.0"} {
		if testing.Short() && name != "fragments-v4" && name != "hessian2" {
			continue
		}
		x := redactFile(t, Options{}, testkit.Get(t, name).Path())
		out, err := exec.Command(tshark, "-r", x.path, "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
			"-T", "fields", "-e", "tcp.checksum.status", "-e", "ip.checksum.status", "-e", "udp.checksum.status").Output()
		require.NoError(t, err)
		assert.Contains(t, string(out), "1")
		assert.NotContains(t, string(out), "0", "%s: bad checksums", name)
		broken, err := exec.Command(tshark, "-r", x.path, "-Y", "_ws.malformed").Output()
		require.NoError(t, err)
		assert.Empty(t, string(broken), name)
	}
}

// With little memory packets are written before their frames are known, and written again.
func TestSmallWindow(t *testing.T) {
	for _, name := range []string{"hessian2.pcap.zst", "loss.pcap.zst", "mtu1500.pcap.zst", "fragments-v4.pcap.zst"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(captures, name)
			small := redactFile(t, Options{Window: 1, Memory: 1}, path)
			was, is := factsOf(t, path), factsOf(t, small.path)
			assert.Equal(t, was.Totals, is.Totals)
			assert.Equal(t, was.Rows, is.Rows)
			out, err := os.ReadFile(small.path)
			require.NoError(t, err)
			assert.Empty(t, small.leaks(out))
		})
	}
}

// One key makes the same, another one something else.
func TestKey(t *testing.T) {
	path := filepath.Join(captures, "loss.pcap.zst")
	one, two := redactFile(t, Options{}, path), redactFile(t, Options{}, path)
	a, err := os.ReadFile(one.path)
	require.NoError(t, err)
	b, err := os.ReadFile(two.path)
	require.NoError(t, err)
	assert.Equal(t, a, b)
	x, y := newAddresses(testKey), newAddresses([32]byte{8})
	p, q := []byte{10, 0, 0, 1}, []byte{10, 0, 0, 1}
	x.ipv4(p)
	y.ipv4(q)
	assert.NotEqual(t, p, q)
	assert.GreaterOrEqual(t, binary.BigEndian.Uint32(p), uint32(240<<24))
}

// What is redacted may be redacted again.
func TestTwice(t *testing.T) {
	path := filepath.Join(captures, "loss.pcap.zst")
	once := redactFile(t, Options{}, path)
	again := redactFile(t, Options{}, once.path)
	was, is := factsOf(t, path), factsOf(t, again.path)
	assert.Equal(t, was.Totals, is.Totals)
	assert.Equal(t, was.Rows, is.Rows)
}
