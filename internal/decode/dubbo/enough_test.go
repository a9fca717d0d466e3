package dubbo_test

import (
	"encoding/binary"
	"strings"
	"testing"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/hessian2"
)

// envelopes decodes the frames that it is given, and notes how much of each body was kept.
type envelopes struct {
	decoder  *dubbo.Decoder
	dialects dubbo.Dialects
	methods  []string
	kinds    []int
	kept     []int
}

func (e *envelopes) Frame(f *dubbo.Frame) {
	m := e.decoder.Decode(f, dubbo.Envelope, &e.dialects)
	method := m.GenericMethod
	if method == "" && m.Names != nil {
		method = m.Names.Method
	}
	e.methods = append(e.methods, method)
	e.kinds = append(e.kinds, int(m.ResultKind))
	e.kept = append(e.kept, len(f.Body))
}

func (e *envelopes) Enough(h *dubbo.Header, b []byte) int {
	return e.decoder.Enough(h, b, &e.dialects)
}

func (*envelopes) Expected(int64) bool { return false }
func (*envelopes) Asked(int64) bool    { return false }
func (*envelopes) Missed() bool        { return true }

func (*envelopes) Skipped(int64, bool)                  {}
func (*envelopes) CutHeader(int64, []byte)              {}
func (*envelopes) BadHeader(dubbo.Header, dubbo.Origin) {}

func hessianFrame(t *testing.T, flags, status byte, values ...any) []byte {
	e := hessian.NewEncoder()
	for _, v := range values {
		require.NoError(t, e.Encode(v))
	}
	b := binary.BigEndian.AppendUint64([]byte{0xda, 0xbb, flags, status}, 7)
	b = binary.BigEndian.AppendUint32(b, uint32(len(e.Buffer())))
	return append(b, e.Buffer()...)
}

// However a stream is cut, an envelope is read in full, and not much more is kept than that.
func TestEnough(t *testing.T) {
	text := strings.Repeat("0123456789", 3000)
	const anyType = "Ljava/lang/Object;"
	generic := "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;"
	types := strings.Repeat("Lcom/example/api/model/SomeObject;", 100) // 3400 bytes
	request := hessianFrame(t, 0xc2, 0, "2.0.2", "a.S", "0.0.0", "find", anyType, text)
	for _, c := range []struct {
		frame  []byte
		method string
		kind   int
		atMost int // bytes kept of the body when it comes in pieces of 100
	}{
		{request, "find", -1, 700},
		{hessianFrame(t, 0xc2, 0, "2.0.2", "a.S", "0.0.0", "wide", types, text), "wide", -1, 3600},
		{hessianFrame(t, 0xc2, 0, "2.0.2", "a.S", "0.0.0", "$invoke", generic, "meant", []string{text}, []any{text}), "meant", -1, 16 << 10},
		{hessianFrame(t, 0x02, 20, int32(4), text), "", 4, 400},
	} {
		for _, size := range []int{1, 13, 100, 1448, 1 << 20} {
			into := &envelopes{decoder: dubbo.NewDecoder([]decode.Format{hessian2.Format})}
			framer := dubbo.NewFramer(&dubbo.Config{}, into, true)
			for from := 0; from < len(c.frame); from += size {
				piece := c.frame[from:min(from+size, len(c.frame))]
				framer.Data(piece, &dubbo.Chunk{Pos: int64(from)})
			}
			framer.End()
			assert.Equal(t, []string{c.method}, into.methods, size)
			assert.Equal(t, []int{c.kind}, into.kinds, size)
			if size == 100 {
				assert.LessOrEqual(t, into.kept[0], c.atMost, c.method)
			}
		}
	}
}

// What a search finds must be readable: bodies may hold bytes that look like the start of a frame.
func TestReadable(t *testing.T) {
	known := []decode.Format{hessian2.Format, {ID: 31, Name: "own"}}
	d := dubbo.NewDecoder(known)
	whole := hessianFrame(t, 0xc2, 0, "2.0.2", "a.S", "0.0.0", "find", "")
	for name, c := range map[string]struct {
		flags, status byte
		body          string
		want          bool
	}{
		"a request":                     {0xc2, 0, string(whole[dubbo.HeaderLen:]), true},
		"a request that has only begun": {0xc2, 0, "\x052.0.2\xff\xfe\x00\x01", false},
		"a result":                      {0x02, 20, "\x94N", true},
		"no result kind":                {0x02, 20, "\x42", false},
		"an error":                      {0x02, 40, "\x04oops", true},
		"no text":                       {0x02, 40, "\x99", false},
		"an event":                      {0xa2, 0, "?", true},
		"nobody knows":                  {0xde, 0, "?", true},
		"nobody can read":               {0xdf, 0, "?", true},
	} {
		h := dubbo.Header{Flags: c.flags, Status: c.status, BodyLen: len(c.body)}
		assert.Equal(t, c.want, d.Readable(&h, []byte(c.body)), name)
	}

	// Two chained frames with a body that has only begun, in a stream that was joined midway, then a real one.
	begun := append(whole[:12:12], "\x00\x00\x00\x0a\x052.0.2\xff\xfe\x00\x01"...)
	into := &envelopes{decoder: d}
	f := dubbo.NewFramer(&dubbo.Config{Readable: d.Readable, Recognizer: dubbo.NewRecognizer(known)}, into, false)
	f.Data(append(append(append([]byte("bytes"), begun...), begun...), whole...), &dubbo.Chunk{})
	f.End()
	assert.Equal(t, []string{"find"}, into.methods)
}
