package xml

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

func read(tb testing.TB, body string, short decode.Cause, nodes int) (*decode.Tree, *decode.Error) {
	tree := decode.Tree{WithValues: true, MaxNodes: nodes}
	var r Reader
	r.Reset([]byte(body), short, &tree)
	r.Whole(decode.ByField, "result", 0)
	if err := r.Err(); err != nil && err.At != r.Offset() || r.Offset() > len(body) || err == nil && r.Offset() != len(body) {
		tb.Fatalf("error %v at offset %d", err, r.Offset())
	}
	formattest.Balance(tb, &tree, r.Offset())
	return &tree, r.Err()
}

func TestWhole(t *testing.T) {
	for _, row := range []struct {
		body   string
		short  decode.Cause
		want   string
		cause  decode.Cause
		offset int
	}{
		{`<?xml version="1.0"?><bid><geo><city>oslo</city></geo><imp><id>a</id></imp><imp><id>b</id></imp></bid>`, decode.Malformed, `{"geo":{"city":"oslo"},"imp":{"id":"a"},"imp":{"id":"b"}}`, decode.None, 0},
		{"\ufeff<a>x &lt;&#233;&#x1F600;&amp;</a>\n", decode.Malformed, `"x <é😀&"`, decode.None, 0},
		{`<a b="1&quot;" c='"'> t <d/>u<e></e ></a>`, decode.Malformed, `{"b":"1\"","c":"\"","$text":" t ","d":"","$text":"u","e":""}`, decode.None, 0},
		{`<a><![CDATA[<b>&]]></a>`, decode.Malformed, `"<b>&"`, decode.None, 0},
		{`<a>x<![CDATA[y]]><!-- <b> --><?p ?></a>`, decode.Malformed, `{"$text":"x","$text":"y"}`, decode.None, 0},
		{`<!DOCTYPE a [<!ENTITY b "]>"><!-- ]> -->]><a c=""/>`, decode.Malformed, `{"c":""}`, decode.None, 0},
		{`<!DOCTYPE a [<!ENTITY b "c">]><a><d>&b;</d></a>`, decode.Malformed, `{"d":{"@opaque":0}}`, decode.Malformed, 36},
		{`<a><b>1</b><c>2</d></a>`, decode.Malformed, `{"b":"1","c":"2"}`, decode.Malformed, 15},
		{`<a><b c=1/></a>`, decode.Malformed, `{"b":{"c":{"@opaque":0}}}`, decode.Malformed, 8},
		{`<a b="<"/>`, decode.Malformed, `{"b":{"@opaque":0}}`, decode.Malformed, 6},
		{`<a b="1"c="2"/>`, decode.Malformed, `{"b":"1"}`, decode.Malformed, 8},
		{`<a>1</a><b/>`, decode.Malformed, `"1"`, decode.Malformed, 8},
		{`<a>&#0;</a>`, decode.Malformed, ``, decode.Malformed, 3},
		{`text`, decode.Malformed, ``, decode.Malformed, 0},
		{``, decode.Malformed, ``, decode.Malformed, 0},
		{`<a><b>1</b><c>2`, decode.Malformed, `{"b":"1","c":{}}`, decode.Malformed, 14},
		{`<a><b>1</b><c>2`, decode.Cut, `{"b":"1","c":{}}`, decode.Cut, 14},
		{`<a><b>1</b><c>2</`, decode.Lost, `{"b":"1","c":"2"}`, decode.Lost, 15},
		{`<a><b>1</b></a>`, decode.Cut, `{"b":"1"}`, decode.Cut, 15},
		{`<a b="1" c`, decode.Cut, `{"b":"1"}`, decode.Cut, 9},
	} {
		tree, err := read(t, row.body, row.short, 0)
		json := ""
		for i := range tree.Nodes {
			if tree.Nodes[i].Name == "result" {
				json = string(tree.AppendJSON(nil, i))
			}
		}
		assert.Equal(t, row.want, json, row.body)
		if row.cause == decode.None {
			assert.Nil(t, err, row.body)
		} else if assert.NotNil(t, err, row.body) {
			assert.Equal(t, row.cause, err.Cause, row.body)
			assert.Equal(t, row.offset, err.Offset(), row.body)
		}
	}
}

func TestDepth(t *testing.T) {
	_, err := read(t, strings.Repeat("<a>", 5000), decode.Malformed, 0)
	assert.Equal(t, decode.Limit, err.Cause)
}

// FuzzWhole: whatever the body is, every byte that was taken has an owner.
func FuzzWhole(f *testing.F) {
	for _, body := range []string{
		`<?xml version="1.0"?><a b="1&quot;" c='"'> t <d/>u<e></e ></a>`, `<!DOCTYPE a [<!ENTITY b "]>"><!-- ]> -->]><a c=""/>`,
		`<a>x<![CDATA[y]]><!-- <b> --><?p ?></a>`, `<a><![CDATA[<b>&]]></a>`, "\ufeff<a>x &lt;&#233;&#x1F600;&amp;</a>\n", "<a", "</a>", "<a><b></a>", "<a>&", "", "\xff",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		read(t, body, decode.Malformed, 0)
		read(t, body, decode.Cut, 0)
		read(t, body, decode.Malformed, 4)
	})
}
