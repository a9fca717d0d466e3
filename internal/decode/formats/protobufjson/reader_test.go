package protobufjson

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/protobuf"
)

// Rows were written by the streams of Dubbo 2.7.5, 2.7.8 and 2.7.23 and of the extension 3.2.0.

func TestValues(t *testing.T) { formattest.Wants(t, Format, "testdata/values.tsv") }

func TestFrames(t *testing.T) { formattest.Whole(t, Format, "testdata/frames.tsv") }

// Attachments are the map inside; what is written twice is its typed form; what has another form is measured.
func TestAttachments(t *testing.T) {
	const (
		prefix     = "type.googleapis.com/"
		attachment = prefix + "org.apache.dubbo.common.serialize.protobuf.support.wrapper.Attachment"
	)
	typed := func(class, value string) string {
		return `{"@type":"` + attachment + `","type":"T","data":{"@type":"` + prefix + `google.protobuf.` + class + `"` + value + `}}`
	}
	walked := func(class, members string) string { // as any other message
		return `{"k":{"@class":"` + attachment + `","type":"T","data":{"@class":"` + prefix + `google.protobuf.` + class + `",` + members + `}}}`
	}
	for _, c := range []struct{ name, text, want string }{
		{"none", `{}`, `{}`},
		{"one", `{"attachments":{"k":"v"}}`, `{"k":"v"}`},
		{"spaces", ` { "attachments" : { "k" : "v" , "l" : "" } } `, `{"k":"v","l":""}`},
		{"an empty map", `{"attachments":{}}`, `{}`},
		{"typed alone", `{"attachmentsV2":{"k":` + typed("Int32Value", `,"value":5`) + `}}`, `{"k":5}`},
		{"both", `{"attachments":{"k":"5"},"attachmentsV2":{"k":` + typed("Int32Value", `,"value":5`) + `}}`, `{"k":5}`},
		{"both, of different keys", `{"attachments":{"k":"5","l":"x"},"attachmentsV2":{"k":` + typed("Int32Value", `,"value":5`) + `}}`, `{"l":"x","k":5}`},
		{"a key with an escape", `{"attachments":{"\u006b":"5"},"attachmentsV2":{"k":` + typed("BoolValue", `,"value":true`) + `}}`, `{"k":true}`},
		{"spaces in the type", ` { "attachmentsV2" : { "k" : { "@type" : "a/b" , "type" : "T" , "data" : { "@type" : "a.Int64Value" , "value" : "7" } } } } `, `{"k":7}`},
		{"a long that is none", `{"attachmentsV2":{"k":` + typed("Int64Value", `,"value":"x"`) + `}}`, walked("Int64Value", `"value":"x"`)},
		{"null", `{"attachmentsV2":{"k":` + typed("Empty", ``) + `}}`, `{"k":null}`},
		{"a typed text that is a text", `{"attachmentsV2":{"k":"v"}}`, `{"k":"v"}`},
		{"a typed text without data", `{"attachmentsV2":{"k":{"@type":"a","type":"b"}}}`, `{"k":{"@class":"a","type":"b"}}`},
		{"a type with more members", `{"attachmentsV2":{"k":` + typed("Int32Value", `,"value":5,"x":1`) + `}}`, walked("Int32Value", `"value":5,"x":1`)},
		{"another member", `{"a":{"k":"v"}}`, `{"@map":[],"#opaque":{"@opaque":14}}`},
		{"no map in it", `{"attachments":"v"}`, `{"@map":[],"#opaque":{"@opaque":4}}`},
		{"another member behind", `{"attachments":{"k":"v"},"b":1}`, `{"@map":[["k","v"]],"#opaque":{"@opaque":6}}`},
		{"cut", `{"attachments":{"k":"v"`, `{"k":"v"}`},
		{"cut behind a key", `{"attachments":{"k"`, `{"k":{"@opaque":0}}`},
		{"cut in a type", `{"attachmentsV2":{"k":{"@type":"`, `{"k":{"@map":[],"#opaque":{"@opaque":1}}}`},
		{"a list", `[]`, `[]`},
		{"no JSON", `{"attachments"}`, `{"@map":[],"#opaque":{"@opaque":14}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := decode.Tree{WithValues: true}
			r := Format.New()
			body := []byte(c.text + "\n")
			r.Reset(body, decode.Malformed, &tree)
			r.Attachments()
			require.Nil(t, r.Err())
			require.Equal(t, len(body), r.Offset())
			formattest.Balance(t, &tree, len(body))
			m := formattest.Message{Tree: tree}
			require.Equal(t, strings.TrimSpace(c.want), m.Value("attachments"))
			formattest.Check(t, Format, append([]byte("5\n"), body...))
		})
	}
	// A null map is written as nothing; a body whose end is not in the capture lacks them.
	for short, ok := range map[decode.Cause]bool{decode.Malformed: true, decode.Cut: false, decode.Lost: false} {
		r := Format.New()
		r.Reset(nil, short, nil)
		r.Attachments()
		assert.Equal(t, ok, r.Err() == nil)
	}
}

// The two formats of id 21 are told apart by the first bytes of any body.
func TestTell(t *testing.T) {
	for file, want := range map[string]decode.Verdict{"testdata/frames.tsv": decode.Own, "../protobuf/testdata/frames21.tsv": decode.Foreign} {
		for _, row := range formattest.Frames(t, file) {
			k := decode.BodyRequest
			switch flags, status := row.Header[2], row.Header[3]; {
			case flags&0x20 != 0:
				k = decode.BodyEvent
			case flags&0x80 != 0:
			case status == 20:
				k = decode.BodyResult
			default:
				k = decode.BodyText
			}
			assert.Equal(t, want, Tell(row.Body, k), "%s %s", row.Source, row.Name)
			for n := range 8 {
				assert.NotEqual(t, -want, Tell(row.Body[:min(n, len(row.Body))], k), "%s %s: %d bytes", row.Source, row.Name, n)
			}
		}
	}
	for body, want := range map[string]decode.Verdict{"": decode.Unsure, `"`: decode.Unsure, "\"\n ": decode.Foreign, `""`: decode.Own} {
		assert.Equal(t, want, Tell([]byte(body), decode.BodyText), body)
	}
}

func TestHostile(t *testing.T) {
	formattest.Stops(t, Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "no line end", Body: []byte(`{"a":1}`), Cause: decode.Malformed},
		{Name: "arrays without end", Body: []byte(strings.Repeat("[", 5000) + "\n"), Cause: decode.Limit},
		{Name: "objects without end", Body: []byte(strings.Repeat(`{"a":`, 5000) + "\n"), Cause: decode.Limit},
	})
	// Attachments as deep stop as well, at once.
	for _, text := range []string{`{"attachments":{"k":`, `{"attachmentsV2":{"k":{"@type":"a","type":"b","data":{"@type":"c","value":`} {
		for _, tree := range []*decode.Tree{nil, {WithValues: true}} {
			r := Format.New()
			r.Reset([]byte(text+strings.Repeat("[", 1<<20)+"\n"), decode.Malformed, tree)
			r.Attachments()
			require.NotNil(t, r.Err())
			require.Equal(t, decode.Limit, r.Err().Cause)
		}
	}
}

