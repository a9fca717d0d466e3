package pipeline

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
)

// endless delivers the packets of a file again and again.
type endless struct {
	t   *testing.T
	src *capture.Files
	n   int64
}

func (e *endless) open() {
	src, err := capture.Open([]string{"../../testdata/captures/fleet.pcap.zst"}, capture.Options{})
	require.NoError(e.t, err)
	e.src = src
}

func (e *endless) Next(p *capture.Packet) error {
	err := e.src.Next(p)
	if err == io.EOF {
		_ = e.src.Close()
		e.open()
		err = e.src.Next(p)
	}
	e.n++
	return err
}

func (e *endless) Close() error { return e.src.Close() }

// TestStopBetweenPackets: a run that is stopped while packets come has all that it took in its books.
func TestStopBetweenPackets(t *testing.T) {
	for _, live := range []bool{false, true} {
		for _, after := range []int{1, 2, 5} {
			src := &endless{t: t}
			src.open()
			asked := 0
			opt := Options{Protocols: protocols.All(), Formats: formats.All(), Live: live, Stop: func() bool { asked++; return asked >= after }}
			totals, err := Run(src, opt, &calls{})
			require.NoError(t, err)
			require.NoError(t, totals.Balance())
			assert.Equal(t, src.n, totals.Packets)
			assert.NotZero(t, totals.LinkBytes)
			require.NoError(t, src.Close())
		}
	}
}
