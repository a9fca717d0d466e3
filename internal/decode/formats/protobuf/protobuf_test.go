package protobuf

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// Rows were written by the streams of Dubbo 2.7.5, 2.7.8 and 2.7.23 and of the extension 3.2.0.

func TestValues(t *testing.T) { formattest.Wants(t, Format, "testdata/values.tsv") }

func TestFrames(t *testing.T) { formattest.Whole(t, Format, "testdata/frames.tsv") }

func TestFrames21(t *testing.T) { formattest.Whole(t, Format21, "testdata/frames21.tsv") }

// message puts a length of one or two bytes in front.
func message(parts ...string) []byte {
	b := formattest.Hex(parts...)
	if len(b) < 0x80 {
		return append([]byte{byte(len(b))}, b...)
	}
	return append([]byte{byte(len(b)) | 0x80, byte(len(b) >> 7)}, b...)
}

// letters are 36 bytes that print.
const letters = "6162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e202122232425"

// The fixed rules for what the wire does not say.
func TestGuesses(t *testing.T) {
	for _, c := range []struct{ name, fields, want string }{
		{"no fields", "", `{}`},
		{"a varint of ten bytes", "08 ffffffffffffffffff01", `{"#1":-1}`},
		{"the highest number of a field", "f8ffffff0f 01", `{"#536870911":1}`},
		{"a float", "0d 0000c03f", `{"#1":1.5}`},
		{"a float of 0", "0d 00000000", `{"#1":0}`},
		{"-0: the least integer", "0d 00000080", `{"#1":-2147483648}`},
		{"a float that is infinite", "0d 000080ff", `{"#1":{"@double":"-Infinity"}}`},
		{"a float that is NaN", "0d 0000c07f", `{"#1":{"@double":"NaN"}}`},
		{"the largest float", "0d ffff7f7f", `{"#1":3.4028235e+38}`},
		{"the largest double, below 0", "09 ffffffffffffefff", `{"#1":-1.7976931348623157e+308}`},
		{"four bytes that are an integer", "0d 07000000", `{"#1":7}`},
		{"four bytes that are -1", "0d ffffffff", `{"#1":-1}`},
		{"a double", "09 000000000000f83f", `{"#1":1.5}`},
		{"a double that is NaN", "09 000000000000f87f", `{"#1":{"@double":"NaN"}}`},
		{"a double of 1e-9", "09 95d626e80b2e113e", `{"#1":1e-09}`},
		{"less than that: an integer", "09 00000000000000 3d", `{"#1":4395513236313604096}`},
		{"eight bytes that are an integer", "09 cb04fb711f010000", `{"#1":1234567890123}`},
		{"eight bytes that are -1", "09 ffffffffffffffff", `{"#1":-1}`},
		{"a text", "0a 03 616263", `{"#1":"abc"}`},
		{"an empty text", "0a 00", `{"#1":""}`},
		{"a text beyond ASCII", "0a 0b e4b8ad f09f9880 e4b8ad 20", `{"#1":"中😀中 "}`},
		{"a text of lines", "0a 04 61 0d0a 62", `{"#1":"a\r\nb"}`},
		{"a text that could be fields 4", "0a 04 20412042", `{"#1":" A B"}`},
		{"a message", "0a 02 0801", `{"#1":{"#1":1}}`},
		{"a message of a text of 36 letters, which starts like a line", "0a 26 0a 24" + letters, `{"#1":{"#1":"abcdefghijklmnopqrstuvwxyz{|}~ !\"#$%"}}`},
		{"a message in a message", "0a 04 0a 02 0801", `{"#1":{"#1":{"#1":1}}}`},
		{"a message with bytes that are no message", "0a 04 0a 02 08ff", `{"#1":{"#1":{"@bytes":"CP8="}}}`},
		{"bytes: a field that is cut", "0a 02 0a01", `{"#1":{"@bytes":"CgE="}}`},
		{"bytes: field 0", "0a 02 0001", `{"#1":{"@bytes":"AAE="}}`},
		{"bytes: wire type 6", "0a 02 0e01", `{"#1":{"@bytes":"DgE="}}`},
		{"bytes: control characters", "0a 03 616200", `{"#1":{"@bytes":"YWIA"}}`},
		{"bytes: a control character of two bytes", "0a 03 61 c285", `{"#1":{"@bytes":"YcKF"}}`},
		{"bytes: half a character", "0a 02 61c3", `{"#1":{"@bytes":"YcM="}}`},
		{"half a character, and its other half as a tag", "0a 02 61c3 a801 01", `{"#1":{"@bytes":"YcM="},"#21":1}`},
		{"a character, then a tag that looks like another half", "0a 03 61c3a9 a901 0000000000000000", `{"#1":"aé","#21":0}`},
		{"half a character that the one before left", "0a 02 61c3 12 02 a962", `{"#1":{"@bytes":"YcM="},"#2":{"@bytes":"qWI="}}`},
		{"packed numbers", "0a 03 010203", `{"#1":{"@bytes":"AQID"}}`},
		{"a list", "08 01 08 02 10 03", `{"#1":[1,2],"#2":3}`},
		{"a list that goes on later", "08 01 08 02 10 03 08 04", `{"#1":[1,2],"#2":3,"#1":4}`},
		{"a list of texts, the first empty", "0a 00 0a 01 61", `{"#1":["","a"]}`},
		{"a list of messages, two empty", "0a 02 0801 0a 00 0a 00", `{"#1":[{"#1":1},{},{}]}`},
		{"packed and not", "08 01 0a 02 0102", `{"#1":[1,{"@bytes":"AQI="}]}`},
		{"a group", "0b 08 01 0c 10 02", `{"#1":{"#1":1},"#2":2}`},
		{"an empty group", "0b 0c", `{"#1":{}}`},
		{"a list of groups", "0b 0801 0c 0b 0802 0c", `{"#1":[{"#1":1},{"#1":2}]}`},
		{"groups in groups, with a long tag at the end", "0b 13 0a 02 0801 13 14 14 8c00", `{"#1":{"#2":{"#1":{"#1":1},"#2":{}}}}`},
		{"a group in a message", "0a 04 0b 0801 0c", `{"#1":{"#1":{"#1":1}}}`},
		// what is not a message is measured
		{"a group without end", "0b 08 01", `{"@opaque":4}`},
		{"the end of another group", "0b 14", `{"@opaque":3}`},
		{"an end without a group", "0c", `{"@opaque":2}`},
		{"a field that is cut", "0a 05 61", `{"@opaque":4}`},
		{"field 0", "00 01", `{"@opaque":3}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := message(c.fields)
			require.Equal(t, c.want, formattest.Value(t, Format, body))
			formattest.Check(t, Format, body)
		})
	}
}

// A declared type that is a wrapper is the value; what does not fit it, and any other type, is a message.
func TestDeclared(t *testing.T) {
	for _, c := range []struct{ typ, fields, want string }{
		{"BoolValue", "08 02", `true`},
		{"BoolValue", "", `false`},
		{"Int32Value", "08 ffffffffffffffffff01", `-1`},
		{"UInt32Value", "08 07", `7`},
		{"Int64Value", "", `0`},
		{"UInt64Value", "08 01", `1`},
		{"FloatValue", "0d 00000001", `2.3509887e-38`},
		{"DoubleValue", "09 0100000000000000", `5e-324`},
		{"StringValue", "0a 03 616200", `"ab\u0000"`},
		{"StringValue", "0a 02 61ff", `"a` + "\ufffd" + `"`},
		{"StringValue", "", `""`},
		{"BytesValue", "0a 03 616263", `{"@bytes":"YWJj"}`},
		{"Empty", "", `{}`},
		{"Int32Value", "08 01 08 02", `{"#1":[1,2]}`},
		{"Int32Value", "10 01", `{"#2":1}`},
		{"StringValue", "08 01", `{"#1":1}`},
		{"Timestamp", "08 01", `{"#1":1}`},
		{"Timestamp", "", `{}`},
	} {
		for typ, want := range map[string]string{"Lcom/google/protobuf/" + c.typ + ";": c.want, "La/" + c.typ + ";": ""} {
			tree := decode.Tree{WithValues: true}
			r := Format.New()
			body := message(c.fields)
			r.Reset(body, decode.Malformed, &tree)
			r.Value(decode.ByField, "result", 0, typ)
			require.Nil(t, r.Err())
			require.Equal(t, len(body), r.Offset())
			formattest.Balance(t, &tree, len(body))
			if m := (formattest.Message{Tree: tree}); want != "" {
				assert.Equal(t, want, m.Value("result"), "%s %s", c.typ, c.fields)
			} else {
				assert.Equal(t, byte('{'), m.Value("result")[0], "%s is no wrapper", typ)
			}
		}
	}
}

// An exception is read by its schema; one that does not fit it has no names.
func TestThrowable(t *testing.T) {
	for _, c := range []struct{ name, fields, want string }{
		{"nothing", "", `{}`},
		{"class and message", "0a 03 612e45 12 01 78", `{"@class":"a.E","originalMessage":"x"}`},
		{"a message that looks like one", "12 02 0801", `{"originalMessage":"\u0008\u0001"}`},
		{"a frame", "1a 0a 0a 01 61 12 01 62 20 03 28 04", `{"stackTrace":[{"className":"a","methodName":"b","lineNumber":3,"#5":4}]}`},
		{"a frame that is none", "1a 01 ff", `{"#3":{"@bytes":"/w=="}}`},
		{"causes", "0a 01 61 22 08 0a 01 62 22 03 0a 01 63", `{"@class":"a","cause":{"@class":"b","cause":{"@class":"c"}}}`},
		{"classes", "0a 01 61 0a 01 62", `{"#1":["a","b"]}`},
		{"another type", "08 01 50 02", `{"#1":1,"#10":2}`},
		{"another field", "0a 01 61 50 02", `{"@class":"a","#10":2}`},
		{"no message", "ff", `{"@opaque":2}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := decode.Tree{WithValues: true}
			r := Format.New()
			body := message(c.fields)
			r.Reset(body, decode.Malformed, &tree)
			r.Throwable()
			require.Nil(t, r.Err())
			require.Equal(t, len(body), r.Offset())
			formattest.Balance(t, &tree, len(body))
			m := formattest.Message{Tree: tree}
			require.Equal(t, c.want, m.Value("exception"))
		})
	}
}

