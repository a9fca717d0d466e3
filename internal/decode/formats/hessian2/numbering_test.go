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
