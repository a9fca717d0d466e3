package hessian_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/content/hessian"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/hessian2"
)

// messageRows are messages that Dubbo 2.7.23 and a client of caucho's sent in the captures hessian-http.
const messageRows = "testdata/messages.tsv"

// read reads a message into a tree of at most so many nodes, 0 for the usual limit, and checks that each byte that was taken has an owner.
func read(tb testing.TB, v hessian.Values, b []byte, short decode.Cause, nodes int) (*decode.Tree, *decode.Error) {
	tb.Helper()
	tree := &decode.Tree{WithValues: true, MaxNodes: nodes}
	at := hessian.Read(v, b, short, tree)
	if tree.Depth() > 0 || at > len(b) {
		tb.Fatalf("%d containers are open, %d of %d bytes were taken", tree.Depth(), at, len(b))
	}
	formattest.Balance(tb, tree, at)
	if err := v.Err(); err != nil && err.At != at {
		tb.Fatalf("error %v at offset %d", err, at)
	}
	return tree, v.Err()
}

// printed returns the top-level fields of a tree as JSON.
func printed(t *decode.Tree) string {
	var b []byte
	for i := 0; i < len(t.Nodes); i = int(t.Nodes[i].End) {
		if n := &t.Nodes[i]; n.Kind != decode.Overhead {
			b = append(t.AppendJSON(append(append(b, n.Name...), '='), i), ' ')
		}
	}
	return strings.TrimSpace(string(b))
}

func h1(method string, values ...string) []byte {
	return formattest.Hex("63 0200 6d", length(method), text(method), strings.Join(values, ""), "7a")
}

func length(s string) string { return text(string([]byte{byte(len(s) >> 8), byte(len(s))})) }

func text(s string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(digits[s[i]>>4])
		b.WriteByte(digits[s[i]&15])
	}
	return b.String()
}

// str is a string of version 1.
func str(s string) string { return "53" + length(s) + text(s) }

// typed is a type of version 1.
func typed(s string) string { return "74" + length(s) + text(s) }

// TestCaptured reads the messages of the captures to their ends, with the same bytes by class with and without a tree.
func TestCaptured(t *testing.T) {
	v, kinds := hessian2.NewOriginal(), map[[2]int]int{}
	for _, row := range formattest.Values(t, messageRows) {
		m, ok := hessian.Start(row.Body, v)
		require.True(t, ok && !m.Cut, row.Name)
		if m.Kind == hessian.Call {
			method := string(m.Method)
			assert.True(t, strings.HasPrefix(method, row.Name) || strings.HasPrefix(method, "$invoke"), "%s is not %s", method, row.Name)
		} else {
			assert.Equal(t, map[hessian.Kind]string{hessian.Reply: "reply", hessian.Fault: "fault"}[m.Kind], row.Name)
		}
		assert.True(t, hessian.Recognize(row.Body, m.Kind == hessian.Call), row.Name)
		assert.False(t, hessian.Recognize(row.Body, m.Kind != hessian.Call), row.Name)
		kinds[[2]int{m.Version, int(m.Kind)}]++
		tree, err := read(t, v, row.Body, decode.Malformed, 0)
		require.Nil(t, err, row.Name)
		require.Equal(t, len(row.Body), v.Offset(), row.Name)
		require.Equal(t, len(row.Body), hessian.Read(v, row.Body, decode.Malformed, nil))
		sum, ok := v.Sum()
		require.True(t, ok, row.Name)
		assert.Equal(t, tree.Bytes(), sum, row.Name)
	}
	assert.Len(t, kinds, 5, "calls and replies of both versions, and faults of the second")
}

