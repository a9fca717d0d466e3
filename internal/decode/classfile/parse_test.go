package classfile

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// made is a class file that a test makes.
type made struct {
	pool  [][]byte
	after []byte // what follows the constant pool
}

func u2(n int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(n)) }
func u4(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

func (m *made) add(tag byte, parts ...[]byte) int {
	m.pool = append(m.pool, append([]byte{tag}, bytes.Join(parts, nil)...))
	return len(m.pool)
}

func (m *made) text(s string) int  { return m.add(tagUtf8, u2(len(s)), []byte(s)) }
func (m *made) class(s string) int { return m.add(tagClass, u2(m.text(s))) }

func (m *made) then(parts ...[]byte) { m.after = append(m.after, bytes.Join(parts, nil)...) }

func (m *made) bytes() []byte {
	b := append([]byte{0xca, 0xfe, 0xba, 0xbe, 0, 0}, u2(52)...)
	b = append(b, u2(len(m.pool)+1)...)
	return append(append(b, bytes.Join(m.pool, nil)...), m.after...)
}

// attribute is a whole attribute.
func (m *made) attribute(name string, data ...[]byte) []byte {
	d := bytes.Join(data, nil)
	return bytes.Join([][]byte{u2(m.text(name)), u4(len(d)), d}, nil)
}

// small is a class without members, whose attributes follow.
func small(attributes func(m *made) [][]byte) []byte {
	m := &made{}
	m.then(u2(1), u2(m.class("p/A")), u2(m.class("java/lang/Object")), u2(0), u2(0), u2(0))
	all := attributes(m)
	m.then(u2(len(all)))
	m.then(all...)
	return m.bytes()
}

func TestParse(t *testing.T) {
	c, err := Parse(small(func(m *made) [][]byte {
		return [][]byte{m.attribute("Unknown", []byte("anything")), m.attribute("Signature", u2(m.text("Lp/B<Lp/A;>;")))}
	}))
	require.NoError(t, err)
	assert.Equal(t, "p.A", c.Name)
	assert.Equal(t, 8, c.Release)
	assert.Equal(t, "p.B<p.A>", c.Generic.Super.String())

	c, err = Parse(small(func(m *made) [][]byte { return [][]byte{m.attribute("Signature", u2(m.text("Lp/B<")))} }))
	require.NoError(t, err)
	assert.Nil(t, c.Generic)
	assert.EqualError(t, c.SignatureErr, `class: character 5 of the type "Lp/B<": expected a type; the file is damaged: copy or build it again`)
}

// TestParseHostile: class files that are wrong, and one line that says how.
func TestParseHostile(t *testing.T) {
	nested := func(m *made) []byte { // annotations in annotations in a list
		name, value := u2(m.text("Lorg/nustaq/serialization/annotations/A;")), u2(m.text("v"))
		data := append(u2(1), name...)
		for range 2 * maxValueDepth {
			data = append(append(append(data, u2(1)...), value...), '@')
			data = append(data, name...)
		}
		return append(data, u2(0)...)
	}
	many := func(m *made) []byte {
		name, value, number := u2(m.text("Lorg/nustaq/serialization/annotations/A;")), u2(m.text("v")), u2(m.add(tagInteger, u4(1)))
		data := bytes.Join([][]byte{u2(1), name, u2(1), value, {'['}, u2(60_000)}, nil)
		return append(data, bytes.Repeat(append([]byte{'I'}, number...), 60_000)...)
	}
	attribute := func(name string, data func(m *made) []byte) []byte {
		return small(func(m *made) [][]byte { return [][]byte{m.attribute(name, data(m))} })
	}
	wrongPool := func(pool ...[]byte) []byte {
		return (&made{pool: pool, after: bytes.Join([][]byte{u2(1), u2(2), u2(0), u2(0), u2(0), u2(0), u2(0)}, nil)}).bytes()
	}
	good := classFile(t, "p.Model")
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":       {nil, "offset 0: the file ends, 4 more bytes were expected"},
		"text":        {[]byte("hello, class"), "offset 0: not a class file: it starts with 68656c6c"},
		"old":         {[]byte{0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 3, 0, 1}, "offset 6: class file version 3 is not a Java release's"},
		"cut":         {good[:len(good)-3], "more bytes were expected"},
		"longer":      {append(bytes.Clone(good), 0), "1 more bytes than the class needs"},
		"pool size":   {[]byte{0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0xff, 0xff, 1, 0, 0}, "offset 8: a constant pool of 65535 entries does not fit into the file"},
		"tag":         {wrongPool([]byte{99, 0, 0}), "offset 10: constant pool entry 1 has the unknown tag 99"},
		"no class":    {wrongPool([]byte{tagUtf8, 0, 0}, []byte{tagString, 0, 1}), "constant pool entry 2 should be this class and is not a class"},
		"itself":      {wrongPool([]byte{tagUtf8, 0, 0}, []byte{tagClass, 0, 2}), "constant pool entry 2 should be this class and is not a text"},
		"beyond":      {wrongPool([]byte{tagUtf8, 0, 0}, []byte{tagClass, 0xff, 0xff}), "constant pool entry 65535 should be this class and is not a text"},
		"half a long": {wrongPool([]byte{tagUtf8, 0, 0}, []byte{tagLong, 0, 0, 0, 0, 0, 0, 0, 0}), "constant pool entry 2 needs another one after it"},
		"annotations": {attribute("RuntimeVisibleAnnotations", nested), "more than 32 annotations or arrays in each other"},
		"many values": {attribute("RuntimeVisibleAnnotations", many), "more than 10000 values in annotations"},
		"tag of value": {attribute("RuntimeVisibleAnnotations", func(m *made) []byte {
			return bytes.Join([][]byte{u2(1), u2(m.text("LA;")), u2(1), u2(m.text("v")), {'?'}}, nil)
		}), "unknown tag 63 of an annotation's value"},
		"short":         {attribute("Signature", func(*made) []byte { return []byte{0} }), "the file ends, 1 more bytes were expected"},
		"attribute len": {small(func(m *made) [][]byte { return [][]byte{append(u2(m.text("X")), 0xff, 0xff, 0xff, 0xff)} }), "more bytes were expected"},
	} {
		parsed, err := Parse(c.data)
		assert.Nil(t, parsed, name)
		assert.ErrorContains(t, err, c.want, name)
		assert.NotContains(t, err.Error(), "\n")
	}
}

