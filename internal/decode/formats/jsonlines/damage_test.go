package jsonlines_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// What cannot be read of a text is opaque, the parts before it stand, the next text is read, and the fault says why.
func TestDamage(t *testing.T) {
	for _, c := range []struct {
		text, value string
		at          int
		fault       string
	}{
		{``, `{"@opaque":0}`, 0, "expected a value, found the end of the text"},
		{`{`, `{}`, 1, "expected a name in quotes, found the end of the text"},
		{`{"a"`, `{"a":{"@opaque":0}}`, 4, "expected a colon, found the end of the text"},
		{`{"a" 1}`, `{"a":{"@opaque":2}}`, 5, "expected a colon, found '1'"},
		{`{"a":`, `{"a":{"@opaque":0}}`, 5, "expected a value, found the end of the text"},
		{`{"a":1`, `{"a":1}`, 6, "expected a comma or }, found the end of the text"},
		{`{"a":1 "b":2}`, `{"@map":[["a",1]],"#opaque":{"@opaque":6}}`, 7, `expected a comma or }, found '"'`},
		{`{"a":1,}`, `{"@map":[["a",1]],"#opaque":{"@opaque":1}}`, 7, "expected a name in quotes, found '}'"},
		{`{"a":1,2:3}`, `{"@map":[["a",1]],"#opaque":{"@opaque":4}}`, 7, "expected a name in quotes, found '2'"},
		{`{"a":1]`, `{"@map":[["a",1]],"#opaque":{"@opaque":1}}`, 6, "expected a comma or }, found ']'"},
		{`[1,2`, `[1,2]`, 4, "expected a comma or ], found the end of the text"},
		{`[1 2]`, `[1,{"@opaque":2}]`, 3, "expected a comma or ], found '2'"},
		{`[1,]`, `[1,{"@opaque":1}]`, 3, "expected a value, found ']'"},
		{`[1}`, `[1,{"@opaque":1}]`, 2, "expected a comma or ], found '}'"},
		{`["ab]`, `[{"@opaque":4}]`, 1, "expected the quote at the end of a text, found the end of the text"},
		{`["ab\"]`, `[{"@opaque":6}]`, 1, "expected the quote at the end of a text, found the end of the text"},
		{`{"ab:1}`, `{"@map":[],"#opaque":{"@opaque":6}}`, 1, "expected the quote at the end of a name, found the end of the text"},
		{`[tru]`, `[{"@opaque":4}]`, 1, "expected a value, found 't'"},
		{`[1,-]`, `[1,{"@opaque":2}]`, 3, "expected a number, found '-'"},
		{`[1.]`, `[{"@opaque":3}]`, 1, "expected a number, found '1'"},
		{`[1e+]`, `[{"@opaque":4}]`, 1, "expected a number, found '1'"},
		{`[中]`, `[{"@opaque":4}]`, 1, "expected a value, found '中'"},
		{`'a'`, `{"@opaque":3}`, 0, "expected a value, found '\\''"},
		{`{"a":1} x`, `{"@opaque":9}`, 8, "expected the end of the text, found 'x'"},
		{`nullnull`, `{"@opaque":8}`, 4, "expected the end of the text, found 'n'"},
		{`[{"id":7,"in":{"a":[true,?]}},8]`, `[{"id":7,"in":{"a":[true,{"@opaque":7}]}}]`, 25, "expected a value, found '?'"},
	} {
		t.Run(c.text, func(t *testing.T) {
			body := "4\n" + c.text + "\n{\"dubbo\":\"2.0.2\"}\n"
			m := formattest.Response(gson, []byte(body), decode.Malformed)
			require.Nil(t, m.Err)
			formattest.Balance(t, &m.Tree, len(body))
			require.Equal(t, c.value, m.Value("result"))
			require.Equal(t, `{"dubbo":"2.0.2"}`, m.Value("attachments"))

			r := gson.New()
			r.Reset([]byte(c.text+"\n"), decode.Malformed, nil)
			r.Value(decode.ByField, "result", 0, "")
			fault := r.(decode.Faulter).Fault()
			require.NotNil(t, fault)
			require.Equal(t, decode.Malformed, fault.Cause)
			require.Equal(t, c.at, fault.At)
			require.Equal(t, c.fault, "expected "+fault.Expected+", found "+fault.Found)
		})
	}
}

// Of a text whose end is not in the capture, what is there is read.
func TestCutInside(t *testing.T) {
	for _, c := range []struct {
		f     decode.Format
		text  string
		value string
		at    int
	}{
		{lines, `{"id":7,"name":"bob","in":[1,2,"c`, `{"id":7,"name":"bob","in":[1,2]}`, 31},
		{lines, `{"id":7,"na`, `{"id":7}`, 8},
		{lines, `{"id":7,"name":`, `{"id":7,"name":{"@opaque":0}}`, 15},
		{lines, `[1,23`, `[1]`, 3},
		{lines, `[1,tr`, `[1]`, 3},
		{lines, `[1,2]`, `[1,2]`, 5},
		{prefixed, "\x00\x00\x00\x40" + `{"@type":"a.B","id":7,"x":new Da`, `{"@class":"a.B","id":7}`, 30},
	} {
		tree := decode.Tree{WithValues: true}
		r := c.f.New()
		r.Reset([]byte(c.text), decode.Cut, &tree)
		r.Value(decode.ByField, "result", 0, "")
		require.NotNil(t, r.Err(), c.text)
		require.Equal(t, decode.Cut, r.Err().Cause, c.text)
		require.Equal(t, c.at, r.Err().At, "%s: %v", c.text, r.Err())
		formattest.Balance(t, &tree, c.at)
		m := formattest.Message{Tree: tree}
		require.Equal(t, c.value, m.Value("result"))
	}
}
