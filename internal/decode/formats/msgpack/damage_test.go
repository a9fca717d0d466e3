package msgpack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/msgpack"
)

// A body stops at damage: cause, place of the first byte that was not taken, what was expected and found. What was read before
// it stands.
func TestDamage(t *testing.T) {
	for _, c := range []struct {
		hex, value string
		at         int
		fault      string
	}{
		{"c1", ``, 0, "expected a value, found c1, which is never used"},
		{"92 01 c1", `[1]`, 2, "expected a value, found c1, which is never used"},
		{"92 01", `[1]`, 2, "expected a value (1 bytes), found 0 bytes to the end of the body"},
		{"dc 0003 01 02", `[1,2]`, 5, "expected a value (1 bytes), found 0 bytes to the end of the body"},
		{"dd ffffffff c0", `[null]`, 6, "expected a value (1 bytes), found 0 bytes to the end of the body"},
		{"dc 00", ``, 0, "expected the size of an array (2 bytes), found 1 bytes to the end of the body"},
		{"82 a161 01", `{"a":1}`, 4, "expected a value (1 bytes), found 0 bytes to the end of the body"},
		{"82 a161 01 a162", `{"a":1,"b":{"@opaque":0}}`, 6, "expected a value (1 bytes), found 0 bytes to the end of the body"},
		{"df 7fffffff", `{}`, 5, "expected a value (1 bytes), found 0 bytes to the end of the body"},
		{"df 7fff", ``, 0, "expected the size of a map (4 bytes), found 2 bytes to the end of the body"},
		{"81 a361 62", `{}`, 1, "expected the characters of a string (3 bytes), found 2 bytes to the end of the body"},
		{"82 a6 40636c617373 a3 612e42 05 01", `{"@class":"a.B"}`, 12, "expected a string, found byte 05"},
		{"91 a5 6162", `[]`, 1, "expected the characters of a string (5 bytes), found 2 bytes to the end of the body"},
		{"91 d9 05 61", `[]`, 1, "expected the characters of a string (5 bytes), found 1 bytes to the end of the body"},
		{"91 da 00", `[]`, 1, "expected the length of a string (2 bytes), found 1 bytes to the end of the body"},
		{"91 db ffffffff", `[]`, 1, "expected the characters of a string (4294967295 bytes), found 0 bytes to the end of the body"},
		{"91 c4 02 00", `[]`, 1, "expected the bytes of a byte array (2 bytes), found 1 bytes to the end of the body"},
		{"91 c6 0000", `[]`, 1, "expected the length of a byte array (4 bytes), found 2 bytes to the end of the body"},
		{"91 ca 0000", `[]`, 1, "expected a float (4 bytes), found 2 bytes to the end of the body"},
		{"91 cb 00", `[]`, 1, "expected a double (8 bytes), found 1 bytes to the end of the body"},
		{"91 cd 00", `[]`, 1, "expected an integer (2 bytes), found 1 bytes to the end of the body"},
		{"91 d3 00", `[]`, 1, "expected an integer (8 bytes), found 1 bytes to the end of the body"},
		{"91 d4", `[]`, 1, "expected the type of an extension (1 bytes), found 0 bytes to the end of the body"},
		{"91 d5 01 00", `[]`, 1, "expected the bytes of an extension (2 bytes), found 1 bytes to the end of the body"},
		{"91 c7 ff 01", `[]`, 1, "expected the bytes of an extension (255 bytes), found 0 bytes to the end of the body"},
		{"83 a161 01 a162 82 a163 02 a164 c1", `{"a":1,"b":{"c":2,"d":{"@opaque":0}}}`, 12, "expected a value, found c1, which is never used"},
	} {
		for _, tree := range []*decode.Tree{nil, {WithValues: true}} {
			body := formattest.Hex(c.hex)
			r := msgpack.Format.New()
			r.Reset(body, decode.Malformed, tree)
			r.Value(decode.ByField, "result", 0, "")
			err := r.Err()
			require.NotNil(t, err, c.hex)
			require.Equal(t, decode.Malformed, err.Cause, c.hex)
			require.Equal(t, c.at, err.At, c.hex)
			require.Equal(t, c.fault, "expected "+err.Expected+", found "+err.Found, c.hex)
			if tree != nil {
				formattest.Balance(t, tree, c.at)
				m := formattest.Message{Tree: *tree}
				require.Equal(t, c.value, m.Value("result"), c.hex)
			}
		}
	}
}
