package form_test

import (
	"testing"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/content/charset"
	"dubbo-wire/internal/decode/content/form"
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
		{"name=J%C3%B6rg+M&age=5", decode.Malformed, `{"name":"Jörg M","age":"5"}`, decode.None, 0},
		{"a=1&a=2&b&c=&=d&&e=f=g&", decode.Malformed, `{"a":"1","a":"2","b":"","c":"","":"d","e":"f=g"}`, decode.None, 0},
		{"", decode.Malformed, `{}`, decode.None, 0},
		{"a%20b=%ff", decode.Malformed, `{"a b":"�"}`, decode.None, 0},
		{"a=1&b=x%4", decode.Malformed, `{"a":"1","b":{"@opaque":0}}`, decode.Malformed, 7},
		{"a=1&b%zz=2&c=3", decode.Malformed, `{"a":"1"}`, decode.Malformed, 5},
		{"a=1&b=2", decode.Cut, `{"a":"1","b":{"@opaque":0}}`, decode.Cut, 6}, // the value may go on
		{"a=1&b", decode.Lost, `{"a":"1"}`, decode.Lost, 4},
		{"a=1&", decode.Cut, `{"a":"1"}`, decode.Cut, 4},
	} {
		formattest.WantsWhole(t, new(form.Reader), row.body, row.short, row.want, row.cause, row.at)
	}
}

// TestCharset: texts are in the charset that the content type names, with and without escapes.
func TestCharset(t *testing.T) {
	latin1, _ := charset.Find("ISO-8859-1")
	formattest.WantsWhole(t, &form.Reader{Text: latin1.Text}, "name=J%F6rg+\xd6&\xe4=1", decode.Malformed, `{"name":"Jörg Ö","ä":"1"}`, decode.None, 0)
}

// FuzzWhole: whatever the body is, every byte that was taken has an owner.
func FuzzWhole(f *testing.F) {
	formattest.FuzzWhole(f, new(form.Reader),
		"a=1&a=2&b&c=&=d&&e=f=g&", "name=J%C3%B6rg+M&age=5", "%", "a=%4", "&&", "=", "", "\xff=\x00",
	)
}
