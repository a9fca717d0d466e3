package hessian2

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// usualBodies are results that print without a tree.
func usualBodies() (bodies [][]byte) {
	for _, body := range benchBodies() {
		bodies = append(bodies, body)
	}
	for _, w := range []*writer{
		new(writer).null(),
		new(writer).hex("54"), new(writer).hex("46"), new(writer).int(-5), new(writer).int(1 << 30), new(writer).long(-1 << 62),
		new(writer).double(1e300), new(writer).double(0.1), new(writer).hex("5b"), new(writer).hex("5d80"), new(writer).hex("5f0000000a"),
		new(writer).date(-1), new(writer).date(1 << 60), new(writer).hex("4b00e3838f"),
		new(writer).str(""), new(writer).str("a\"b\\c\n\u0085é订\u2028"), new(writer).str("a😀中é"), new(writer).str(strings.Repeat("a long text ", 20)),
		new(writer).str(strings.Repeat("Genève, and ASCII in between, 上海, and more of it 😀 ", 50)),
		new(writer).hex("52 0001 61 52 0001 62 0163"), new(writer).hex("52 0002 61eda0bd 01edb880"), // chunks; a pair of surrogates in two of them
		new(writer).hex("23010203"), new(writer).hex("41000101 2102"),
		new(writer).typed("[float", 2).double(0.1).double(1.5),
		new(writer).hex("55 026162 91 5a"),                                               // a list with a type and without a length
		new(writer).hex("58 93 91 92 93"),                                                // a list with a length and without a type
		new(writer).hex("48 5a"), new(writer).hex("7a48 0161 91 0162 03646566 5a 51 91"), // maps; a reference to one
		new(writer).hex("4d 036d6170 016b 48 0161 91 5a 5a"),
		new(writer).hex("48 03612e62 91 026162 7991 00 91 5a"), // keys that paths quote, and one that is empty
		new(writer).hex("48 91 0161 92 7a91 92 7991 0162 5a"),  // keys that are not strings, one of them a list
		new(writer).hex("48 0240 61 91 0162 92 5a"),
		new(writer).list(3).object("Point", "x", "y").int(1).int(2).object("Point", "x", "y").int(3).int(4).ref(1),
		new(writer).object("Node", "next", "list").object("Node", "next", "list").null().list(2).ref(1).ref(2).ref(0),
		new(writer).object("Odd", "a.b", "opaque", "[", "é", "x\x01").int(1).int(2).int(3).int(4).int(5),
		new(writer).object("Empty"),
	} {
		bodies = append(bodies, w.b)
	}
	return bodies
}

func TestPrints(t *testing.T) {
	for _, body := range usualBodies() {
		formattest.Prints(t, Format, append([]byte{0x91}, body...))
		formattest.Prints(t, Format, append(append([]byte{0x94}, body...), formattest.Hex("48 056475626262 0131 5a")...))
		nested := append([]byte{0x94, 0x7a}, body...)
		formattest.Prints(t, Format, append(append(nested, body...), 'N'))
	}
}

// What depends on more than the value prints from a tree, and so does what only looks usual.
func TestPrintsUnusual(t *testing.T) {
	for _, w := range []*writer{
		new(writer).list(2).localDateTime(liteTime).ref(1),
		new(writer).list(2).bigInteger("-12345678901234567890").ref(1),
		new(writer).list(4).object("E", "name").str("RED").ref(1).object("E", "name").str("x").ref(1),
		new(writer).object("Twice", "a", "a").int(1).int(2), // two parts with one path
		new(writer).object("Role", "#type").int(1),          // and the path of a role
		new(writer).object("", "a").int(1),
		new(writer).hex("48 0161 91 0161 92 5a"),
		new(writer).hex("48 0161 91 92 93 5a"), // a key that is a string, then another one
		new(writer).hex("48 0161 91 0140 92 5a"),
		new(writer).hex("57 91 5a"),
		new(writer).hex("48 78 7991 5a"), new(writer).hex("48 580a 48 5a 5a"), new(writer).hex("48 70 0161 4d 90 0162 91 5a 5a"), // keys that end as their values begin
		new(writer).hex("4d 0145").object("Empty").hex("60 5a"),
		new(writer).hex("7a" + strings.Repeat("79", 200) + "91 92"),
		new(writer).object(strings.Repeat("C", 5000), strings.Repeat("f", 200)).int(1),
		new(writer).hex("51 90"),
	} {
		formattest.Check(t, Format, append([]byte{0x91}, w.b...))
		formattest.Check(t, Format, append(append([]byte{0x94}, w.b...), formattest.Hex("48 0567726f7570 91 5a")...))
	}
	for _, attachments := range []string{"4e", "48 0567726f7570 0161 0567726f7570 0162 5a", "48 0567726f7570 91 5a", "48 0567726f7570 7a91 92 5a", "48 91 92 5a", "51 90"} {
		request := "05322e302e32 0161 05302e302e30 0162 0149 91" + attachments
		formattest.Check(t, Format, formattest.Hex(request))
	}
	r := New()
	r.Reset(nil, decode.Malformed, nil)
	r.Print(&decode.Printed{})
	r.Value(decode.ByField, "result", 0, "")
	require.NotNil(t, r.Err())
}

// TestPrintedMemory: a reader gives back what a body with very many constants needed.
func TestPrintedMemory(t *testing.T) {
	w := new(writer).list(20_000)
	for i := range 20_000 {
		w.object("a.B"+strings.Repeat("b", 100), "name").str("C" + strconv.Itoa(i))
	}
	r := New()
	print := func(body []byte) {
		r.Reset(body, decode.Malformed, nil)
		r.Print(&decode.Printed{Printing: decode.PrintValues})
		r.Value(decode.ByField, "result", 0, "")
		require.Nil(t, r.Err())
	}
	print(w.b)
	require.Greater(t, cap(r.printing.meant.copies), maxJoin)
	print([]byte("N"))
	require.Empty(t, r.printing.meant.constants)
	require.Zero(t, cap(r.printing.meant.copies))
}
