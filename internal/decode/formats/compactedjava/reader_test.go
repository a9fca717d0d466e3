package compactedjava_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/compactedjava"
	"dubbo-wire/internal/decode/formats/formattest"
)

// Rows were measured with Dubbo 2.5.3, 2.6.12 and 2.7.8, whose bytes are the same.

func TestValues(t *testing.T) { formattest.Wants(t, compactedjava.Format, "testdata/values.tsv") }

func TestFrames(t *testing.T) { formattest.WantsFrames(t, compactedjava.Format, "testdata/frames.tsv") }

func TestSkipTextAllocatesNothing(t *testing.T) {
	formattest.NoAllocs(t, compactedjava.Format, request(t))
}

const (
	mine    = "7372 01 0001 41 7870" // an object of a class A that nobody knows
	full    = "770101 73" + hashMap
	hashMap = "72 01 0011 6a6176612e7574696c2e486173684d6170 7870"
	ref     = "770101 7371 007e0011"
	body    = "3f400000 0000000c 7708 00000010"
)

func TestFindAttachments(t *testing.T) {
	for _, c := range []struct{ name, behind, want string }{
		{"with the class", full + body + "00000001 740001 6b 740001 76 78", `{"k":"v"}`},
		{"with a reference to the class", ref + body + "00000001 740001 6b 740001 76 78", `{"k":"v"}`},
		{"empty", full + body + "00000000 78", `{}`},
		{"a null value", full + body + "00000001 740001 6b 70 78", `{"k":null}`},
		{"a key that refers to an argument", full + body + "00000001 71 007e0003 740001 76 78", `{"@map":[[{"@opaque":5},"v"]]}`},
		{"a value that refers to an argument", full + body + "00000001 740001 6b 71 007e0003 78", `{"k":{"@opaque":5}}`},
		{"behind an argument that is such a map", full + body + "00000000 78" + full + body + "00000001 740001 6b 740001 76 78", `{"k":"v"}`},
		{"behind bytes that look like it", "770101 73 770101 7371 007e 77" + full + body + "00000000 78", `{}`},
		{"behind an argument that is null", "77 02 00 01 73" + hashMap + body + "00000001 740001 6b 740001 76 78", `{"k":"v"}`},
		{"behind two that are null", "77 03 00 00 01 73 71 007e0003" + body + "00000001 740001 6b 740001 76 78", `{"k":"v"}`},
		{"behind nulls that are too few for the block", "77 03 00 01 73" + hashMap + body + "00000000 78", ""},
		{"an Integer", full + body + "00000001 740001 6b 7372 01 0011 6a6176612e6c616e672e496e7465676572 78 72 01 0010 6a6176612e6c616e672e4e756d626572 7870 00000005 78", `{"k":5}`},
		{"nothing", "00", ""},
		{"fewer entries than it says", full + body + "00000002 740001 6b 740001 76 78", ""},
		{"more behind it", full + body + "00000000 78 00", ""},
		{"not to its end", full + body + "00000001 740001 6b 78", ""},
		{"two places", full + body + "00000001 7c 0000000000000031" + full + body + "00000001 740001 6b" + "740001 76 78", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := formattest.Hex("aced0005 770101", mine, "0000002a", c.behind)
			tree := decode.Tree{WithValues: true}
			r := compactedjava.Format.New()
			r.Reset(b, decode.Malformed, &tree)
			r.Value(decode.ByField, "result", 0, "")
			require.Equal(t, decode.Unsupported, r.Err().Cause)
			at, ok := r.(decode.AttachmentFinder).FindAttachments(r.Err().At)
			require.Equal(t, c.want != "", ok)
			if !ok {
				require.NotNil(t, r.Err(), "the error stays")
				return
			}
			require.Nil(t, r.Err())
			require.Equal(t, at, r.Offset())
			tree.Leaf(decode.Opaque, decode.Whole, "opaque", 0, len(formattest.Hex("aced0005 770101", mine)), at)
			r.Attachments()
			require.Nil(t, r.Err())
			require.Equal(t, len(b), r.Offset())
			formattest.Balance(t, &tree, len(b))
			m := formattest.Message{Tree: tree}
			require.Equal(t, c.want, m.Value("attachments"))
		})
	}
}

