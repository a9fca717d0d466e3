package hessian2

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// named writes a class definition of two or one fields.
func named(class string, fields ...string) string {
	s := fmt.Sprintf("43 30%02x%x %02x", len(class), class, 0x90+len(fields))
	for _, f := range fields {
		s += fmt.Sprintf("%02x%x", len(f), f)
	}
	return s
}

// The number of what follows a Calendar: hessian-lite 4 counts it twice, releases before once.
func TestCalendarsInTheObjectTable(t *testing.T) {
	calendar := named("com.alibaba.com.caucho.hessian.io.CalendarHandle", "date", "type") + "60 4b00000000 4e"
	const (
		again     = "60 4b00000001 4e"
		untyped   = "79 0161"
		typed     = "71 13 6a6176612e7574696c2e41727261794c697374 0161"
		other     = "71 14 6a6176612e7574696c2e4c696e6b65644c697374 0161" // LinkedList
		array     = "73 07 5b6f626a656374"                                // Object[] of three
		four      = "74 07 5b6f626a656374"
		attached  = "48 05 647562626f 05 322e302e32 5a"
		isList    = "result[1]"
		isHandle  = "result[0]"
		isSecond  = "result[2]"
		malformed = "!malformed"
		unsure    = ""
	)
	for _, c := range []struct{ name, hex, want string }{
		{"index beyond a table in which it counts once", "94" + array + calendar + other + "51 93" + attached, isList},
		{"index beyond any table", "94" + array + calendar + other + "51 94" + attached, malformed},
		{"the Calendar", "94" + array + calendar + untyped + "51 91" + attached, isHandle},
		{"the handle, with a list as hessian-lite 4 writes it", "94" + array + calendar + untyped + "51 92" + attached, isHandle},
		{"behind it", "94" + array + calendar + untyped + "51 93" + attached, isList},
		{"with a list as hessian-lite 3.2.4 writes it", "94" + array + calendar + typed + "51 92" + attached, isList},
		{"with no list that tells", "94" + array + calendar + other + "51 92" + attached, unsure},
		{"from a Dubbo before 2.6.3", "91" + array + calendar + untyped + "51 92", isList},
		{"two of them, beyond", "94" + four + calendar + untyped + again + "51 95" + attached, isSecond},
		{"two of them, the second Calendar", "94" + four + calendar + untyped + again + "51 94" + attached, isSecond},
		{"two of them, the list", "94" + four + calendar + untyped + again + "51 93" + attached, isList},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := formattest.Hex(c.hex)
			m := formattest.Response(Format, body, decode.Malformed)
			formattest.Check(t, Format, body)
			if c.want == malformed {
				require.NotNil(t, m.Err)
				assert.Equal(t, decode.Malformed, m.Err.Cause)
				return
			}
			require.Nil(t, m.Err)
			assert.Equal(t, len(body), m.Taken)
			ref := ""
			for i := range m.Tree.Nodes {
				if n := &m.Tree.Nodes[i]; n.Kind == decode.Ref {
					ref = m.Tree.Path(int(n.Num))
				}
			}
			assert.Equal(t, c.want, ref)
		})
	}
	request := "05322e302e32 01 61 00 01 6d 12" + hex.EncodeToString([]byte("Ljava/lang/Object;"))
	m := formattest.Request(Format, formattest.Hex(request, array+calendar+untyped+"51 92", "485a"), decode.Malformed)
	require.Nil(t, m.Err)
	assert.Contains(t, m.Value("args"), `{"@ref":"args[0][0]"}`)
	m = formattest.Request(Format, formattest.Hex(strings.Replace(request, "05322e302e32", "05322e352e33", 1), array+calendar+untyped+"51 92", "485a"), decode.Malformed)
	require.Nil(t, m.Err)
	assert.Contains(t, m.Value("args"), `{"@ref":"args[0][1]"}`)
}

// The class in the handle of an EnumSet is not printed, so a reference to it is an object of its own.
func TestReferenceToAHiddenPart(t *testing.T) {
	set := named("com.alibaba.com.caucho.hessian.io.EnumSetHandler", "type", "objects") + "60" +
		named("java.lang.Class", "name") + "61 03 612e42" + "71 07 5b6f626a656374" + named("a.B", "name") + "62 01 41"
	body := formattest.Hex("72 07 5b6f626a656374", set, "51 92")
	got := formattest.Value(t, Format, body)
	assert.Equal(t, `[[{"@enum":"a.B","name":"A"}],{"@class":"java.lang.Class","name":"a.B"}]`, got)
	formattest.Check(t, Format, body)
}

// TestScout: what decides where the writer does not show.
func TestScout(t *testing.T) {
	node := func(w *writer, id int) *writer { return w.object("Node", "next", "id").null().int(id) }
	calendar := func(w *writer) *writer {
		return w.object(handlePackage+"CalendarHandle", "date", "type").date(5).null()
	}
	n := func() *writer { return new(writer).typed("[object", 4) } // tells nothing
	for _, c := range []struct {
		name string
		w    *writer
		want string // of the last element
	}{
		{"before the Calendar it is no matter", calendar(node(n(), 1)).ref(1).null(), ""},
		{"the object behind it, or the Calendar", node(calendar(n()), 1).null().ref(2), "?"},
		{"another reference settles it", node(calendar(n()), 1).ref(2).ref(3), "result[1]"},
		{"two beyond", node(node(calendar(n()), 1), 2).ref(4), "result[2]"},
		{"in the middle", node(node(calendar(n()), 1), 2).ref(3), "?"},
		{"a field holds objects of one class", node(calendar(n()).object("Node", "next", "id"), 1).int(2).
			typed("java.util.LinkedList", 0).object("Node", "next", "id").ref(4).int(3), "result[1].next"},
		{"and the other way round", node(calendar(n()).typed("java.util.LinkedList", 0).object("Node", "next", "id"), 1).int(2).
			object("Node", "next", "id").ref(3).int(3), "result[2]"},
		{"neither fits", calendar(n()).ref(1).null().null(), "result[0]"},
		{
			"an Iterator has no place",
			new(writer).typed("[object", 3).hex("57 91 5a").object("Node", "next", "id").null().int(1).ref(1), "result[1]",
		},
		{"before 2.5.10 the type comes first", node(n().object(handlePackage+"CalendarHandle", "type", "date").null().date(5), 1).list(0).ref(2), "result[1]"},
		{
			"behind 4.0.4 all count once",
			n().object("java.net.InetAddress", "holder").object("java.net.InetAddress$InetAddressHolder", "hostName", "address", "family").
				null().int(1).int(1).object("Node", "next", "id").null().int(1).list(0).ref(3), "result[2]",
		},
	} {
		tree := decode.Tree{WithValues: true}
		r := New()
		r.Reset(c.w.b, decode.Malformed, &tree)
		r.Value(decode.ByField, "result", 0, "")
		require.Nil(t, r.Err(), c.name)
		require.Equal(t, len(c.w.b), r.Offset(), c.name)
		got := ""
		for i := range tree.Nodes {
			switch node := &tree.Nodes[i]; node.Kind {
			case decode.Ref:
				got = tree.Path(int(node.Num))
			case decode.Opaque:
				got = "?"
			}
		}
		if c.want != "" {
			assert.Equal(t, c.want, got, c.name)
		}
		formattest.Check(t, Format, c.w.b)
	}
}
