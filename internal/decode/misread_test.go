package decode

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCanBeName(t *testing.T) {
	for _, s := range []string{"", "com.acme.Order", "[Ljava.lang.String;", "java/util/Map$Entry", "buyer_id", "@type", "#103", "订单", "Order<T>", "a-b"} {
		assert.True(t, CanBeName(s), s)
	}
	for _, s := range []string{"Doug Lea", "doug@acme.org", "https://acme.org", "a\x00b", "+49 30", "{\"a\"", "\xff\xfe"} {
		assert.False(t, CanBeName(s), s)
	}
}

func TestCanBeClass(t *testing.T) {
	for _, s := range []string{"com.acme.Order", "[Ljava.lang.String;", "Order$Line", "订单", "com.acme.Deep$$Lambda$468/0x00007f06f425ca68"} {
		assert.True(t, CanBeClass(s), s)
	}
	for _, s := range []string{"", "#58", ".Order", "Order.", "com..Order", "B\x007c", "Doug Lea"} {
		assert.False(t, CanBeClass(s), s)
	}
}

// A name that cannot be one shows that a body was misread; texts in the bytes of names do only if it is malformed.
func TestMisread(t *testing.T) {
	malformed := &Error{Cause: Malformed}
	leaf := func(role string, body string) *Tree {
		return &Tree{Nodes: []Node{{Kind: Overhead, Label: ByRole, Name: role, Parent: -1, End: 1, Len: int32(len(body))}}}
	}
	for _, c := range []struct {
		name string
		tree *Tree
		body string
		err  *Error
		want bool
	}{
		{"a class", &Tree{Nodes: []Node{{Kind: Object, Class: "com.acme.Order", End: 1}}}, "", malformed, false},
		{"a class that is none", &Tree{Nodes: []Node{{Kind: Object, Class: "Doug Lea", End: 1}}}, "", nil, true},
		{"no field", &Tree{Nodes: []Node{{Kind: Object, Class: "com.acme.Order", Parent: -1, End: 2}, {Label: ByField, Name: "doug@acme.org", End: 2}}}, "", nil, true},
		{"no class, maybe a map", &Tree{Nodes: []Node{{Kind: Object, Parent: -1, End: 2}, {Label: ByField, Name: "doug@acme.org", End: 2}}}, "", nil, false},
		{"no field, malformed", &Tree{Nodes: []Node{{Kind: Object, Parent: -1, End: 2}, {Label: ByField, Name: "doug@acme.org", End: 2}}}, "", malformed, true},
		{"bytes of a name", leaf("class", "\x00\x0ecom.acme.Order\x01"), "\x00\x0ecom.acme.Order\x01", malformed, false},
		{"bytes of a text", leaf("class", "\x00\x08Doug Lea\x01"), "\x00\x08Doug Lea\x01", malformed, true},
		{"a number that looks like a text", leaf("class", "Order\x00a b!"), "Order\x00a b!", nil, false},
		{"lengths", leaf("length", "a b c d"), "a b c d", malformed, false},
	} {
		assert.Equal(t, c.want, c.tree.Misread([]byte(c.body), c.err), c.name)
	}
}