// TestMessages has what the captures lack.
func TestMessages(t *testing.T) {
	h := formattest.Hex
	for _, row := range []struct {
		name string
		body []byte
		want string
	}{
		{"all scalars", h1("a", "4e 54 46 49fffffffe 4c0000000100000000 44 3ff8000000000000 64 00000000000003e8"), `method="a" args=[null,true,false,-2,4294967296,1.5,{"@date":"1970-01-01T00:00:01Z"}]`},
		{"chunks", h1("a", "73 0001 61 73 0000", str("b"), "62 0001 01 42 0002 0203"), `method="a" args=["ab",{"@bytes":"AQID"}]`},
		{"XML", h1("a", "78 0001 3c 58 0003 612f3e"), `method="a" args=["<a/>"]`},
		{"surrogates", h1("a", "53 0002 eda0bdedb880 53 0001 eda0bd"), `method="a" args=["😀","�"]`},
		{"lists", h1("a", "56 7a 56", typed("[int"), "6c 00000002 49 00000001 49 00000002 7a 56 6c 00000000 7a 56", typed("[float"), "44 3fb99999a0000000 7a"), `method="a" args=[[],[1,2],[],[0.1]]`},
		{"maps", h1("a", "4d 7a 4d 74 0000", str("k"), "54 7a 4d", typed("java.util.TreeMap"), "49 00000001", str("v"), "7a 4d", typed("org.acme.Names$NameMap"), str("k"), "4e 7a"), `method="a" args=[{},{"k":true},{"@map":[[1,"v"]]},{"k":null}]`},
		{"objects", h1("a", "4d", typed("org.acme.User"), str("id"), "49 00000007", str("name"), str("bob"), "7a 4d", typed("org.acme.None"), "7a"), `method="a" args=[{"@class":"org.acme.User","id":7,"name":"bob"},{"@class":"org.acme.None"}]`},
		{"a map of a class that is not called so", h1("a", "4d", typed("org.acme.Registry"), str("id"), "49 00000007", str("no name"), str("x"), "7a"), `method="a" args=[{"id":7,"no name":"x"}]`},
		{"a map of a class, with a key that is a number", h1("a", "4d", typed("org.acme.Registry"), str("id"), "54 49 00000001 46 7a"), `method="a" args=[{"@map":[["id",true],[1,false]]}]`},
		{"an enum", h1("a", "4d", typed("org.acme.Color"), str("name"), str("RED"), "7a 52 00000000"), `method="a" args=[{"@enum":"org.acme.Color","name":"RED"},{"@enum":"org.acme.Color","name":"RED"}]`},
		{"a decimal", h1("a", "4d", typed("java.math.BigDecimal"), str("value"), str("1.50"), "7a"), `method="a" args=[{"@decimal":"1.50"}]`},
		{"references", h1("a", "4d", typed("N"), str("self"), "52 00000000 7a 56 52 00000000 52 00000001 7a"), `method="a" args=[{"@class":"N","self":{"@ref":"args[0]"}},[{"@ref":"args[0]"},{"@ref":"args[1]"}]]`},
		{"a remote object", h1("a", "72", typed("org.acme.Users"), str("http://x/")), `method="a" args=[{"@class":"org.acme.Users","url":"http://x/"}]`},
		{"headers", h("63 0100 48 0002 6964 49 00000005 48 0001 61 4d 7a 6d 0001 61 7a"), `attachments={"id":5,"a":{}} method="a" args=[]`},
		{"a reply with a header", h("72 0100 48 0002 6964 4e 54 7a"), `attachments={"id":null} result=true`},
		{"a fault", h("72 0100 66", str("code"), str("ServiceException"), str("message"), str("m"), "7a 7a"), `exception={"code":"ServiceException","message":"m"}`},
		{"a fault of version 2", h("48 0200 46 48 04 636f6465 01 61 5a"), `exception={"code":"a"}`},
		{"no arguments", h("48 0200 43 01 61 90"), `method="a" argumentCount=0 args=[]`},
		{"a long name", h("48 0200 43 30 40", strings.Repeat("61", 64), "91 54"), `method="` + strings.Repeat("a", 64) + `" argumentCount=1 args=[true]`},
		{"a long name in three bytes", h("48 0200 43 53 0001 61 90"), `method="a" argumentCount=0 args=[]`},
	} {
		v := hessian2.NewOriginal()
		tree, err := read(t, v, row.body, decode.Malformed, 0)
		require.Nil(t, err, row.name)
		assert.Equal(t, len(row.body), v.Offset(), row.name)
		assert.Equal(t, row.want, printed(tree), row.name)
		m, ok := hessian.Start(row.body, v)
		assert.True(t, ok && !m.Cut, row.name)
		if m.Kind == hessian.Call {
			assert.Contains(t, row.want, `method="`+string(m.Method)+`"`, row.name)
		}
		for n := range row.body { // of the start of a message it is never said that it is none
			part, ok := hessian.Start(row.body[:n], v)
			assert.True(t, ok, "%s, %d bytes", row.name, n)
			if !part.Cut {
				assert.Equal(t, m, part, "%s, %d bytes", row.name, n)
			}
		}
		counted(t, v, row.body)
	}
}

