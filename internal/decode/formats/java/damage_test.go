package java_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/java"
)

// What a user is told of a damaged body: the first byte that was not taken, what should have been there, and what was. What
// was read before it stands.
func TestDamage(t *testing.T) {
	const (
		value  = stream + "770101 "
		point  = "72 0001 50 0000000000000001 02 0002 49 0001 78 4c 0001 79 74 0012 4c6a6176612f6c616e672f537472696e673b 7870"
		list   = "73 72 0013 6a6176612e7574696c2e41727261794c697374 7881d21d99c7619d 03 0001 49 0004 73697a65 7870 00000002 7704 00000002"
		hash   = "73 72 0011 6a6176612e7574696c2e486173684d6170 0507dac1c31660d1 03 0002 46 000a 6c6f6164466163746f72 49 0009 7468726573686f6c64 7870 3f400000 0000000c 7708 00000010 00000001"
		ints   = "75 72 0002 5b49 4dba602676eab2a5 02 0000 7870"
		colour = "7e 72 0001 43 0000000000000000 12 0000 78 72 000e 6a6176612e6c616e672e456e756d 0000000000000000 12 0000 7870"
	)
	for _, c := range []struct{ name, body, want, stands string }{
		{"another magic", "aced0006 770100", `malformed at body offset 0: expected aced0005, the start of a stream, found aced0006`, ``},
		{"nothing behind the head", stream, `malformed at body offset 4: expected the byte before an object (1 bytes), found 0 bytes to the end of the body`, ``},
		{"a block that is longer than the body", stream + "7709 01", `malformed at body offset 4: expected a block of data that ends within the body, found a block of 9 bytes, with 1 to the end of the body`, ``},
		{"neither null nor an object", stream + "7701 07", `malformed at body offset 6: expected 00 (null) or 01 (an object follows), found 07`, ``},
		{"block data where an object should be", value + "7701 00", `malformed at body offset 7: expected an object, found byte 77, a block of data`, ``},
		{"no item", value + "00", `malformed at body offset 7: expected an object, found byte 00`, ``},
		{"the end of a class's data where an object should be", value + "78", `malformed at body offset 7: expected an object, found byte 78, the end of what a class wrote`, ``},
		{"a string cut short", value + "74 0005 616263", `malformed at body offset 7: expected the characters of a string (5 bytes), found 3 bytes to the end of the body`, ``},
		{"a long string of 2^40 bytes", value + "7c 0000010000000000 61", `malformed at body offset 7: expected the length of a string, found 1099511627776`, ``},
		{"a reference to nothing", value + "71 007e0000", `malformed at body offset 7: expected a reference to one of the 0 things before it, found handle 007e0000`, ``},
		{"a reference below the first handle", value + "71 00000001", `malformed at body offset 7: expected a reference to one of the 0 things before it, found handle 00000001`, ``},
		{"an object without a class", value + "73 70", `malformed at body offset 9: expected the class of an object, found null`, `{}`},
		{"an object whose class is a string", value + "73 74 0001 61", `malformed at body offset 8: expected a class, found byte 74, a string`, `{}`},
		{"a class whose name is cut", value + "73 72 0010 6162", `malformed at body offset 8: expected a name (16 bytes), found 2 bytes to the end of the body`, `{}`},
		{"a class whose flags are cut", value + "73 72 0001 41 0000000000000001", `malformed at body offset 8: expected the flags of a class (1 bytes), found 0 bytes to the end of the body`, `{}`},
		{"a field of no type", value + "73 72 0001 41 0000000000000001 02 0001 58 0001 61", `malformed at body offset 23: expected the type of a field, found byte 58`, `{}`},
		{"a primitive after an object among fields", value + "73 72 0001 41 0000000000000001 02 0002 4c 0001 61 74 0003 4c413b 49 0001 62", `malformed at body offset 23: expected the type of an object, because objects come after all primitives, found a primitive, I`, `{}`},
		{"a field whose type is no string", value + "73 72 0001 41 0000000000000001 02 0001 4c 0001 61 70", `malformed at body offset 23: expected the type of a field, a string, found byte 70, null`, `{}`},
		{"a class that is its own superclass", value + "73 72 0001 41 0000000000000001 02 0000 78 71 007e0000", `malformed at body offset 24: expected a reference to a class, found a handle of something else`, `{}`},
		{"a number cut short", value + "73" + point + "0000", `malformed at body offset 54: expected field x (4 bytes), found 2 bytes to the end of the body`, `{"@class":"P"}`},
		{"a field behind a field that is cut", value + "73" + point + "00000007 74 0003 6162", `malformed at body offset 58: expected the characters of a string (3 bytes), found 2 bytes to the end of the body`, `{"@class":"P","x":7}`},
		{"an element that is none", value + list + "740001 61 00", `malformed at body offset 64: expected an object, found byte 00`, `["a"]`},
		{"a list without an end", value + list + "740001 61 740001 62", `malformed at body offset 68: expected the end of what a class wrote (1 bytes), found 0 bytes to the end of the body`, `["a","b"]`},
		{"a map without a value", value + hash + "740001 6b 20", `malformed at body offset 88: expected an object, found byte 20`, `{"k":{"@opaque":0}}`},
		{"an array longer than the body", value + ints + "00000003 00000001", `malformed at body offset 26: expected the size of an array, found 3, with 4 bytes to the end of the body`, `[]`},
		{"an array of -1 elements", value + ints + "ffffffff", `malformed at body offset 26: expected the size of an array, found -1, with 0 bytes to the end of the body`, `[]`},
		{"a constant whose name is a number", value + colour + "00", `malformed at body offset 54: expected the name of an enum constant, found byte 00`, `{"@class":"C"}`},
		{"a constant whose name is a class", value + colour + "71 007e0000", `malformed at body offset 54: expected the name of an enum constant, found a handle of something else`, `{"@class":"C"}`},
		{"two billion interfaces", value + "73 7d 7fffffff", `malformed at body offset 8: expected the number of interfaces, found 2147483647`, `{}`},
		{"an exception with which the sender gave up", value + "7b 73", `unsupported at body offset 7: expected an object, found byte 7b, an exception with which the sender gave up`, ``},
		{"a reset within an object", value + list + "740001 61 79", `malformed at body offset 64: expected an object, found byte 79, a reset of the stream`, `["a"]`},
		{"data of an Externalizable without an end", value + "73 72 0001 41 0000000000000001 04 0000 7870 00", `unsupported at body offset 25: expected the data of an Externalizable with an end mark, not those of protocol version 1, found A`, `{"@class":"A"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := decode.Tree{WithValues: true}
			r := java.Format.New()
			r.Reset(formattest.Hex(c.body), decode.Malformed, &tree)
			r.Value(decode.ByField, "result", 0, "")
			require.NotNil(t, r.Err())
			assert.Equal(t, c.want, r.Err().Error())
			assert.Equal(t, c.stands, (&formattest.Message{Tree: tree}).Value("result"))
			formattest.Balance(t, &tree, r.Offset())
		})
	}
}
