package main

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// record is a packet of a pcap file in little-endian byte order, with its header of 16 bytes.
type record []byte

// packetsOf returns the packets of a committed capture over Ethernet and IPv4, and the file's header.
func packetsOf(t *testing.T, name string) (head []byte, packets []record) {
	t.Helper()
	data := testkit.Get(t, name).Bytes(t)
	for at := 24; at < len(data); {
		n := 16 + int(binary.LittleEndian.Uint32(data[at+8:]))
		packets = append(packets, slices.Clone(data[at:at+n]))
		at += n
	}
	return data[:24], packets
}

// cut returns the packet as it is if the capture keeps n bytes of it.
func (r record) cut(n int) record {
	if n >= len(r)-16 {
		return r
	}
	r = slices.Clone(r[:16+n])
	binary.LittleEndian.PutUint32(r[8:], uint32(n))
	return r
}

// payload returns where the payload of the TCP segment begins in the record, and how many bytes it has.
func (r record) payload() (at, n int) {
	ip := 16 + 14
	at = ip + int(r[ip]&15)*4
	at += int(r[at+12]>>4) * 4
	return at, ip + int(binary.BigEndian.Uint16(r[ip+2:])) - at
}

// fromServer reports whether the packet comes from port 20880.
func (r record) fromServer() bool { return binary.BigEndian.Uint16(r[16+14+20:]) == 20880 }

// written writes packets to a file.
func written(t *testing.T, head []byte, packets []record) string {
	t.Helper()
	data := slices.Clone(head)
	for _, r := range packets {
		data = append(data, r...)
	}
	file := filepath.Join(t.TempDir(), "altered.pcap")
	require.NoError(t, os.WriteFile(file, data, 0o666))
	return file
}

// analyzed returns the report of a file, whose books must balance.
func analyzed(t *testing.T, file string) *jsonReport {
	t.Helper()
	r, err := parseReport([]byte(must(t, "analyze", file, "--format", "json")))
	require.NoError(t, err)
	require.NoError(t, r.balance())
	return r
}

// A response of which the capture has only the start is not shown as one that arrived whole.
func TestIncompleteResponse(t *testing.T) {
	head, packets := packetsOf(t, "bid-plain")
	k := slices.IndexFunc(packets, func(r record) bool { _, n := r.payload(); return r.fromServer() && n > 100 })
	at, _ := packets[k].payload()
	packets[k] = packets[k].cut(at - 16 + 40)
	file := written(t, head, packets)
	analyzed(t, file)

	lines := strings.Split(strings.TrimSpace(must(t, "calls", file, "--format", "jsonl")), "\n")
	assert.Equal(t, 1, strings.Count(strings.Join(lines, ""), `"responseComplete":false`))
	assert.NotContains(t, strings.Join(lines, ""), `"requestComplete"`)
	for _, line := range lines {
		var c struct {
			ResponseComplete *bool
			LatencyMicros    *float64
		}
		require.NoError(t, json.Unmarshal([]byte(line), &c))
		assert.Equal(t, c.ResponseComplete != nil, c.LatencyMicros == nil, line)
	}
	table := must(t, "calls", file)
	assert.Equal(t, 1, strings.Count(table, " incomplete "), table)
	assert.Equal(t, len(lines)-1, strings.Count(table, " ok "))
}

// Packets without the padding or the frame check sequence that was on the wire lack no data.
func TestMissingTrailers(t *testing.T) {
	head, packets := packetsOf(t, "bid-plain")
	for i, r := range packets {
		binary.LittleEndian.PutUint32(r[12:], uint32(len(r)-16+4+i%2*6)) // bytes on the wire
	}
	file := written(t, head, packets)
	analyzed(t, file)
	text := must(t, "analyze", file)
	assert.NotContains(t, text, "snap length")
	assert.Contains(t, text, "packets lack only bytes after the IP packet")
	assert.Contains(t, must(t, "analyze", file, "--format", "json"), `"packetsWithoutTrailer": `)

	packets[8] = packets[8].cut(40)
	assert.Contains(t, must(t, "analyze", written(t, head, packets)), "1 packet was cut by the snap length")
}

// Long ids do not move the columns after them.
func TestLongIDs(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	for _, command := range []string{"calls", "frames"} {
		lines := strings.Split(must(t, command, capturePath("hessian2-3.3.6.pcap.zst")), "\n")
		k := slices.IndexFunc(lines, func(s string) bool { return strings.Contains(s, "latency") || strings.Contains(s, "status") })
		require.GreaterOrEqual(t, k, 0)
		end := strings.Index(lines[k], " id ") + len(" id")
		rows := 0
		for _, line := range lines[k+1:] {
			if cells := []rune(line); len(cells) > end && cells[0] == ' ' {
				rows++
				assert.True(t, cells[end-1] >= '0' && cells[end-1] <= '9' && cells[end] == ' ', line)
			}
		}
		assert.Greater(t, rows, 40)
	}
}

// After a FIN a direction goes on in another sequence space, and the other one is not captured: no byte of it vanishes.
func TestNewSequenceSpaceAfterFIN(t *testing.T) {
	for _, c := range []struct {
		server bool
		shift  uint32
	}{{false, 1 << 24}, {true, 1 << 24}, {false, 1 << 28}, {true, 5000}, {false, 1 << 31}} {
		head, all := packetsOf(t, "bid-plain")
		packets, payload := slices.Clone(all[:3]), 0
		fin := slices.Clone(all[2])
		if c.server {
			fin = slices.Clone(all[1])
			binary.BigEndian.PutUint32(fin[54:], binary.BigEndian.Uint32(fin[54:])+1)
		}
		fin[16+14+20+13] = 0x11
		packets = append(packets, fin)
		for _, r := range all[3:] {
			if r.fromServer() == c.server {
				binary.BigEndian.PutUint32(r[54:], binary.BigEndian.Uint32(r[54:])+c.shift)
				_, n := r.payload()
				payload += n
				packets = append(packets, r)
			}
		}
		r := analyzed(t, written(t, head, packets))
		assert.Equal(t, int64(payload), r.Coverage.TCPPayloadBytes+r.Wire.RetransmittedBytes, "%+v", c)
		if r.Coverage.SkippedBytes > 0 {
			assert.Less(t, r.Coverage.Percent, 100.0)
		}
	}
}