// counted checks that bytes are counted without a tree as they are with one, where they are counted.
func counted(tb testing.TB, v hessian.Values, b []byte) {
	tree, err := read(tb, v, b, decode.Malformed, 0)
	at := hessian.Read(v, b, decode.Malformed, nil)
	if (err == nil) != (v.Err() == nil) {
		tb.Fatalf("%v with a tree, %v without", err, v.Err())
	}
	want := tree.Bytes()
	total := 0
	for _, n := range want {
		total += int(n)
	}
	if sum, ok := v.Sum(); ok && (at != total || sum != want) {
		tb.Fatalf("counted %v, in a tree %v", sum, want)
	}
}

// hostile are messages that stop with a cause.
func hostile() []formattest.Hostile {
	const bad = decode.Malformed
	h := formattest.Hex
	return []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: bad},
		{Name: "text", Body: []byte("<html>"), Cause: bad},
		{Name: "another version", Body: h("63 0300 6d 0001 61 7a"), Cause: bad},
		{Name: "a call without method", Body: h("63 0200 7a"), Cause: bad},
		{Name: "a method of 65535", Body: h("63 0200 6d ffff 61"), Cause: bad},
		{Name: "a method that is not a text", Body: h("63 0200 6d 0001 ff 7a"), Cause: bad},
		{Name: "no end", Body: h("63 0200 6d 0001 61 54"), Cause: bad},
		{Name: "a reply of two values", Body: h("72 0100 54 54 7a"), Cause: bad},
		{Name: "an unused opcode", Body: h1("a", "00"), Cause: bad},
		{Name: "half a long", Body: h("63 0200 6d 0001 61 4c 0000"), Cause: bad},
		{Name: "a string of 65535", Body: h1("a", "53 ffff 61"), Cause: bad},
		{Name: "a chunk and nothing", Body: h("63 0200 6d 0001 61 73 0001 61"), Cause: bad},
		{Name: "a chunk and bytes", Body: h1("a", "73 0001 61 42 0000"), Cause: bad},
		{Name: "a character of four bytes", Body: h1("a", "53 0001 f09f9880"), Cause: bad},
		{Name: "bytes of 65535", Body: h1("a", "42 ffff 61"), Cause: bad},
		{Name: "a type of 65535", Body: h1("a", "56 74 ffff 61"), Cause: bad},
		{Name: "a list of 2^31-1", Body: h("63 0200 6d 0001 61 56 6c 7fffffff 54 7a"), Cause: bad},
		{Name: "a list without end", Body: h("63 0200 6d 0001 61 56 54 54"), Cause: bad},
		{Name: "a map without value", Body: h1("a", "4d 54"), Cause: bad},
		{Name: "a reference to nothing", Body: h1("a", "52 00000000"), Cause: bad},
		{Name: "a reference to -1", Body: h1("a", "56 52 ffffffff 7a"), Cause: bad},
		{Name: "a reference to the next object", Body: h1("a", "56 52 00000001 7a 56 7a"), Cause: bad},
		{Name: "a fault of numbers", Body: h("72 0100 66 49 00000001 54 7a 7a"), Cause: bad},
		{Name: "an unknown message", Body: h("48 0200 50"), Cause: bad},
		{Name: "2^31-1 arguments", Body: h("48 0200 43 01 61 49 7fffffff 54"), Cause: bad},
		{Name: "-1 arguments", Body: h("48 0200 43 01 61 8f"), Cause: bad},
		{Name: "too few arguments", Body: h("48 0200 43 01 61 92 54"), Cause: bad},
		{Name: "nested lists", Body: append(h("63 0200 6d 0001 61"), bytes.Repeat(h("56"), 100_000)...), Cause: decode.Limit},
		{Name: "nested maps as keys", Body: append(h("63 0200 6d 0001 61"), bytes.Repeat(h("4d"), 100_000)...), Cause: decode.Limit},
		{Name: "nested objects", Body: append(h("63 0200 6d 0001 61"), bytes.Repeat(h("4d", typed("A"), str("a")), 100_000)...), Cause: decode.Limit},
		{Name: "nested remote objects", Body: append(h("63 0200 6d 0001 61"), bytes.Repeat(h("72 74 0000"), 100_000)...), Cause: decode.Limit},
		{Name: "headers", Body: append(h("63 0200"), bytes.Repeat(h("48 0001 61 4e"), 100_000)...), Cause: bad},
		{Name: "empty chunks", Body: append(h("63 0200 6d 0001 61"), bytes.Repeat(h("73 0000"), 100_000)...), Cause: bad},
	}
}