// Dubbo's exceptions of the old package extend those of the new one, where these exist: fields stand once.
func TestRenamedExceptions(t *testing.T) {
	class := func(name string) string { return fmt.Sprintf("72 01 %04x %x 78", len(name), name) }
	const (
		throwable = "70 740001 6d 70 70 78" // no cause, the message, no stack trace, nothing suppressed
		code      = "00000005"
	)
	for _, c := range []struct{ name, classes, fields string }{
		{"the old one", class("com.alibaba.dubbo.rpc.RpcException"), code},
		{"the new one", class("org.apache.dubbo.rpc.RpcException"), code},
		{"the old one extends the new one", class("com.alibaba.dubbo.rpc.RpcException") + class("org.apache.dubbo.rpc.RpcException"), code},
		{"two texts", class("com.alibaba.dubbo.rpc.service.GenericException") + class("org.apache.dubbo.rpc.service.GenericException"), "740001 63 740001 6d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := formattest.Hex("aced0005 770101 73", c.classes, class("java.lang.RuntimeException"), class("java.lang.Exception"), class("java.lang.Throwable"), "70",
				throwable, c.fields, full, body, "00000001 740001 6b 740001 76 78")
			tree := decode.Tree{WithValues: true}
			r := compactedjava.Format.New()
			r.Reset(b, decode.Malformed, &tree)
			r.Throwable()
			r.Attachments()
			require.Nil(t, r.Err())
			require.Equal(t, len(b), r.Offset())
			formattest.Balance(t, &tree, len(b))
			m := formattest.Message{Tree: tree}
			require.Equal(t, `{"k":"v"}`, m.Value("attachments"))
		})
	}
}

// A class that nobody knows has no fields where that leads to the end of the body, past the attachments; where collections
// would have more elements than they say it has.
func TestClassesWithoutFields(t *testing.T) {
	const (
		list   = "72 01 0013 6a6176612e7574696c2e41727261794c697374 7870"
		sub    = "72 01 0001 4c 78" + list // extends ArrayList
		empty  = "72 01 0001 41 7870"
		behind = full + body + "00000001 740001 6b 740001 76 78"
	)
	for _, c := range []struct{ name, value, want string }{
		{"an object", "73" + empty, `{"@class":"A"}`},
		{"a list of the application", "73" + sub + "00000001 7704 00000001 740001 61 78", `["a"]`},
		{"objects in a list", "73" + list + "00000002 7704 00000002 73" + empty + "73" + "71 007e0002 78", `[{"@class":"A"},{"@class":"A"}]`},
		{"an object with a text in a list", "73" + list + "00000001 7704 00000001 73" + empty + "740001 61 78", ""},
		{"objects with a text, as values in a map", "73" + hashMap + body + "00000002 740001 6b 73" + empty + "740001 61 740001 6c 73 71 007e0003 740001 62 78", ""},
		{"an object with fields in a Vector, whose array has nulls at the end", "73 72 01 0010 6a6176612e7574696c2e566563746f72 7870 00000000 00000001 75 72 00 0002 5b4c 0000000000000000 02 0000 7870 00000003 73" + empty + "740001 61 70 70 78", ""},
		{"a box that extends a class that nobody knows, again", "73" + list + "00000003 7704 00000002 73 72 01 0011 6a6176612e6c616e672e496e7465676572 78" + empty + "00000001 73 71 007e0002 00000002 73 71 007e0002 00000003 78", ""},
		{"an object with a number", "73" + empty + "00000007", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := formattest.Hex("aced0005 770101", c.value, behind)
			formattest.Check(t, compactedjava.Format, b)
			tree := decode.Tree{WithValues: true}
			r := compactedjava.Format.New()
			r.Reset(b, decode.Malformed, &tree)
			r.Value(decode.ByField, "result", 0, "")
			if c.want == "" {
				require.NotNil(t, r.Err())
				require.Equal(t, decode.Unsupported, r.Err().Cause)
				return
			}
			r.Attachments()
			require.Nil(t, r.Err())
			require.Equal(t, len(b), r.Offset())
			formattest.Balance(t, &tree, len(b))
			m := formattest.Message{Tree: tree}
			require.Equal(t, c.want, m.Value("result"))
			require.Equal(t, `{"k":"v"}`, m.Value("attachments"))
		})
	}
}

