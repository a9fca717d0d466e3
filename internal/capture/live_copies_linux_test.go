package capture_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/capture/packet"
)

type ignore struct{}

func (ignore) Begin(*assemble.Connection) {}
func (ignore) Open(*assemble.Connection) *assemble.Flow {
	return new(assemble.Flow).Open([2]assemble.Stream{ignore{}, ignore{}})
}
func (ignore) Close(*assemble.Connection)       {}
func (ignore) Data([]byte, *assemble.Meta)      {}
func (ignore) Gap(_, _ int64, _ *assemble.Meta) {}
func (ignore) Late(_ []byte, _ int64, _ *assemble.Meta) {
}
func (ignore) Repeat(int, *assemble.Meta) {}
func (ignore) End(bool)                   {}

// A packet that passes two interfaces of the capture (a bridge and its port) is counted once, its copies are
// duplicates and not retransmitted: cooked ones of all interfaces, and Ethernet ones of several.
func TestLiveCopies(t *testing.T) {
	capture.InNamespace(t)
	transfer := capture.Joined(t, "v-ring0")
	capture.Run(t, "addr del 10.9.9.1/24 dev v-ring0")
	capture.Run(t, "link add br-ring type bridge")
	capture.Run(t, "link set v-ring0 master br-ring")
	capture.Run(t, "addr add 10.9.9.1/24 dev br-ring")
	capture.Run(t, "link set br-ring up")
	for _, names := range []string{"br-ring", "any", "v-ring0,br-ring", "br-ring,v-ring0"} {
		l, err := capture.OpenLive(strings.Split(names, ","), capture.LiveOptions{})
		require.NoError(t, err)
		const size = 1 << 20
		transfer(size)
		const payload = size + size/10
		a := assemble.New(assemble.Config{}, ignore{})
		var d packet.Decoder
		var p capture.Packet
		var s packet.Segment
		for timeouts := 0; timeouts < 5; { // of 100 ms
			if err := l.Next(&p); err != nil {
				require.ErrorIs(t, err, capture.ErrTimeout)
				timeouts++
				continue
			}
			timeouts = 0
			if d.Decode(&p, &s) == packet.TCP {
				a.Segment(&s, &assemble.Origin{
					Ordinal: p.Number, Time: p.Time, Packet: p.Number, File: p.File, Interface: p.Interface,
					Overhead: p.WireLen - s.PayloadLen,
				})
			}
		}
		require.NoError(t, l.Close())
		a.End()
		assert.NoError(t, a.Ledger.Balance())
		assert.EqualValues(t, payload, a.Ledger.Stream, names)
		const few = payload / 3 // that TCP may have sent again on a busy machine
		assert.Less(t, a.Ledger.Repeated, int64(few), names)
		assert.Zero(t, a.Ledger.Gaps, names)
		if names == "br-ring" {
			assert.Zero(t, a.Ledger.Duplicate, names)
		} else {
			assert.InDelta(t, payload, a.Ledger.Duplicate, few, names)
		}
	}
}