func TestAttachments(t *testing.T) {
	const any = "0a 59 747970652e676f6f676c65617069732e636f6d2f6f72672e6170616368652e647562626f2e636f6d6d6f6e2e73657269616c697a652e70726f746f6275662e737570706f72742e777261707065722e4174746163686d656e74"
	integer := "0a 2e 747970652e676f6f676c65617069732e636f6d2f676f6f676c652e70726f746f6275662e496e74333256616c7565"
	typed := func(data string) string { // an entry of field 2 with key k
		inner := message(data)
		attachment := message("0a 01 49 12" + hexOf(inner))
		value := message(any + "12" + hexOf(attachment))
		return "12" + hexOf(message("0a 01 6b 12"+hexOf(value)))
	}
	for _, c := range []struct{ name, fields, want string }{
		{"none", "", `{}`},
		{"one", "0a 06 0a 01 6b 12 01 76", `{"k":"v"}`},
		{"without value", "0a 03 0a 01 6b", `{"k":""}`},
		{"without key", "0a 03 12 01 76", `{"":"v"}`},
		{"without both", "0a 00", `{"":""}`},
		{"text that is not UTF-8", "0a 06 0a 01 6b 12 01 ff", `{"k":"` + "\ufffd" + `"}`},
		{"the value first", "0a 06 12 01 76 0a 01 6b", `{"#1":{"@opaque":8}}`},
		{"another field", "18 01", `{"#3":{"@opaque":2}}`},
		{"a group", "0b 0c 0a 03 0a 01 6b", `{"#1":{"@opaque":2},"k":""}`},
		{"typed", typed(integer + "12 02 08 07"), `{"k":7}`},
		{"typed, 0", typed(integer), `{"k":0}`},
		{"typed, and as text", "0a 06 0a 01 6b 12 01 37" + typed(integer+"12 02 08 07"), `{"k":7}`},
		{"typed, and another as text", "0a 06 0a 01 6c 12 01 37" + typed(integer+"12 02 08 07"), `{"l":"7","k":7}`},
		{"a type that does not fit", typed(integer + "12 02 10 07"), `{"k":{"@opaque":150}}`},
		{"an unknown type", typed("0a 01 61 12 02 08 07"), `{"k":{"@opaque":105}}`},
		{"no type", "12 06 0a 01 6b 12 01 76", `{"k":{"@opaque":1}}`},
		{"no message", "0a", `{"@opaque":2}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := decode.Tree{WithValues: true}
			r := Format.New()
			body := message(c.fields)
			r.Reset(body, decode.Malformed, &tree)
			r.Attachments()
			require.Nil(t, r.Err())
			require.Equal(t, len(body), r.Offset())
			formattest.Balance(t, &tree, len(body))
			m := formattest.Message{Tree: tree}
			require.Equal(t, c.want, m.Value("attachments"))
		})
	}
	// A null map is written as nothing; a body whose end is not in the capture lacks them.
	for short, ok := range map[decode.Cause]bool{decode.Malformed: true, decode.Cut: false, decode.Lost: false} {
		r := Format.New()
		r.Reset(nil, short, nil)
		r.Attachments()
		assert.Equal(t, ok, r.Err() == nil)
	}
}

func hexOf(b []byte) string {
	const digits = "0123456789abcdef"
	s := make([]byte, 0, 2*len(b))
	for _, c := range b {
		s = append(s, digits[c>>4], digits[c&15])
	}
	return string(s)
}

// The two formats of id 21 are told apart by the first bytes of any body.
func TestTell(t *testing.T) {
	kinds := []decode.BodyKind{decode.BodyRequest, decode.BodyResult, decode.BodyText, decode.BodyEvent}
	for _, file := range []string{"testdata/frames21.tsv", "../protobufjson/testdata/frames.tsv"} {
		want := decode.Own
		if file != "testdata/frames21.tsv" {
			want = decode.Foreign
		}
		for _, row := range formattest.Frames(t, file) {
			k := kinds[0]
			switch flags, status := row.Header[2], row.Header[3]; {
			case flags&0x20 != 0:
				k = kinds[3]
			case flags&0x80 != 0:
			case status == 20:
				k = kinds[1]
			default:
				k = kinds[2]
			}
			assert.Equal(t, want, Tell(row.Body, k), "%s %s", row.Source, row.Name)
			for n := range 8 {
				assert.NotEqual(t, -want, Tell(row.Body[:min(n, len(row.Body))], k), "%s %s: %d bytes", row.Source, row.Name, n)
			}
		}
	}
	for _, c := range []struct {
		body string
		kind decode.BodyKind
		want decode.Verdict
	}{
		{"", decode.BodyRequest, decode.Unsure},
		{"00", decode.BodyText, decode.Own},
		{"00", decode.BodyResult, decode.Own},
		{"22", decode.BodyText, decode.Unsure},
		{"22 0a 20", decode.BodyText, decode.Own}, // 34 bytes: a quote
		{"22 22 0a", decode.BodyText, decode.Foreign},
		{"34 0a", decode.BodyResult, decode.Foreign},
		{"34 0d 0a", decode.BodyResult, decode.Foreign},
		{"ff", decode.BodyText, decode.Unsure},
		{"ff 01 0a", decode.BodyText, decode.Own},
	} {
		assert.Equal(t, c.want, Tell(formattest.Hex(c.body), c.kind), c.body)
	}
}

func request(tb testing.TB) []byte { return formattest.Named(tb, "testdata/frames.tsv", "user C2S") }

func TestSkipTextAllocatesNothing(t *testing.T) { formattest.NoAllocs(t, Format, request(t)) }

func BenchmarkReader(b *testing.B) { formattest.Bench(b, Format, request(b)) }

func FuzzReader(f *testing.F) {
	formattest.Fuzz(f, Format, "testdata/values.tsv", "testdata/frames.tsv", "testdata/frames21.tsv")
}
