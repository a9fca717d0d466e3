package hessian2

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// TestDamage: what a person reads of damage, with the offset of the byte to look at. What was read before it stands: taken
// is how many bytes have an owner.
func TestDamage(t *testing.T) {
	const utf8 = ": UTF-8 of 1 to 3 bytes a character (hessian-lite)"
	for _, c := range []struct {
		hex   string
		taken int
		text  string
	}{
		{"", 0, "0: expected a value, found 0 bytes to the end of the body"},
		{"79 40", 1, "1: expected a value, found 40 (not used)"},
		{"7a 91 5a", 2, "2: expected a value, found 5a (end of a list or map)"},
		{"79 49 0001", 1, "1: expected int of 5 bytes, found 3 bytes to the end of the body"},
		{"79 44 3ff0", 1, "1: expected double of 9 bytes, found 3 bytes to the end of the body"},
		{"79 4a 00", 1, "1: expected date of 9 bytes, found 2 bytes to the end of the body"},

		{"58 49 7fffffff", 0, "1: expected the length of a list, at most 0, one byte each, found 2147483647"},
		{"58 8f", 0, "1: expected the length of a list, 0 or more, found -1"},
		{"58 0161", 0, "1: expected the length of a list, found 01 (string)"},
		{"58 49 00", 0, "0: expected the length of a list, found 3 bytes to the end of the body"},
		{"56 045b696e74 c8ff 91", 6, "6: expected the length of a list, at most 1, one byte each, found 255"},
		{"72 91 91 91", 0, "1: expected an index below 0 of the type table, found 1"},
		{"7a 70 0161 70 91", 4, "5: expected an index below 1 of the type table, found 1"},
		{"4d 4e 5a", 0, "1: expected a type, a string or an index of the type table, found 4e (null)"},
		{"57 91", 2, "2: expected a value, found 0 bytes to the end of the body"},
		{"48 0161 91 0162", 6, "6: expected a value, found 0 bytes to the end of the body"},
		{"48 03616263 5a", 5, "5: expected a value, found 5a (end of a list or map)"},

		{"43 4e 90 60", 0, "1: expected the name of a class, found 4e (null)"},
		{"43 0161 e1 60", 3, "3: expected the number of a class's fields, found e1 (long)"},
		{"43 0161 49 7fffffff 0162", 3, "3: expected the number of a class's fields, at most 2, one byte each, found 2147483647"},
		{"43 0161 91 91 60", 4, "4: expected the name of a field, found 91 (int)"},
		{"43 0143 90 91", 4, "4: expected an object after its class definition, found 91 (int)"},
		{"43 0143 90", 4, "4: expected an object, found 0 bytes to the end of the body"},
		{"61", 0, "0: expected an index below 0 of the class table, found 1"},
		{"4f 95", 0, "1: expected an index below 0 of the class table, found 5"},
		{"4f 4e", 0, "1: expected the index of a class, found 4e (null)"},
		{"43 0143 92 0161 0162 60 91", 10, "10: expected a value, found 0 bytes to the end of the body"},

		{"7a 51 92", 1, "2: expected an index below 1 of the object table, found 2"},
		{"7a 51 0161", 1, "2: expected the index of an object, found 01 (string)"},
		{"79 51", 1, "1: expected the index of an object, found 1 bytes to the end of the body"},

		{"79 53 0010 6162", 1, "1: expected a string of 16 UTF-16 units, found the end of the body after 2 of them"},
		{"79 03 61e4b8", 1, "1: expected a string of 3 UTF-16 units, found the end of the body after 1 of them"},
		{"79 53 00", 1, "1: expected a string, found 2 bytes to the end of the body"},
		{"79 03 61f888808080", 1, "3: expected a string" + utf8 + ", found f8, which starts none"},
		{"79 03 618061", 1, "3: expected a string" + utf8 + ", found 80, which continues one"},
		{"79 03 61c36161", 1, "4: expected a string" + utf8 + ", its byte 2 of 2, found 61"},
		{"79 03 61e4b86161", 1, "5: expected a string" + utf8 + ", its byte 3 of 3, found 61"},
		{"79 03 61f490808061", 1, "3: expected a string" + utf8 + ", found f4, which starts 4"},
		{"01 f09f9880", 0, "1: expected a string of 1 UTF-16 units: one more, UTF-8 of 1 to 3 bytes (hessian-lite), found f0, which starts a character of two"},
		{"52 0001 61 91", 0, "4: expected a string, found 91 (int)"},
		{"43 0161 91 02c361", 4, "6: expected the name of a field" + utf8 + ", its byte 2 of 2, found 61"},
		{"48 01ff 91 5a", 1, "2: expected a key" + utf8 + ", found ff, which starts none"},

		{"79 25 0102", 1, "1: expected a binary of 5 bytes, found 3 bytes to the end of the body"},
		{"79 42 ff", 1, "1: expected a chunk of a binary, found 2 bytes to the end of the body"},
		{"41 0001 61 0161", 0, "4: expected a chunk of a binary, found 01 (string)"},
	} {
		tree := decode.Tree{WithValues: true}
		r := New()
		r.Reset(formattest.Hex(c.hex), decode.Malformed, &tree)
		r.Value(decode.ByField, "v", 0, "")
		if assert.NotNil(t, r.Err(), c.hex) {
			assert.Equal(t, "malformed at body offset "+c.text, r.Err().Error(), c.hex)
			assert.Equal(t, c.taken, r.Err().At, c.hex)
		}
		formattest.Balance(t, &tree, c.taken)
	}
	r := New()
	r.Reset(formattest.Hex("1f 61"), decode.Lost, nil)
	r.Text("path")
	assert.Equal(t, "lost at body offset 0: expected a string of 31 UTF-16 units, found the end of the captured bytes after 1 of them", r.Err().Error())
	r.Reset(formattest.Hex("96"), decode.Malformed, nil)
	r.ResultKind()
	assert.Equal(t, "malformed at body offset 0: expected a result kind, an int of 0 to 5 (90 to 95), found 6", r.Err().Error())
	r.Reset(formattest.Hex("91"), decode.Malformed, nil)
	r.Attachments()
	require.NotNil(t, r.Err())
	assert.Equal(t, "malformed at body offset 0: expected attachments: a map (48, 4d) or null (4e), found 91 (int)", r.Err().Error())
}
