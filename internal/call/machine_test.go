package call

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMachine(t *testing.T) {
	m := new(Machine)
	assert.False(t, m.Known())
	assert.False(t, (*Machine)(nil).Known())
	assert.False(t, (*Machine)(nil).Has(netip.MustParseAddr("192.0.2.1")))
	for _, p := range []string{"192.0.2.1/32", "::ffff:192.0.2.2/128", "10.1.2.3/16", "::ffff:10.2.0.0/112", "2001:db8::1/128", "fd00::9/64"} {
		m.Add(netip.MustParsePrefix(p))
	}
	assert.True(t, m.Known())
	for a, want := range map[string]bool{
		"192.0.2.1": true, "192.0.2.2": true, "192.0.2.3": false, "10.1.255.255": true, "10.2.0.7": true, "10.3.0.0": false,
		"2001:db8::1": true, "2001:db8::2": false, "fd00::1:2": true, "fd00:0:0:1::1": false,
	} {
		assert.Equal(t, want, m.Has(netip.MustParseAddr(a)), a)
	}
}

func TestMachineSide(t *testing.T) {
	for _, c := range []struct {
		known   bool
		machine [2]bool
		side    int // that sent the request
		want    string
		of      []string // sides that select it
	}{
		{false, [2]bool{}, 0, Unknown, nil},
		{true, [2]bool{}, 0, NeitherEnd, nil},
		{true, [2]bool{true, false}, 0, ClientSide, []string{ClientSide}},
		{true, [2]bool{true, false}, 1, ServerSide, []string{ServerSide}},
		{true, [2]bool{false, true}, 0, ServerSide, []string{ServerSide}},
		{true, [2]bool{true, true}, 1, BothSides, []string{ClientSide, ServerSide}},
	} {
		k := &Call{Conn: &Conn{Machine: c.machine, MachineKnown: c.known}, Side: c.side}
		assert.Equal(t, c.want, k.MachineSide())
		var of []string
		for _, side := range MachineSides {
			if OfSide(k.MachineSide(), side) {
				of = append(of, side)
			}
		}
		assert.Equal(t, c.of, of)
	}
}
