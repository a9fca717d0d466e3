package record_test

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/capture/record"
)

// made is a capture made of TCP segments over raw IPv4.
type made struct {
	packets []capture.Packet
	at      int
}

func (m *made) Next(p *capture.Packet) error {
	if m.at == len(m.packets) {
		return capture.ErrClosed
	}
	*p = m.packets[m.at]
	m.at++
	p.Number = int64(m.at)
	return nil
}

func (m *made) Close() error { return nil }

// tcp adds a segment of a connection from host 1 to host 2.
func (m *made) tcp(at time.Duration, from, to uint16, flags uint8, seq uint32, payload []byte) {
	b := make([]byte, 40+len(payload))
	b[0], b[8], b[9] = 0x45, 64, 6
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	copy(b[12:], []byte{10, 0, 0, 1, 10, 0, 0, 2})
	binary.BigEndian.PutUint16(b[20:], from)
	binary.BigEndian.PutUint16(b[22:], to)
	binary.BigEndian.PutUint32(b[24:], seq)
	b[32], b[33], b[34] = 0x50, flags, 0xff
	copy(b[40:], payload)
	m.packets = append(m.packets, capture.Packet{Data: b, WireLen: len(b), Time: int64(100*time.Second + at), Link: capture.LinkRaw})
}

// request is a one-way call of a method without arguments, in hessian2.
func request(id uint64, method string) []byte {
	body := []byte("\x052.0.2\x01S\x050.0.0" + string(rune(len(method))) + method + "\x00HZ")
	b := binary.BigEndian.AppendUint64([]byte{0xda, 0xbb, 0x82, 0}, id)
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	return append(b, body...)
}

// TestTimesStepBack: many connections are silent for a minute before their first call, so that their handshakes stand in
// the file far after where their times belong. That takes no time away from others: another one, whose segments may come
// out of order all along, loses nothing.
func TestTimesStepBack(t *testing.T) {
	for _, outOfOrder := range []bool{false, true} {
		t.Run(fmt.Sprint("out of order ", outOfOrder), func(t *testing.T) { timesStepBack(t, outOfOrder) })
	}
}

func timesStepBack(t *testing.T, outOfOrder bool) {
	const silent = 50
	m := &made{}
	for i := range uint16(silent) {
		m.tcp(time.Duration(i), 1000+i, 20880, packet.SYN, 99, nil)
		m.tcp(time.Duration(100+i), 1000+i, 20880, packet.ACK, 100, nil)
	}
	seq := uint32(100)
	m.tcp(time.Second, 999, 20880, packet.SYN, 99, nil)
	m.tcp(time.Second, 999, 20880, packet.ACK, seq, request(1, "first"))
	seq += uint32(len(request(1, "first")))
	for i := range uint16(silent) {
		at := time.Minute + time.Duration(i)*time.Second
		one := request(uint64(i)+2, "late")
		half := len(one) / 2
		parts := [2]func(at time.Duration){
			func(at time.Duration) { m.tcp(at, 999, 20880, packet.ACK, seq, one[:half]) },
			func(at time.Duration) { m.tcp(at, 999, 20880, packet.ACK, seq+uint32(half), one[half:]) },
		}
		if outOfOrder {
			parts[0], parts[1] = parts[1], parts[0]
		}
		parts[0](at)
		for n := range uint16(1200) { // what else is there; the line looks at the clock now and then
			m.tcp(at+time.Duration(n)*100, 999, 20880, packet.ACK, seq, nil)
			if n == 600 {
				m.tcp(at+time.Duration(n)*100, 1000+i, 20880, packet.ACK, 100, request(1, fmt.Sprint("of ", i)))
			}
		}
		parts[1](at + time.Second/2)
		seq += uint32(len(one))
	}
	name := filepath.Join(t.TempDir(), "f")
	r, err := record.Open(record.Options{File: name, OnlyRPC: true})
	require.NoError(t, err)
	none, err := capture.Open([]string{filepath.Join(captures, "edge-hessian2-3.3.6.pcap.zst")}, capture.Options{})
	require.NoError(t, err)
	want := analyzeSource(t, m, none, r, false)
	require.NoError(t, r.Close())
	require.Equal(t, int64(2*silent+1), want.Calls)
	assert.Zero(t, r.Stats().LeftOut)
	assert.False(t, inOrder(t, name))
	got := analyze(t, nil, false, name)
	assert.Equal(t, want.Calls, got.Calls)
	assert.Equal(t, want.Frames, got.Frames)
	assert.Equal(t, rates.ReplaceAllString(want.groups, ""), rates.ReplaceAllString(got.groups, ""))
}