// Stack traces of JDK 8 have fewer fields; by its source, there was no such JDK to measure.
func TestStackTraceOfJDK8(t *testing.T) {
	const element = "73 72 01 001b 6a6176612e6c616e672e537461636b5472616365456c656d656e74 7870"
	for _, c := range []struct{ name, fields, want string }{
		{"JDK 8", "00000074 740001 41 740006 412e6a617661 740001 6d", `{"@class":"java.lang.StackTraceElement","lineNumber":116,"declaringClass":"A","fileName":"A.java","methodName":"m"}`},
		{"JDK 8, a class named before", "00000010 71 007e0000 70 740001 6d", `{"@class":"java.lang.StackTraceElement","lineNumber":16,"declaringClass":"java.lang.StackTraceElement","fileName":null,"methodName":"m"}`},
		{"JDK 9", "01 00000074 70 740001 41 740006 412e6a617661 740001 6d 70 70", `{"@class":"java.lang.StackTraceElement","format":1,"lineNumber":116,"classLoaderName":null,"declaringClass":"A","fileName":"A.java","methodName":"m","moduleName":null,"moduleVersion":null}`},
	} {
		require.Equal(t, c.want, formattest.Value(t, compactedjava.Format, formattest.Hex("aced0005 770101", element, c.fields)), c.name)
		if strings.Contains(c.fields, "007e0000") {
			continue
		}
		const list = "73 72 01 0013 6a6176612e7574696c2e41727261794c697374 7870 00000003 77 04 00000003"
		const again = "73 71 007e0002"
		body := formattest.Hex("aced0005 770101", list, element, c.fields, again, c.fields, again, c.fields, "78")
		require.Equal(t, "["+strings.Join([]string{c.want, c.want, c.want}, ",")+"]", formattest.Value(t, compactedjava.Format, body), c.name)
		r := compactedjava.Format.New()
		r.Reset(body, decode.Malformed, nil)
		r.Value(decode.ByField, "result", 0, "")
		require.Nil(t, r.Err(), "%s, counted", c.name)
		require.Equal(t, len(body), r.Offset(), "%s, counted", c.name)
	}
}

// A body that is not whole has no end to search from.
func TestFindAttachmentsOfACutBody(t *testing.T) {
	r := compactedjava.Format.New()
	r.Reset(formattest.Hex("aced0005 770101", mine, full, body, "00000000 78"), decode.Cut, nil)
	_, ok := r.(decode.AttachmentFinder).FindAttachments(0)
	require.False(t, ok)
}

// Places inside the strings of others could make the search quadratic: it stops.
func TestFindAttachmentsIsBounded(t *testing.T) {
	one := ref + body + "7fffffff"
	b := formattest.Hex("aced0005", strings.Repeat(one+"74 0019", 1<<15))
	r := compactedjava.Format.New()
	r.Reset(b, decode.Malformed, nil)
	_, ok := r.(decode.AttachmentFinder).FindAttachments(4)
	require.False(t, ok)
}

func TestHostile(t *testing.T) {
	formattest.Stops(t, compactedjava.Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "a class of the application with a field", Body: formattest.Hex("aced0005 770101", mine, "00"), Cause: decode.Unsupported},
		{Name: "a class derived from it with a field", Body: formattest.Hex("aced0005 770101 7372 01 0001 42 78 72 01 0001 41 7870 740000"), Cause: decode.Unsupported},
		{Name: "neither whole nor cut down", Body: formattest.Hex("aced0005 770101 7372 02 0001 41 7870"), Cause: decode.Malformed},
		{Name: "a class without a name", Body: formattest.Hex("aced0005 770101 7372 01 ffff 41"), Cause: decode.Malformed},
		{Name: "classes without end", Body: formattest.Hex("aced0005 770101 73", strings.Repeat("72 01 0001 41 78", 5000)), Cause: decode.Limit},
	})
}

func FuzzReader(f *testing.F) {
	f.Add(formattest.Hex("aced0005 770101", mine, "0000002a", full, body, "00000001 740001 6b 740001 76 78"))
	formattest.Fuzz(f, compactedjava.Format, "testdata/values.tsv", "testdata/frames.tsv")
}

func BenchmarkReader(b *testing.B) { formattest.Bench(b, compactedjava.Format, request(b)) }

func request(tb testing.TB) []byte { return formattest.Named(tb, "testdata/frames.tsv", "generic C2S") }
