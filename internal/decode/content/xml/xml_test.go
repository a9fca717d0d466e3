package xml

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

func TestWhole(t *testing.T) {
	for _, row := range []struct {
		body  string
		short decode.Cause
		want  string
		cause decode.Cause
		at    int
	}{
		{`<?xml version="1.0"?><bid><geo><city>oslo</city></geo><imp><id>a</id></imp><imp><id>b</id></imp></bid>`, decode.Malformed, `{"geo":{"city":"oslo"},"imp":{"id":"a"},"imp":{"id":"b"}}`, decode.None, 0},
		{"\ufeff<a>x &lt;&#233;&#x1F600;&amp;</a>\n", decode.Malformed, `"x <é😀&"`, decode.None, 0},
		{`<a b="1&quot;" c='"'> t <d/>u<e></e ></a>`, decode.Malformed, `{"b":"1\"","c":"\"","$text":" t ","d":"","$text":"u","e":""}`, decode.None, 0},
		{`<a><![CDATA[<b>&]]></a>`, decode.Malformed, `"<b>&"`, decode.None, 0},
		{`<a>x<![CDATA[y]]><!-- <b> --><?p ?></a>`, decode.Malformed, `{"$text":"x","$text":"y"}`, decode.None, 0},
		{`<!DOCTYPE a [<!ENTITY b "]>"><!-- ]> -->]><a c=""/>`, decode.Malformed, `{"c":""}`, decode.None, 0},
		{`<!DOCTYPE a [<!ENTITY b "c">]><a><d>&b;</d></a>`, decode.Malformed, `{"d":{"@opaque":0}}`, decode.Malformed, 36},
		{`<a><b>1</b><c>2</d></a>`, decode.Malformed, `{"b":"1","c":"2"}`, decode.Malformed, 17},
		{`<a><b c=1/></a>`, decode.Malformed, `{"b":{"c":{"@opaque":0}}}`, decode.Malformed, 8},
		{`<a b="<"/>`, decode.Malformed, `{"b":{"@opaque":0}}`, decode.Malformed, 6},
		{`<a b="1"c="2"/>`, decode.Malformed, `{"b":"1"}`, decode.Malformed, 8},
		{`<a>1</a><b/>`, decode.Malformed, `"1"`, decode.Malformed, 8},
		{`<a>&#0;</a>`, decode.Malformed, ``, decode.Malformed, 3},
		{"<?xml version='1.0' encoding='ISO-8859-1'?><a>M\xfcnchen &#228;</a>", decode.Malformed, `"München ä"`, decode.None, 0},
		{"<?xml version='1.0' encoding='GB2312'?><a>M\xfcnchen</a>", decode.Malformed, ``, decode.Unsupported, 39},
		{"<?xml version='1.0' encoding = 'ISO-8859-1'?><a>Oslo</a>", decode.Malformed, `"Oslo"`, decode.None, 0},
		{"<?xml encoding", decode.Malformed, ``, decode.Malformed, 0},
		{"<?xml encoding?><a/>", decode.Malformed, `""`, decode.None, 0},
		{`text`, decode.Malformed, ``, decode.Malformed, 0},
		{``, decode.Malformed, ``, decode.Malformed, 0},
		{`<a><b>1</b><c>2`, decode.Malformed, `{"b":"1","c":{}}`, decode.Malformed, 14},
		{`<a><b>1</b><c>2`, decode.Cut, `{"b":"1","c":{}}`, decode.Cut, 14},
		{`<a><b>1</b><c>2</`, decode.Lost, `{"b":"1","c":"2"}`, decode.Lost, 17},
		{`<a><b>1</b></a>`, decode.Cut, `{"b":"1"}`, decode.Cut, 15},
		{`<a b="1" c`, decode.Cut, `{"b":"1"}`, decode.Cut, 9},
	} {
		formattest.WantsWhole(t, new(Reader), row.body, row.short, row.want, row.cause, row.at)
	}
}

func TestDepth(t *testing.T) {
	_, err := formattest.ReadWhole(t, new(Reader), strings.Repeat("<a>", 5000), decode.Malformed, 0)
	assert.Equal(t, decode.Limit, err.Cause)
}

// TestHides: what may say something beside names and values is known, so that redaction replaces the whole body.
func TestHides(t *testing.T) {
	for body, hides := range map[string]bool{
		`<?xml version="1.0" encoding="utf-8" standalone="yes"?><a b="1">2</a>`: false,
		`<a><b/></a>`: false,
		`<s:Envelope xmlns:s="b"><s:Body/></s:Envelope>`: false,
		`<a:1/>`:                                 true,
		`<a:b:c/>`:                               true,
		`<a><!-- b --></a>`:                      true,
		`<!-- b --><a/>`:                         true,
		`<a/><?b c?>`:                            true,
		`<a>b<?c?></a>`:                          true,
		`<!DOCTYPE a><a/>`:                       true,
		`<?xml version="1.0" encoding="b"?><a/>`: true,
		`<?xml version="1.0" ` + strings.Repeat(" ", 80) + `?><a/>`: true,
	} {
		var r Reader
		_, err := formattest.ReadWhole(t, &r, body, decode.Malformed, 0)
		assert.Nil(t, err, body)
		assert.Equal(t, hides, r.Hidden(), body)
	}
}

// FuzzWhole: whatever the body is, every byte that was taken has an owner.
func FuzzWhole(f *testing.F) {
	formattest.FuzzWhole(f, new(Reader),
		`<?xml version="1.0"?><a b="1&quot;" c='"'> t <d/>u<e></e ></a>`, `<!DOCTYPE a [<!ENTITY b "]>"><!-- ]> -->]><a c=""/>`,
		`<a>x<![CDATA[y]]><!-- <b> --><?p ?></a>`, `<a><![CDATA[<b>&]]></a>`, "\ufeff<a>x &lt;&#233;&#x1F600;&amp;</a>\n", "<a", "</a>", "<a><b></a>", "<a>&", "", "\xff",
	)
}
