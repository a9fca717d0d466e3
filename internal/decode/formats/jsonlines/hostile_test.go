package jsonlines_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/jsonlines"
	"dubbo-wire/internal/dev/testkit"
)

// Bodies that are made to be dear: each is walked without a tree and with one, printed and taken apart within 20 µs a byte.
func TestHostile(t *testing.T) {
	proto := decode.Format{New: jsonlines.NewProto}
	list := func(element string) func(int) string {
		return func(n int) string { return "[" + strings.Repeat(element+",", n/(len(element)+1)) + "0]" }
	}
	for _, c := range []struct {
		name string
		f    decode.Format
		text func(n int) string // of about n bytes
	}{
		{"empty objects", lines, list("{}")},
		{"empty lists", gson, list("[]")},
		{"empty names", gson, func(n int) string { return "{" + strings.Repeat(`"":0,`, n/5) + `"":0}` }},
		{"names that differ", gson, func(n int) string {
			var b strings.Builder
			for i := range n / 12 {
				fmt.Fprintf(&b, `"%07d":0,`, i)
			}
			return "{" + b.String() + `"":0}`
		}},
		{"digits", gson, func(n int) string { return "[" + strings.Repeat("7", n) + "]" }},
		{"zeros", gson, func(n int) string { return "[0." + strings.Repeat("0", n) + "]" }},
		{"an exponent", gson, func(n int) string { return "[1e" + strings.Repeat("9", n) + "]" }},
		{"signs", lines, func(n int) string { return "[" + strings.Repeat("1-", n/2) + "1]" }},
		{"backslashes", gson, func(n int) string { return `["` + strings.Repeat(`\`, n|1) + `"]` }},
		{"escapes", gson, func(n int) string { return `["` + strings.Repeat(`\ud83d`, n/6) + `"]` }},
		{"a text without end", gson, func(n int) string { return `["` + strings.Repeat("a", n) }},
		{"quotes", gson, func(n int) string { return "[" + strings.Repeat(`"`, n) }},
		{"deep lists", gson, func(n int) string {
			return list(strings.Repeat("[", 300) + strings.Repeat("]", 300))(n)
		}},
		{"deep objects", lines, func(n int) string {
			return list(strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300))(n)
		}},
		{"deep sets", prefixed, func(n int) string {
			return list(strings.Repeat("Set[", 300) + strings.Repeat("]", 300))(n)
		}},
		{"classes", lines, list(`{"@type":"a.B"}`)},
		{"classes behind", own, list(`{"a":0,"class":"a.B"}`)},
		{"keys that turn objects into maps", prefixed, func(n int) string {
			return `{"@type":"a.B",` + strings.Repeat(`"a":0,1:0,`, n/10) + `"a":0}`
		}},
		{"references to the whole", lines, list(`{"$ref":"$"}`)},
		{"references to nothing", lines, list(`{"$ref":"$.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z"}`)},
		{"references that do not end", lines, list(`{"$ref":"$`)},
		{"a long way", lines, func(n int) string { return `[{"$ref":"$` + strings.Repeat("[0]", n/3) + `"}]` }},
		{"a long name", lines, func(n int) string { return `[{"$ref":"$.` + strings.Repeat(".", n) + `"}]` }},
		{"references deep down", lines, func(n int) string {
			return strings.Repeat(`{"averagelylongname":`, 300) + list(`{"$ref":"@"}`)(n) + strings.Repeat("}", 300)
		}},
		{"attachments written twice", proto, func(n int) string {
			var a strings.Builder
			for i := range n / 24 {
				fmt.Fprintf(&a, `"%07d":"",`, i)
			}
			m := "{" + a.String() + `"":""}`
			return `{"attachments":` + m + `,"attachmentsV2":` + m + `}`
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const n = 1 << 18
			text := c.text(n)
			body := []byte("1\n" + text + "\n")
			if c.f.Dialect != "" {
				body = append([]byte{0, 0, 0, 1, '1', 0, byte(len(text) >> 16), byte(len(text) >> 8), byte(len(text))}, text...)
			}
			used := testkit.CPU()
			r := c.f.New()
			r.Reset(body, decode.Malformed, nil)
			r.ResultKind()
			r.Value(decode.ByField, "result", 0, "")
			m := formattest.Response(c.f, body, decode.Malformed)
			require.Equal(t, m.Taken, r.Offset())
			require.LessOrEqual(t, len(m.Value("result")), 200*len(body))
			m.Tree.Parts(nil, 0)
			require.Less(t, used(), 2*time.Second+n*20*time.Microsecond)
		})
	}
}