func TestHostile(t *testing.T) {
	for _, row := range hostile() {
		v := hessian2.NewOriginal()
		_, err := read(t, v, row.Body, decode.Malformed, 0)
		require.NotNil(t, err, row.Name)
		assert.Equal(t, row.Cause.String(), err.Cause.String(), "%s: %v", row.Name, err)
		assert.NotEmpty(t, err.Expected, row.Name)
		hessian.Read(v, row.Body, decode.Malformed, nil)
		assert.NotNil(t, v.Err(), row.Name)
		hessian.Start(row.Body, v)
	}
	// A map whose keys turn out not to be names, in many others of that kind: each is looked at once more, not all again.
	deep := strings.Repeat("4d"+typed("A")+str("a"), 500) + "54" + strings.Repeat("54 54 7a", 500)
	tree, err := read(t, hessian2.NewOriginal(), h1("a", deep), decode.Malformed, 0)
	require.Nil(t, err)
	assert.NotEmpty(t, tree.Nodes)
}

// TestOverload: types in the name of a method are taken from it only if the arguments are of such types.
func TestOverload(t *testing.T) {
	user := "4d" + typed("org.acme.User") + "7a"
	for _, row := range []struct {
		body  []byte
		want  string
		types string
	}{
		{h1("find"), "", ""},
		{h1("find_string", str("x")), "find", "string"},
		{h1("find_string_int", str("x"), "49 00000001"), "find", "string int"},
		{h1("find_boolean_long_double_date_binary_[int", "54 4c 0000000000000001 44 0000000000000000 64 0000000000000000 42 0000 56 7a"), "find", "boolean long double date binary [int"},
		{h1("find_int", "4e"), "find", "int"}, // a box
		{h1("find_User", user), "find", "User"},
		{h1("find_My_User", "4d", typed("org.acme.My_User"), "7a"), "find", "My_User"},
		{h1("find_Object", str("x")), "find", "Object"},
		{h1("find_List", "56 7a"), "find", "List"},
		{h1("find_Map", "4d 7a"), "find", "Map"},
		{h1("find__2", "54 54"), "find", ""},
		{h1("find__2", "54"), "", ""},
		{h1("find_string", "49 00000001"), "", ""},          // another type
		{h1("find_string_int", str("x")), "", ""},           // another number
		{h1("find_int", "49 00000001 49 00000001"), "", ""}, //
		{h1("find_by_name", str("x"), str("y")), "", ""},    // words are not classes
		{h1("find_By_Name", str("x")), "", ""},              // a string is no Name
		{h1("find_My_User", user), "", ""},                  // of My_User, or of find_My
		{h1("_string", str("x")), "", ""},                   // no name is left
		{h1("find_", str("x")), "", ""},                     //
		{h1("find__string", str("x")), "", ""},              //
		{formattest.Hex("48 0200 43 0f", text("find_string_int"), "92 01 78 91"), "find", "string int"},
		{formattest.Hex("48 0200 43 0f", text("find_string_int"), "91 01 78"), "", ""},
		{formattest.Hex("48 0200 43 09", text("find_User"), "91 43 0d", text("org.acme.User"), "90 60"), "find", "User"},
		{formattest.Hex("48 0200 43 07", text("find__2"), "92 54 54"), "find", ""},
		{formattest.Hex("48 0200 43 07", text("find_aa"), "49 7fffffff 54"), "", ""},
	} {
		v := hessian2.NewOriginal()
		m, ok := hessian.Start(row.body, v)
		require.True(t, ok)
		name, types, ok := hessian.Overload(&m, row.body, v, nil)
		assert.Equal(t, row.want, string(name), "%s", m.Method)
		assert.Equal(t, row.want != "", ok, "%s", m.Method)
		assert.Equal(t, row.types, string(bytes.Join(types, []byte(" "))), "%s", m.Method)
	}
}

