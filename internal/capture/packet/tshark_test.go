package packet

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/dev/testkit"
)

// tsharkSegments are the segments that tshark finds in a capture file: the innermost of each packet, after it has put fragments
// together. One line each: packet number, ports, sequence number, length of the payload.
func tsharkSegments(t *testing.T, pcap []byte, options ...string) []string {
	file := filepath.Join(t.TempDir(), "x.pcap")
	require.NoError(t, os.WriteFile(file, pcap, 0o644))
	args := []string{
		"-n", "-r", file, "-T", "fields", "-E", "occurrence=l", "-o", "ip.defragment:TRUE", "-Y", "tcp",
		"-d", "udp.port==8472,vxlan",
	}
	args = append(args, options...)
	for _, f := range []string{"frame.number", "tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.len"} {
		args = append(args, "-e", f)
	}
	var stderr bytes.Buffer
	c := exec.Command("tshark", args...)
	c.Stderr = &stderr
	out, err := c.Output()
	require.NoError(t, err, stderr.String())
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// ourSegments are the same by Decode.
func ourSegments(d *Decoder, number int, p *capture.Packet) []string {
	var s Segment
	if d.Decode(p, &s) != TCP {
		return nil
	}
	return []string{fmt.Sprintf("%d\t%d\t%d\t%d\t%d", number, s.Src.Port, s.Dst.Port, s.Seq, s.PayloadLen)}
}

func compareSegments(t *testing.T, want, got []string) {
	require.Equal(t, len(want), len(got), "segments")
	for i := range want {
		if want[i] != got[i] {
			t.Fatalf("segment %d: tshark %q, here %q", i, want[i], got[i])
		}
	}
}

func needTshark(t *testing.T) {
	testkit.Needs(t, "tshark")
	if testing.Short() {
		t.Skip("tshark starts slowly")
	}
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("no tshark here")
	}
}

// tshark finds the same segments in the captures of link layers, tunnels, fragments and losses.
func TestSegmentsAgreeWithTshark(t *testing.T) {
	needTshark(t)
	paths, err := filepath.Glob("../../../testdata/captures/*.pcap*")
	require.NoError(t, err)
	wanted := regexp.MustCompile(`^(bid-(plain|cooked|ipv6)|mtu|snap|tunnel|tags|fragments|nflog|mirror|two|any|both|offload)`)
	for _, path := range paths {
		if !wanted.MatchString(filepath.Base(path)) {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := capture.Open([]string{path}, capture.Options{})
			require.NoError(t, err)
			defer f.Close()
			var options []string
			if strings.HasPrefix(filepath.Base(path), "tags-pseudowire") {
				options = []string{"-d", "mpls.label==100,pwethnocw"}
			}
			var b []byte
			var got []string
			var p capture.Packet
			var d Decoder
			for n := 1; ; n++ {
				err := f.Next(&p)
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				b = appendPcap(b, &p)
				got = append(got, ourSegments(&d, n, &p)...)
			}
			compareSegments(t, tsharkSegments(t, b, options...), got)
		})
	}
}

// A recorded conversation in each tunnel, and in fragments, is to tshark what it is here.
func TestTunnelsAgreeWithTshark(t *testing.T) {
	needTshark(t)
	files := map[capture.LinkType][]byte{}
	got := map[capture.LinkType][]string{}
	names := map[capture.LinkType][]string{}
	decoders := map[capture.LinkType]*Decoder{}
	add := func(name string, p *capture.Packet) {
		link := p.Link
		files[link] = appendPcap(files[link], p)
		names[link] = append(names[link], name)
		if decoders[link] == nil {
			decoders[link] = new(Decoder)
		}
		got[link] = append(got[link], ourSegments(decoders[link], len(names[link]), p)...)
	}
	id := uint32(0)
	for _, name := range []string{"bid-plain.pcap", "bid-ipv6.pcap"} {
		for i, ip := range realPackets(t, name)[:30] {
			for _, c := range tunnels() {
				if notTsharks[c.name] == "" {
					add(c.name, c.wrap(t, ip))
				}
			}
			if i < 4 || len(ip) < 60 {
				continue
			}
			id++
			for _, f := range split(ip, 8*(1+len(ip)/40), id) {
				add("fragments", behind(1, hdrMACs+etherOf(f), f))
			}
		}
	}
	for link, b := range files {
		t.Run(link.String(), func(t *testing.T) {
			want := tsharkSegments(t, b, "-d", "mpls.label==32,pwethnocw", "-d", "mpls.label==48,pwethcw")
			seen := map[string]bool{}
			for _, w := range want {
				seen[w] = true
			}
			for _, g := range got[link] {
				if !seen[g] {
					var n int
					_, _ = fmt.Sscan(g, &n)
					t.Errorf("%s: here %q, not there", names[link][n-1], g)
				}
			}
			assert.Equal(t, len(want), len(got[link]))
		})
	}
}

// notTsharks are tunnels that tshark 4.0 does not read, and why.
var notTsharks = map[string]string{
	"gre, vlan":           "does not know this protocol type of GRE",
	"nflog, big-endian":   "takes the byte order of its own machine",
	"netanalyzer":         "wants more of the four bytes than their number",
	"mpls link":           "link type 219 is unknown to it",
	"hdlc with direction": "link type 205 is unknown to it",
}
