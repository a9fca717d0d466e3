package pipeline

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/sizes"
)

// printsOf returns the fingerprints of a script.
func printsOf(t *testing.T, s *script, m *call.Machine) []Fingerprint {
	t.Helper()
	f := new(Fingerprints)
	s.at = 0
	_, err := Run(s, Options{Protocols: protocols.All(), Formats: formats.All(), Machines: []*call.Machine{m}, Fingerprints: f}, &sink{agg: sizes.New(sizes.DefaultBy(), 0, nil)})
	require.NoError(t, err)
	assert.Zero(t, f.Above)
	return f.List
}

// A connection has the same fingerprint whichever of its packets comes first. Without its start it has the same Ends.
func TestFingerprint(t *testing.T) {
	s := &script{}
	s.send(40000, 20880, syn, 99, nil)
	s.send(20880, 40000, syn|ack, 499, nil)
	ackOf(s, 100)
	s.send(40000, 20880, ack, 100, frame(true, 1, 20))
	s.send(20880, 40000, ack, 500, frame(false, 1, 10))
	whole := printsOf(t, s, nil)
	require.Len(t, whole, 1)
	assert.NotZero(t, whole[0].Start)
	assert.Zero(t, whole[0].Machine)

	s.packets = s.packets[1:]
	assert.Equal(t, whole, printsOf(t, s, nil), "the answer to the SYN has its number")
	m := new(call.Machine)
	m.Add(netip.MustParsePrefix("10.0.0.156/32")) // of port 40000
	client := printsOf(t, s, m)
	m = new(call.Machine)
	m.Add(netip.MustParsePrefix("10.0.0.81/32"))
	server := printsOf(t, s, m)
	assert.Equal(t, uint8(3), client[0].Machine|server[0].Machine)
	assert.NotZero(t, client[0].Machine&^server[0].Machine)

	s.packets = s.packets[1:]
	joined := printsOf(t, s, nil)
	assert.Equal(t, []Fingerprint{{Ends: whole[0].Ends}}, joined)
	for range 2 { // the server's packet is the first one
		s.packets[0], s.packets[1] = s.packets[1], s.packets[0]
		assert.Equal(t, joined, printsOf(t, s, nil))
	}

	other := &script{}
	other.send(40000, 20880, syn, 98, nil)
	other.send(20880, 40000, syn|ack, 499, nil)
	ackOf(other, 99)
	other.send(40000, 20880, ack, 99, frame(true, 1, 20))
	again := printsOf(t, other, nil)
	assert.Equal(t, whole[0].Ends, again[0].Ends)
	assert.NotEqual(t, whole[0].Start, again[0].Start)

	foreign := &script{}
	foreign.send(40000, 6379, syn, 99, nil)
	foreign.send(40000, 6379, ack, 100, []byte("PING\r\n"))
	assert.Empty(t, printsOf(t, foreign, nil), "a connection without calls")
}

// ackOf makes the last packet acknowledge.
func ackOf(s *script, n byte) { s.packets[len(s.packets)-1].Data[31] = n }

// Beyond the limit there are none, but their number.
func TestFingerprintLimit(t *testing.T) {
	many := func(from, n int) *Fingerprints {
		f := new(Fingerprints)
		for i := range n {
			f.List = append(f.List, Fingerprint{Ends: uint64(from + n - i)})
		}
		return f
	}
	f := many(0, MaxFingerprints)
	f.Add(many(0, 10))
	assert.Len(t, f.List, MaxFingerprints, "they are the same")
	assert.Equal(t, uint64(1), f.List[0].Ends)
	f.Add(many(MaxFingerprints, 1))
	assert.Equal(t, &Fingerprints{Above: MaxFingerprints + 1}, f)
	f.Add(many(0, 5))
	assert.Equal(t, &Fingerprints{Above: MaxFingerprints + 6}, f)
	few := many(0, 5)
	few.Add(f)
	assert.Equal(t, &Fingerprints{Above: MaxFingerprints + 11}, few)
	few.Add(f)
	assert.Equal(t, int64(2*MaxFingerprints+17), few.Above)
}