// TestRecognize: what begins like a message is none if it may be something else.
func TestRecognize(t *testing.T) {
	h := formattest.Hex
	for _, row := range []struct {
		body             []byte
		isCall, isAnswer bool
	}{
		{h1("find"), true, false},
		{h1("find it"), false, false},
		{h1("find_[int"), true, false},
		{h("48 0200 43 01 61 90"), true, false},
		{h("48 0200 43"), false, false},
		{h("48 0200 52 54"), false, true},
		{h("48 0200 52"), false, false},
		{h("48 0200 46 48"), false, true},
		{h("72 0100 54 7a"), false, true},
		{h("72 0100 00"), false, false},
		{h("72 0100 66", str("code"), str("x")), false, true},
		{h("72 0100 66", str("xode"), str("x")), false, false},
		{[]byte("Hello"), false, false},
		{[]byte("create"), false, false},
		{nil, false, false},
	} {
		assert.Equal(t, row.isCall, hessian.Recognize(row.body, true), "%x", row.body)
		assert.Equal(t, row.isAnswer, hessian.Recognize(row.body, false), "%x", row.body)
	}
}

// FuzzRead: whatever the bytes are, each that was taken has an owner, also of a message that is cut or in a small tree, and they are counted
// without a tree as with one.
func FuzzRead(f *testing.F) {
	for _, row := range formattest.Values(f, messageRows) {
		f.Add(row.Body)
	}
	for _, row := range hostile() {
		if len(row.Body) < 4096 {
			f.Add(row.Body)
		}
	}
	f.Add(h1("find_My_User__2", "4d", typed("org.acme.My_User"), str("a"), "54 49 00000001 46 7a"))
	v := hessian2.NewOriginal()
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, short := range []decode.Cause{decode.Malformed, decode.Cut} {
			tree, err := read(t, v, body, short, 0)
			if len(tree.Nodes) > 0 && len(tree.Nodes) < 1<<12 {
				tree.AppendJSON(nil, 0)
				tree.Parts(nil, 0)
			}
			if err == nil && v.Offset() < len(body) && body[0] != 'H' && body[v.Offset()-1] != 'z' {
				t.Fatalf("no end at offset %d", v.Offset())
			}
		}
		read(t, v, body, decode.Malformed, 4)
		if len(body) < 1<<16 {
			counted(t, v, body)
		}
		m, ok := hessian.Start(body, v)
		if _, err := read(t, v, body, decode.Malformed, 0); err == nil && !ok {
			t.Fatal("a whole message does not start as one")
		}
		if ok && m.Kind == hessian.Call && m.Method != nil {
			hessian.Overload(&m, body, v, nil)
		}
		if (hessian.Recognize(body, true) || hessian.Recognize(body, false)) && !ok {
			t.Fatal("a message is recognized that does not start as one")
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for _, row := range formattest.Values(b, messageRows) {
		if row.Name != "bid" {
			continue
		}
		for name, t := range map[string]*decode.Tree{"walk": nil, "values": {WithValues: true}} {
			b.Run(row.Source+" "+name, func(b *testing.B) {
				v := hessian2.NewOriginal()
				b.SetBytes(int64(len(row.Body)))
				b.ReportAllocs()
				for b.Loop() {
					t.Reset()
					if hessian.Read(v, row.Body, decode.Malformed, t) != len(row.Body) {
						b.Fatal(v.Err())
					}
				}
			})
		}
	}
}
