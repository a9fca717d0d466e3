package dubbo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/hessian2"
)

// Formats of one id: the bytes of a body decide, then what its connection told before, then the order of the list.
func TestDialects(t *testing.T) {
	first := decode.Format{ID: 8, Name: "k", New: func() decode.Reader { return hessian2.New() }}
	starts := decode.Format{ID: 8, Name: "k", Dialect: "S", New: first.New, Tell: func(b []byte, k decode.BodyKind) decode.Verdict {
		switch {
		case len(b) > 0 && b[0] == 'S' && k == decode.BodyRequest:
			return decode.Own
		case len(b) > 0 && b[0] == '4':
			return decode.Foreign
		}
		return decode.Unsure
	}}
	ends := decode.Format{ID: 8, Name: "k", Dialect: "E", New: first.New, TellWhole: func(b []byte, _ decode.BodyKind) decode.Verdict {
		if b[len(b)-1] == 'E' {
			return decode.Own
		}
		return decode.Unsure
	}}
	d := dubbo.NewDecoder([]decode.Format{first, starts, ends})
	name := func(on *dubbo.Dialects, flags byte, body string, announced int) string {
		f := &dubbo.Frame{Body: []byte(body), Captured: announced, MissingAt: announced}
		f.Flags, f.BodyLen, f.Status = flags, announced, dubbo.StatusOK*(1-flags>>7)
		return d.Decode(f, dubbo.Envelope, on).Serialization
	}
	var a, b dubbo.Dialects
	assert.Equal(t, "k", name(&a, 0xc8, "?", 1), "nothing is known")
	assert.Equal(t, "k (S)", name(&a, 0xc8, "S", 1))
	assert.Equal(t, "k (S)", name(&a, 0xc8, "?", 1), "the connection remembers")
	assert.Equal(t, "k (S)", name(&a, 0x08, "?", 1), "in both directions")
	assert.Equal(t, "k", name(&a, 0xc8, "4", 1), "not where the bytes say no")
	assert.Equal(t, "k (S)", name(&a, 0xc8, "?E", 2), "the end is not looked at when the dialect is known")
	assert.Equal(t, "k", name(&b, 0xc8, "?", 1), "another connection")
	assert.Equal(t, "k", name(&b, 0x08, "S", 1), "a response may not say it")
	assert.Equal(t, "k", name(&b, 0xc8, "?E", 3), "what is kept is not the whole body")
	h := dubbo.Header{Flags: 0x08, Status: dubbo.StatusOK, BodyLen: 100_000}
	assert.Zero(t, d.Enough(&h, make([]byte, 4096), &b), "the end is wanted")
	assert.Equal(t, "k (E)", name(&b, 0xc8, "?E", 2))
	assert.NotZero(t, d.Enough(&h, make([]byte, 4096), &b))
	assert.Equal(t, "k (E)", name(&b, 0x08, "?", 1))
	assert.Equal(t, "k (S)", name(&b, 0xc8, "S", 1), "a claim by the bytes counts more")
}
