package packet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/dev/testkit"
)

// appendPcap appends a packet to a pcap file, which may be empty.
func appendPcap(b []byte, p *capture.Packet) []byte {
	o := binary.LittleEndian
	if b == nil {
		b = o.AppendUint32(nil, 0xa1b23c4d)
		b = append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0)
		b = o.AppendUint32(b, uint32(p.Link))
	}
	b = o.AppendUint32(b, uint32(p.Time/1e9))
	b = o.AppendUint32(b, uint32(p.Time%1e9))
	b = o.AppendUint32(b, uint32(len(p.Data)))
	b = o.AppendUint32(b, uint32(p.WireLen))
	return append(b, p.Data...)
}

// tcpdump finds as many packets, and as many with TCP, in every committed capture.
// It gets what we have read, as plain pcap, since it reads no zstd.
func TestCountsAgreeWithTcpdump(t *testing.T) {
	testkit.Needs(t, "tcpdump")
	if _, err := exec.LookPath("tcpdump"); err != nil {
		t.Skip("no tcpdump here")
	}
	empty := exec.Command("tcpdump", "--count", "-r", "-")
	empty.Stdin = bytes.NewReader(appendPcap(nil, &capture.Packet{Link: capture.LinkEthernet}))
	if out, err := empty.CombinedOutput(); err != nil {
		t.Skipf("this tcpdump cannot count: %s", out)
	}
	paths, err := filepath.Glob("../../../testdata/captures/*.pcap*")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := capture.Open([]string{path}, capture.Options{})
			require.NoError(t, err)
			defer f.Close()
			var b []byte
			var p capture.Packet
			var d Decoder
			var s Segment
			packets, segments := 0, 0
			for {
				err := f.Next(&p)
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				b = appendPcap(b, &p)
				packets++
				if d.Decode(&p, &s) == TCP {
					segments++
				}
			}
			require.Len(t, f.Inputs()[0].LinkTypes, 1)
			count := func(filter ...string) string {
				c := exec.Command("tcpdump", append([]string{"--count", "-r", "-"}, filter...)...)
				c.Stdin = bytes.NewReader(b)
				out, err := c.Output()
				require.NoError(t, err)
				return strings.TrimSuffix(strings.TrimSpace(string(out)), "s")
			}
			assert.Equal(t, fmt.Sprint(packets, " packet"), count())
			if !beyond.MatchString(filepath.Base(path)) {
				assert.Equal(t, fmt.Sprint(segments, " packet"), count("tcp"))
			}
		})
	}
}
