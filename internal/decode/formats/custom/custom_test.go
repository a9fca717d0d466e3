package custom

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/formattest"
)

// Every byte of a body is opaque, whatever it looks like, and events are told by their header.
func TestFrames(t *testing.T) {
	d := dubbo.NewDecoder([]decode.Format{Format})
	for _, c := range []struct {
		flags, status byte
		body, want    string
	}{
		{0xdf, 0, "05322e302e3204642e4869", "request | none | !unsupported: a serialization of Dubbo | opaque:11"},
		{0xdf, 0, "", "request | none | !unsupported: a serialization of Dubbo | "},
		{0x1f, 20, "940268694805647562626f05322e302e325a", "response | none | !unsupported: a serialization of Dubbo | opaque:18"},
		{0x1f, 70, "03626164", "response | none | !unsupported: a serialization of Dubbo | opaque:4"},
		{0xff, 0, "4e", "heartbeat | full | event:1"},
		{0xff, 0, "", "heartbeat | full | "},
		{0xbf, 0, "0152", "event | full | event:2"},
	} {
		header := make([]byte, dubbo.HeaderLen)
		header[2], header[3] = c.flags, c.status
		assert.Equal(t, c.want, formattest.Summary(t, d, header, formattest.Hex(c.body)))
	}
}

func TestName(t *testing.T) {
	d := dubbo.NewDecoder([]decode.Format{Format})
	f := &dubbo.Frame{}
	f.Flags = 0xdf
	assert.Equal(t, "custom", d.Decode(f, dubbo.Envelope, &dubbo.Dialects{}).Serialization)
}

func TestHostile(t *testing.T) {
	formattest.Stops(t, Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Unsupported},
		{Name: "a value of hessian2", Body: formattest.Hex("940268694805647562626f05322e302e325a"), Cause: decode.Unsupported},
		{Name: "lengths beyond the body", Body: formattest.Hex("ffffffff ffffffff"), Cause: decode.Unsupported},
	})
}

// Nothing is taken, by any method, in any order.
func FuzzReader(f *testing.F) {
	f.Add([]byte("\x052.0.2\x04d.Hi"))
	f.Fuzz(func(t *testing.T, body []byte) {
		formattest.Check(t, Format, body)
		r := Format.New()
		r.Reset(body, decode.Cut, new(decode.Tree))
		r.Attachments()
		r.Text("path")
		require.Equal(t, decode.Unsupported, r.Err().Cause)
		require.Zero(t, r.Offset())
	})
}

func BenchmarkReader(b *testing.B) {
	body := make([]byte, 1<<10)
	r := Format.New()
	b.ReportAllocs()
	for b.Loop() {
		r.Reset(body, decode.Malformed, nil)
		r.SkipText()
	}
}