// TestParseCut: no prefix of a class file is one, and no byte makes reading it fail in another way.
func TestParseCut(t *testing.T) {
	for _, name := range []string{"p.Model", "p.Model$Point", "p.Model$Annotated"} {
		data := classFile(t, name)
		for n := range data {
			_, err := Parse(data[:n])
			require.Error(t, err, "%s cut at %d", name, n)
			for _, b := range []byte{0, 1, 0x7f, 0xff} {
				changed := bytes.Clone(data)
				changed[n] ^= b
				checkParsed(t, changed)
			}
		}
	}
}

// TestParseSharedTexts: members that share long texts cost no more memory than the file; where they would make
// serialVersionUID expensive it is not computed.
func TestParseSharedTexts(t *testing.T) {
	m := &made{}
	long := strings.Repeat("a", 1<<16-1)
	name := u2(m.text(long))
	descriptor := u2(m.text("L" + long[2:] + ";"))
	signature := m.attribute("Signature", u2(m.text("L"+strings.Repeat("a<", 10)+"*"+strings.Repeat(">;", 10))))
	m.then(u2(1), u2(m.class("p/A")), u2(m.class("java/lang/Object")), u2(0), u2(60_000))
	m.then(bytes.Repeat(bytes.Join([][]byte{u2(1), name, descriptor, u2(1), signature}, nil), 60_000))
	m.then(u2(0), u2(0))
	data := m.bytes()
	before := allocated()
	c, err := Parse(data)
	require.NoError(t, err)
	assert.Len(t, c.Fields, 60_000)
	assert.False(t, c.uid.computable)
	assert.Less(t, allocated()-before, uint64(64<<20))
}