func request(tb testing.TB) []byte { return formattest.Named(tb, "testdata/frames.tsv", "user C2S") }

func TestSkipTextAllocatesNothing(t *testing.T) { formattest.NoAllocs(t, Format, request(t)) }

func BenchmarkReader(b *testing.B) { formattest.Bench(b, Format, request(b)) }

func FuzzReader(f *testing.F) {
	formattest.Fuzz(f, Format, "testdata/values.tsv", "testdata/frames.tsv")
}

// Both formats of id 21 in one list, as on a connection that holds both: every body is read as what it is, whatever came
// before it.
func TestBoth(t *testing.T) {
	d := dubbo.NewDecoder([]decode.Format{Format, protobuf.Format21})
	text := formattest.Frames(t, "testdata/frames.tsv")
	binary := formattest.Frames(t, "../protobuf/testdata/frames21.tsv")
	var dialects dubbo.Dialects
	for i := range binary {
		for _, row := range []formattest.Row{binary[i], text[i]} {
			f := &dubbo.Frame{Body: row.Body, Captured: len(row.Body), MissingAt: len(row.Body)}
			f.Flags, f.Status, f.BodyLen = row.Header[2], row.Header[3], len(row.Body)
			want := "protobuf (id 21)"
			if strings.HasSuffix(row.Source, "json") {
				want = "protobuf-json"
			}
			m := d.Decode(f, dubbo.Values, &dialects)
			assert.Equal(t, want, m.Serialization, row.Name)
			assert.Equal(t, "full", m.Decoded, row.Name)
		}
	}
}
