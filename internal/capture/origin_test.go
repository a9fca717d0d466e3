package capture

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The digits of an interface's times hold all of what its units can say.
func TestInterfaceDigits(t *testing.T) {
	r := &pcapngReader{}
	for _, c := range []struct {
		units  uint64
		digits uint8
	}{{1, 0}, {10, 1}, {1000, 3}, {1_000_000, 6}, {nanosPerSecond, 9}, {512, 9}, {1 << 20, 9}, {1_000_000_000_000, 9}, {0, 0}} {
		r.ifaces = []ngInterface{{units: c.units, snapLen: 96}}
		if c.units == 0 {
			c.digits = 9
		}
		assert.Equal(t, Origin{96, c.digits}, r.iface(0), "%d units", c.units)
	}
	assert.Equal(t, Origin{Digits: 9}, r.iface(1))
	assert.Equal(t, Origin{Digits: 9}, new(Files).Origin(&Packet{}))
	assert.Equal(t, Origin{64, 6}, (&pcapReader{reader: reader{in: &Input{SnapLen: 64}}, perTick: nanosPerMicro}).iface(0))
}
