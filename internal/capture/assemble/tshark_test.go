package assemble

import (
	"encoding/hex"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/dev/testkit"
)

// kept is a handler that keeps all bytes of all streams.
type kept struct {
	conns []*keptConn
}

type keptConn struct {
	ends  [2]string
	sides [2]keptStream
}

type keptStream struct {
	b    []byte
	gaps int
}

func (k *kept) Begin(*Connection) {}
func (k *kept) Close(*Connection) {}

func (k *kept) Open(c *Connection) *Flow {
	n := &keptConn{ends: [2]string{c.Ends[0].String(), c.Ends[1].String()}}
	k.conns = append(k.conns, n)
	return new(Flow).Open([2]Stream{&n.sides[0], &n.sides[1]})
}

func (s *keptStream) Data(b []byte, _ *Meta)          { s.b = append(s.b, b...) }
func (s *keptStream) Gap(_, _ int64, _ *Meta)         { s.gaps++ }
func (s *keptStream) Repeat(int, *Meta)               {}
func (s *keptStream) Late(b []byte, _ int64, _ *Meta) { s.gaps += len(b) }
func (s *keptStream) End(bool)                        {}
func (c *keptConn) way(i int) string                  { return c.ends[i] + " > " + c.ends[1-i] }
func (c *keptConn) text(i int) string                 { return c.way(i) + " " + hex.EncodeToString(c.sides[i].b) }
func addWay(to []string, c *keptConn) (_ []string)    { return append(to, c.text(0), c.text(1)) }

// follow is what tshark makes of the streams of a capture, and of the first n of them.
func follow(t *testing.T, path string, n int) (ways []string) {
	args := []string{"-r", path, "-q"}
	for i := range n {
		args = append(args, "-z", fmt.Sprintf("follow,tcp,raw,%d", i))
	}
	out, err := exec.Command("tshark", args...).Output()
	require.NoError(t, err)
	var c *keptConn
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "===") || line == "" || strings.HasPrefix(line, "Follow: ") || strings.HasPrefix(line, "Filter: "):
		case strings.HasPrefix(line, "Node 0: "):
			c = &keptConn{}
			c.ends[0] = line[len("Node 0: "):]
		case strings.HasPrefix(line, "Node 1: "):
			c.ends[1] = line[len("Node 1: "):]
		default:
			i := 0
			if line[0] == '\t' {
				i = 1
			}
			b, err := hex.DecodeString(line[i:])
			require.NoError(t, err, line)
			c.sides[i].b = append(c.sides[i].b, b...)
			continue
		}
		if strings.HasPrefix(line, "===") && c != nil && c.sides[0].b != nil {
			ways = addWay(ways, c)
			c = nil
		}
	}
	return ways
}

// On clean captures the streams are those that tshark reassembles, byte for byte.
func TestAgreesWithTshark(t *testing.T) {
	testkit.Needs(t, "tshark")
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed: ", err)
	}
	names := []string{
		"bid-cooked1.pcap.gz", "bid-cooked2.pcap.zst", "bid-gzip.pcap.gz", "bid-ipv6.pcap", "bid-pcapng.pcapng", "exhausted-3.3.6.pcap.zst",
		"fleet.pcap.zst", "graceful-3.3.6.pcap.zst", "mixed-3.3.6.pcap.zst", "mixed.pcap.zst", "mtu1500.pcap.zst", "one-port-3.3.6.pcap.zst",
		"rest-3.3.6.pcap.zst", "triple-3.3.6.pcap.zst",
	}
	if testing.Short() {
		names = names[:3]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("../../../testdata/captures", name)
			src, err := capture.Open([]string{path}, capture.Options{})
			require.NoError(t, err)
			defer src.Close()
			k := &kept{}
			a := New(Config{}, k)
			var p capture.Packet
			var d packet.Decoder
			var s packet.Segment
			for n := int64(1); ; n++ {
				if err := src.Next(&p); err != nil {
					require.ErrorIs(t, err, io.EOF)
					break
				}
				if d.Decode(&p, &s) == packet.TCP {
					a.Segment(&s, &Origin{
						Ordinal: n, Time: p.Time, Packet: p.Number, File: p.File, Interface: p.Interface, Overhead: p.WireLen - s.PayloadLen,
					})
				}
			}
			a.End()
			require.NoError(t, a.Ledger.Balance())
			var ours []string
			for _, c := range k.conns {
				assert.Zero(t, c.sides[0].gaps+c.sides[1].gaps)
				ours = addWay(ours, c)
			}
			theirs := follow(t, path, int(a.Ledger.Connections))
			require.NotEmpty(t, ours)
			slices.Sort(ours)
			slices.Sort(theirs)
			require.Len(t, theirs, len(ours))
			for i := range ours {
				require.True(t, ours[i] == theirs[i], "%.60s, and %.60s: %d and %d digits", ours[i], theirs[i], len(ours[i]), len(theirs[i]))
			}
		})
	}
}
