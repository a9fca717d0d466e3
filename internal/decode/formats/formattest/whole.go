package formattest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
)

// Whole decodes each frame of a file as package dubbo does, checks that its parts add up to the body, and compares it
// with what the row wants: see Summary.
func Whole(t *testing.T, f decode.Format, file string) {
	d := dubbo.NewDecoder([]decode.Format{f})
	for _, row := range Frames(t, file) {
		t.Run(row.Name, func(t *testing.T) {
			require.Equal(t, row.Want, Summary(t, d, row.Header, row.Body))
		})
	}
}

// Summary decodes a frame and writes what was understood: kind, envelope, values, why decoding stopped, parts.
func Summary(tb testing.TB, d *dubbo.Decoder, header, body []byte) string {
	tb.Helper()
	f := &dubbo.Frame{Body: body, Captured: len(body), MissingAt: len(body)}
	f.Flags, f.Status, f.BodyLen = header[2], header[3], len(body)
	m := d.Decode(f, dubbo.Values, new(dubbo.Dialects))
	s := []string{m.Kind.String(), m.Decoded}
	if n := m.Names; n != nil {
		s = append(s, fmt.Sprintf("%s %s:%s.%s(%s)", n.DubboVersion, n.Path, n.Version, n.Method, strings.Join(n.Types, ", ")))
	}
	if m.ExceptionClass != "" {
		s = append(s, m.ExceptionClass+": "+m.ExceptionMessage)
	}
	if m.ErrorMessage != "" {
		s = append(s, m.ErrorMessage)
	}
	top := Message{Tree: *m.Tree}
	for _, name := range []string{"args", "result", "attachments"} {
		if v := top.Value(name); v != "" {
			s = append(s, name+"="+v)
		}
	}
	if m.Err != nil {
		s = append(s, "!"+m.Err.Cause.String()+": "+m.Err.Expected)
	}
	sum := 0
	var parts []string
	for _, p := range m.Tree.Parts(nil, 2) {
		assert.Equal(tb, sum, p.Off, "parts are contiguous")
		sum += p.Bytes
		parts = append(parts, fmt.Sprintf("%s:%d", p.Path, p.Bytes))
	}
	assert.Equal(tb, len(body), sum, "parts add up to the body")
	return strings.Join(append(s, strings.Join(parts, " ")), " | ")
}
