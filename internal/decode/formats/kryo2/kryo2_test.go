package kryo2

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// Where the declared type is the runtime class, values are read; the others are refused. Bytes measured with Dubbo
// 2.7.8.
func TestValues(t *testing.T) {
	for _, c := range []struct{ typ, hex, want string }{
		{"Ljava/lang/String;", "0161e2", `"ab"`},
		{"I", "010a", "5"},
		{"Ljava/lang/Integer;", "010a", "5"},
		{"J", "01d804", "300"},
		{"Ljava/lang/Double;", "013ff8000000000000", "1.5"},
		{"Z", "0101", "true"},
		{"Ljava/lang/Character;", "010063", `"c"`},
		{"[B", "0104010203", `{"@bytes":"AQID"}`},
		{"[I", "01030204", "[1,2]"},
		{"[J", "01040201d804", "[1,-1,300]"},
		{"[Ljava/lang/String;", "0103018261018262", `["a","b"]`},
		{"[[I", "0104 010202 00 01030406", "[[1],null,[2,3]]"},
		{"[Ljava/lang/Integer;", "0104010200 01d804", "[1,null,300]"},
		{"Ljava/util/UUID;", "0100000000000000010000000000000002", `{"@class":"java.util.UUID","value":"00000000-0000-0001-0000-000000000002"}`},
		{"Ljava/time/LocalDate;", "01e40f0102", `{"@date":"2020-01-02"}`},
		{"Ljava/util/Optional;", "01 03018261", `{"@class":"java.util.Optional","value":"a"}`},
		{"Ljava/lang/String;", "00", "null"},
		{"Ljava/util/List;", "01010103018261", ""},
		{"Ljava/util/ArrayList;", "01010103018261", ""},
		{"Ljava/util/Date;", "0101", ""},
		{"[Ljava/lang/Object;", "0102 018261", ""},
		{"LGen$User;", "010e01626fe2", ""},
		{"", "0161e2", ""},
	} {
		checkValue(t, &Format, c.typ, c.hex, c.want)
	}
}

// What Dubbo 2.7.8 writes: the attachments have no class id either.
const attachments = "01 01 0301 706174e8 0301 642e48e9" // {path=d.Hi}

func TestRequest(t *testing.T) {
	body := formattest.Hex("322e302eb2 642e48e9 302e302eb0 68e9 4c6a6176612f6c616e672f537472696e673bc9", "01626fe2 010a", attachments)
	m := formattest.Request(Format, body, decode.Malformed)
	require.Nil(t, m.Err)
	assert.Equal(t, []string{"2.0.2", "d.Hi", "0.0.0", "hi", "Ljava/lang/String;I"}, m.Texts)
	assert.Equal(t, `["bob",5]`, m.Value("args"))
	assert.Equal(t, `{"path":"d.Hi"}`, m.Value("attachments"))
	formattest.Balance(t, &m.Tree, len(body))
}

func TestFindAttachments(t *testing.T) {
	user := "010e01626fe2"
	for _, c := range []struct {
		name, body string
		found      bool
	}{
		{"behind an object", attachments, true},
		{"more than 127 entries announced", "01 8101 0301 706174e8 0301 642e48e9", false},
		{"a count of two bytes", "01 8100 0301 706174e8 0301 642e48e9", true},
		{"a count of five bytes", "01 8180808000 0301 706174e8 0301 642e48e9", true},
		{"a count of six bytes", "01 818080808000 0301 706174e8 0301 642e48e9", false},
		{"empty map", "0100", false},
		{"a map ends the attachments", "01 02 0301 706174e8 03018261 0301826d 2301 01 0301826b 03018276", true},
	} {
		body := formattest.Hex(user, c.body)
		r := Format.New()
		r.Reset(body, decode.Malformed, nil)
		r.Value(decode.ByIndex, "", 0, "LGen$User;")
		require.Equal(t, decode.Unsupported, r.Err().Cause)
		at, ok := r.(decode.AttachmentFinder).FindAttachments(r.Offset())
		require.Equal(t, c.found, ok, c.name)
		if ok {
			assert.Equal(t, len(formattest.Hex(user)), at, c.name)
			r.Attachments()
			require.Nil(t, r.Err(), c.name)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(formattest.Hex("322e302eb2 642e48e9 302e302eb0 68e9 4c6a6176612f6c616e672f537472696e673bc9", "01626fe2 010a", attachments))
	f.Add(formattest.Hex("04 0168e9", attachments))
	f.Fuzz(func(t *testing.T, body []byte) { formattest.Check(t, Format, body) })
}

func BenchmarkReader(b *testing.B) {
	formattest.Bench(b, Format, formattest.Hex("322e302eb2 642e48e9 302e302eb0 68e9 4c6a6176612f6c616e672f537472696e673bc9", "01626fe2 010a", attachments))
}

// checkValue reads a value of a declared type, which takes the whole body. Without want its class is not known.
func checkValue(t *testing.T, f *decode.Format, typ, hex, want string) {
	t.Helper()
	body := formattest.Hex(hex)
	tree := decode.Tree{WithValues: true}
	r := f.New()
	r.Reset(body, decode.Malformed, &tree)
	r.Value(decode.ByField, "result", 0, typ)
	formattest.Balance(t, &tree, r.Offset())
	if want == "" {
		require.NotNil(t, r.Err(), "%s %s", typ, hex)
		assert.Equal(t, decode.Unsupported, r.Err().Cause, "%s %s", typ, hex)
		return
	}
	require.Nil(t, r.Err(), "%s %s", typ, hex)
	assert.Equal(t, want, string(tree.AppendJSON(nil, 0)), "%s %s", typ, hex)
	assert.Equal(t, len(body), r.Offset(), "%s %s", typ, hex)
}
