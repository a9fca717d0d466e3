package assemble

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A cut packet is held until nothing can bring its missing bytes any more.
func TestCutBytes(t *testing.T) {
	for _, c := range []struct {
		name string
		then func(w *wire)
		want string // of the client's stream before the end of the capture
	}{
		{"nothing follows", func(*wire) {}, ""},
		{"acknowledged", func(w *wire) { w.send("s", ack, 5001, 111, "") }, "0123<gap 6>"},
		{"acknowledged by data", func(w *wire) { w.send("s", ack, 5001, 111, "yes") }, "0123<gap 6>"},
		{"acknowledged in part", func(w *wire) { w.send("s", ack, 5001, 107, "") }, ""},
		{"time", func(w *wire) { w.idle(1000) }, "0123<gap 6>"},
		{"packets", func(w *wire) { w.a.cfg.GapPackets = 20; w.idle(20) }, "0123<gap 6>"},
		{"retransmitted", func(w *wire) { w.send("c", ack, 101, 5001, "0123456789") }, "0123456789<repeat 0+0>"},
		{"retransmitted in reverse, each cut", func(w *wire) {
			for _, at := range []uint32{8, 6, 4} {
				w.cut("c", ack, 101+at, 5001, "0123456789"[at:at+2], int(10-at))
			}
		}, "012345<repeat 0+0>67<repeat 6+0>89<repeat 8+0>"},
		{"retransmitted with other bytes", func(w *wire) {
			w.send("c", ack, 101, 5001, "abcd456789")
			w.send("s", ack, 5001, 111, "")
		}, "0123<gap 6><repeat 0+0>"},
		{"the middle, then acknowledged", func(w *wire) {
			w.send("c", ack, 106, 5001, "567")
			w.send("s", ack, 5001, 111, "")
		}, "0123<gap 1><repeat 0+0>567<gap 2>"},
		{"more data", func(w *wire) {
			w.send("c", ack, 111, 5001, "next")
			w.send("c", ack, 105, 5001, "456789")
		}, "0123456789<repeat 0+0>next"},
		{"another interface has them, after the acknowledgement", func(w *wire) {
			w.last.Payload = []byte("0123456789")
			request := w.last
			w.send("s", ack, 5001, 111, "yes")
			w.last = request
			w.again(0, 1)
		}, "0123456789"},
		{"another interface is cut, too", func(w *wire) {
			w.last.Payload = []byte("01234")
			w.again(0, 1)
			w.send("s", ack, 5001, 111, "yes")
		}, "01234<gap 5>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire(Config{})
			w.open(100)
			if strings.HasPrefix(c.name, "another") {
				w.again(0, 1) // a second interface
			}
			w.cut("c", ack, 101, 5001, "0123", 10)
			c.then(w)
			assert.Equal(t, c.want, w.h.streams["1.0"].b.String())
			w.a.End()
			balance(t, w)
			if strings.Contains(w.h.streams["1.0"].b.String(), "<gap") {
				assert.Positive(t, w.a.Ledger.BeyondSnap)
			} else {
				assert.Zero(t, w.a.Ledger.BeyondSnap)
			}
		})
	}
}

// If all packets are cut and nothing is acknowledged, no more is held than the limits say.
func TestCutLimits(t *testing.T) {
	w := newWire(Config{MaxHeldPerConnection: 10_000, GapPackets: 1 << 40, GapTime: time.Hour})
	w.open(100)
	for i := range uint32(5000) {
		w.cut("c", ack, 101+i*100, 5001, "0123456789", 100)
		require.LessOrEqual(t, w.a.heldAll, 10_000)
	}
	w.a.End()
	balance(t, w)
	assert.Equal(t, int64(450_000), w.a.Ledger.BeyondSnap)
}