// TestSerialVersionConstants: a static initializer that gives serialVersionUID a value.
func TestSerialVersionConstants(t *testing.T) {
	for name, c := range map[string]struct {
		code  []byte
		value int64
		known bool
	}{
		"ldc2_w":      {[]byte{opLdc2W, 0, 9, opPutstatic, 0, 8, 0xb1}, 1 << 40, true},
		"lconst_1":    {[]byte{opLconst1, opPutstatic, 0, 8, 0xb1}, 1, true},
		"bipush":      {[]byte{opBipush, 0xfe, opI2l, opPutstatic, 0, 8, 0xb1}, -2, true},
		"sipush":      {[]byte{opSipush, 1, 0, opI2l, opPutstatic, 0, 8, 0xb1}, 256, true},
		"iconst_m1":   {[]byte{opIconstM1, opI2l, opPutstatic, 0, 8, 0xb1}, -1, true},
		"twice":       {[]byte{opLconst1, opPutstatic, 0, 8, opLconst1, opPutstatic, 0, 8, 0xb1}, 0, false},
		"call":        {[]byte{0xb8, 0, 8, opPutstatic, 0, 8, 0xb1}, 0, false},
		"tableswitch": {[]byte{0x03, opTable, 0, 0, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 16, opLconst1, opPutstatic, 0, 8, 0xb1}, 1, true},
		"wide":        {[]byte{opWide, wideIinc, 0, 1, 0, 1, opWide, 0x15, 0, 1, opLconst1, opPutstatic, 0, 8, 0xb1}, 1, true},
		"bad switch":  {[]byte{opLookup, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff}, 0, false},
		"unknown":     {[]byte{0xfe, opLconst1, opPutstatic, 0, 8, 0xb1}, 0, false},
		"cut":         {[]byte{opLdc2W, 0}, 0, false},
	} {
		m := &made{}
		uid, j, this := m.text("serialVersionUID"), m.text("J"), m.class("p/A") // 1, 2, 3 and 4
		object := m.class("java/lang/Object")                                   // 5 and 6
		field := m.add(tagField, u2(this), u2(m.add(tagName, u2(uid), u2(j))))  // 8 after 7
		require.Equal(t, 8, field)
		m.add(tagLong, []byte{0, 0, 1, 0, 0, 0, 0, 0}) // 9 and 10
		m.pool = append(m.pool, nil)
		code := bytes.Join([][]byte{u2(2), u2(0), u4(len(c.code)), c.code, u2(0), u2(0)}, nil)
		m.then(u2(1), u2(this), u2(object), u2(0), u2(1), u2(int(Private|Static|Final)), u2(uid), u2(j), u2(0))
		m.then(u2(1), u2(int(Static)), u2(m.text("<clinit>")), u2(m.text("()V")), u2(1), m.attribute("Code", code), u2(0))
		parsed, err := Parse(m.bytes())
		if assert.NoError(t, err, name) {
			assert.Equal(t, serialVersion{declared: true, known: c.known, value: parsed.uid.value, computed: parsed.uid.computed, computable: true}, parsed.uid, name)
			if c.known {
				assert.Equal(t, c.value, parsed.uid.value, name)
			}
		}
	}
}

// allocated is how many bytes the process has allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// checkParsed reads a class file and uses all that was read.
func checkParsed(t testing.TB, data []byte) {
	c, err := Parse(data)
	if (c == nil) == (err == nil) {
		t.Fatalf("class %v and error %v", c, err)
	}
	oneLine := func(err error) {
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Fatalf("more than a line: %q", err)
		}
	}
	if oneLine(err); err != nil {
		return
	}
	oneLine(c.SignatureErr)
	c.Constants()
	for i := range c.Fields {
		if c.Fields[i].Type().String() == "" {
			t.Fatalf("field %d has no type: %q %+v", i, c.Fields[i].Descriptor, c.Fields[i].Type())
		}
	}
	if c.Generic != nil {
		_ = c.Generic.Super.String()
	}
}

// FuzzParse: a class file is read or not, without a panic, in memory that grows no faster than it.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/classes/p/*.class")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkParsed(t, data) })
}

func BenchmarkParse(b *testing.B) {
	data := classFile(b, "p.Model")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}
