package avro

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// withModels returns the format with the classes of the rig's captures and of its random graphs.
func withModels(tb testing.TB) decode.Format {
	return With(Format, formattest.Models(tb, "rig.jar", "graphs.jar", "reflected.jar"))
}

const models = "Lorg/dubbowire/rig/models/reflected/"

// argumentsOf returns what is read of arguments, in JSON, and the first error.
func argumentsOf(f decode.Format, types string, hex ...string) (string, *decode.Error) {
	m := formattest.Request(f, call("hi", types, formattest.Hex(hex...)), decode.Malformed)
	return m.Value("args"), m.Err
}

// The order of the fields is told by bodies that fit in one order only.
func TestOrders(t *testing.T) {
	f := withModels(t)
	const phantom, address = models + "Phantom;", models + "Address;"
	r := f.New().(*Reader)
	read := func(typ, hex string) (string, *decode.Error) {
		tree := decode.Tree{WithValues: true}
		r.Reset(call("hi", typ, formattest.Hex(hex)), decode.Malformed, &tree)
		for _, name := range []string{"dubboVersion", "path", "serviceVersion", "method", "parameterTypes"} {
			r.Text(name)
		}
		from := len(tree.Nodes)
		r.Value(decode.ByIndex, "", 0, typ)
		return string(tree.AppendJSON(nil, from)), r.Fault()
	}
	// Street, city, country as declared; by name city, country, street.
	got, fault := read(address, "0261 0262 0263")
	assert.JSONEq(t, `{"@opaque":6}`, got)
	require.NotNil(t, fault)
	assert.Equal(t, decode.Unsupported, fault.Cause)
	assert.Equal(t, decode.FieldOrders{}, r.Orders())
	// Tag and code: a text of one byte and 300 as declared, else 1 and a text of 97 bytes.
	got, fault = read(phantom, "0261 d804")
	assert.JSONEq(t, `{"@class":"org.dubbowire.rig.models.reflected.Phantom","tag":"a","code":300}`, got)
	assert.Nil(t, fault)
	assert.Equal(t, decode.FieldOrders{decode.AsDeclared}, r.Orders())
	got, _ = read(address, "0261 0262 0263")
	assert.JSONEq(t, `{"@class":"org.dubbowire.rig.models.reflected.Address","street":"a","city":"b","country":"c"}`, got)
	r.SetOrders(decode.FieldOrders{decode.ByName})
	got, _ = read(address, "0261 0262 0263")
	assert.JSONEq(t, `{"@class":"org.dubbowire.rig.models.reflected.Address","city":"a","country":"b","street":"c"}`, got)
	r.SetOrders(decode.FieldOrders{})
	r.WrittenBy(decode.Provider)
	got, _ = read(phantom, "0a 0261")
	assert.JSONEq(t, `{"@class":"org.dubbowire.rig.models.reflected.Phantom","code":5,"tag":"a"}`, got)
	assert.Equal(t, decode.FieldOrders{decode.Provider: decode.ByName}, r.Orders())
}

// A null takes no bytes, whatever the class, and a class with subclasses does not tell which of them it is.
func TestNullsAndClasses(t *testing.T) {
	f := withModels(t)
	const square, circle = models + "Square;", models + "Circle;"
	number := strings.Repeat("00", 8)
	for _, c := range []struct{ name, types, hex, want string }{
		{"one of two", square + square, number, `[{"@opaque":8},{"@opaque":0}]`},
		{"both", square + square, number + number, `[{"@class":"Square","side":0},{"@class":"Square","side":0}]`},
		{"neither", square + square, "", `[null,null]`},
		{"the first", square + "F", "00000000", `[null,0]`},
		{"an enum between", models + "Mode;" + "D", "04" + number, `[{"@enum":"Mode","name":"LATER"},0]`},
		{"no constant", models + "Mode;" + anInt, "06", `[null,3]`},
		{"a class without fields", models + "Nothing;" + "I", "02", `[{"@opaque":0},1]`},
		{"an array", "[" + square + "I", "02" + number + "00 02", `[[{"@class":"Square","side":0}],1]`},
		{"of an interface only the classes", models + "Shape;" + "I", number + "02", `[{"@class":"Square","side":0},1]`},
		{"a map without bytes", "Ljava/util/Map;" + "I", "02", `[{"@opaque":0},1]`},
		{"elements without bytes", "I[Ljava/lang/Object;", "02 0400", `[1,[{"@opaque":0},{"@opaque":0}]]`},
		{"a collection", aList + circle, "02 046162", `[null,{"@class":"Circle","radius":1,"label":"ab"}]`},
	} {
		got, _ := argumentsOf(f, c.types, c.hex)
		assert.JSONEq(t, strings.NewReplacer(`"Square"`, `"org.dubbowire.rig.models.reflected.Square"`, `"Circle"`, `"org.dubbowire.rig.models.reflected.Circle"`,
			`"Mode"`, `"org.dubbowire.rig.models.reflected.Mode"`).Replace(c.want), got, c.name)
	}
}

// What cannot be of the class is said with field and offset, and reading without classes says why.
func TestMisfits(t *testing.T) {
	f := withModels(t)
	const base = "org.dubbowire.rig.models.reflected."
	for _, c := range []struct{ name, types, hex, class, field, expected string }{
		{"a text too long", models + "Circle;", "02 7e61", "Circle", "label", "a string (63 bytes)"},
		{"no UTF-8", models + "Circle;", "02 02ff", "Circle", "label", "a string"},
		{"a number of 64 bits", models + "Circle;", "8080808080808001 00", "Circle", "radius", "a number from -2147483648 to 2147483647"},
		{"a branch that is none", models + "Tree;", "04 02 00", "Tree", "left", "a branch of a union from 0 to 1"},
		{"no boolean", models + "Leaf;", "00 02 0000000000000000 0000 00 00", "Leaf", "done", "a boolean"},
		{"the body ends", models + "Square;", "00", "Square", "side", "a double (8 bytes)"},
	} {
		r := f.New().(*Reader)
		r.SetOrders(decode.FieldOrders{decode.AsDeclared})
		read := func() *decode.Error {
			r.Reset(call("hi", c.types, formattest.Hex(c.hex)), decode.Malformed, nil)
			for _, name := range []string{"dubboVersion", "path", "serviceVersion", "method", "parameterTypes"} {
				r.Text(name)
			}
			r.Value(decode.ByIndex, "", 0, c.types)
			return r.Err()
		}
		err := read()
		if !assert.NotNil(t, err, c.name) {
			continue
		}
		assert.True(t, r.Misfits(err), c.name)
		m := decode.NewMisfit(r, decode.Consumer, err)
		assert.Equal(t, []string{base + c.class, c.field, c.expected}, []string{m.Class, m.Field, err.Expected}, c.name)
		r.Distrust(m.Error())
		err = read()
		require.NotNil(t, err, c.name)
		assert.Equal(t, decode.Unsupported, err.Cause, c.name)
		assert.Contains(t, err.Found, c.expected, c.name)
		assert.False(t, r.Misfits(err), c.name)
		r.Distrust(nil)
	}
}

// Bytes that are not read because their classes are missing, or not told, have a cause.
func TestClassesThatAreNotKnown(t *testing.T) {
	f := withModels(t)
	for _, c := range []struct{ name, types, hex, class string }{
		{"not in the class path", "Lp/Missing;", "02", "p.Missing"},
		{"any class", "Ljava/lang/Object;", "02", ""},
		{"a class of Java with subclasses", "Ljava/lang/Number;", "02", ""},
	} {
		got, err := argumentsOf(f, c.types, c.hex)
		require.NotNil(t, err, c.name)
		assert.Equal(t, decode.Unsupported, err.Cause, c.name)
		assert.Equal(t, c.class, err.Class, c.name)
		assert.Equal(t, "[]", got, c.name)
	}
}

// A field that was added, left out or has another type is what the class of the class path is read with.
func TestVary(t *testing.T) {
	f := withModels(t)
	r := f.New().(*Reader)
	r.SetOrders(decode.FieldOrders{decode.AsDeclared})
	const circle = models + "Circle;"
	fits := func(hex string) bool {
		r.Reset(call("hi", circle, formattest.Hex(hex)), decode.Malformed, nil)
		for range 4 {
			r.SkipText()
		}
		r.Text("parameterTypes")
		r.Value(decode.ByIndex, "", 0, circle)
		return r.Err() == nil && r.Offset() == len(r.Buf)
	}
	require.True(t, fits("02 0261"))
	require.Equal(t, []decode.UsedClass{{Name: "org.dubbowire.rig.models.reflected.Circle", Fields: []string{"radius", "label"}}}, r.Used())
	vary := func(v decode.Variation) bool {
		v.Class = "org.dubbowire.rig.models.reflected.Circle"
		return r.Vary(&v)
	}
	require.True(t, vary(decode.Variation{Index: 0}))
	assert.True(t, fits("0261"))
	require.True(t, fits("0261") && vary(decode.Variation{Index: 2, Type: "D"}))
	assert.True(t, fits("02 0261 0000000000000000"))
	require.True(t, vary(decode.Variation{Index: 1, Type: "F", Replaces: true}))
	assert.True(t, fits("02 00000000"))
	assert.False(t, vary(decode.Variation{Index: 1, Type: "Ljava/lang/Object;"}))
	assert.False(t, vary(decode.Variation{Index: 7, Type: "I"}))
	assert.True(t, r.Vary(nil))
	assert.True(t, fits("02 0261"))
}

// benchBodies are bodies with objects of the application.
func benchBodies() map[string][]byte {
	person := "0261 00 14 00 00 02 0a 02 02 0261 00 02 02 0262 0263 0264" // name, nick, age, partner, children, score, notes, mode, address
	tree := strings.Repeat("02", 200) + "00 02 00" + strings.Repeat("02 00", 200)
	return map[string][]byte{
		"persons": call("hi", "["+models+"Person;", append(append(binary.AppendVarint(nil, 100), formattest.Hex(strings.Repeat(person, 100))...), 0)),
		"tree":    call("hi", models+"Tree;", formattest.Hex(tree)),
		"texts":   call("hi", strings.Repeat(models+"Square;", 8), make([]byte, 8*5)),
	}
}

func BenchmarkClasses(b *testing.B) {
	f := withModels(b)
	for name, body := range benchBodies() {
		b.Run(name, func(b *testing.B) { formattest.Bench(b, f, body) })
	}
}

// The bodies of the benchmark are read to their ends.
func TestBenchBodies(t *testing.T) {
	f := withModels(t)
	for name, body := range benchBodies() {
		m := formattest.Request(f, body, decode.Malformed)
		assert.Nil(t, m.Err, name)
		assert.Equal(t, len(body), m.Taken, name)
		formattest.Balance(t, &m.Tree, m.Taken)
	}
}

func TestHostileClasses(t *testing.T) {
	f := withModels(t)
	many := fmt.Sprintf("%x", binary.AppendVarint(nil, 1<<40))
	for _, c := range []struct{ name, types, hex string }{
		{"a million objects without bytes", models + "Lost;", many + "00"},
		{"nested too deep", models + "Tree;", strings.Repeat("02", 3000)},
		{"a billion elements", "[" + models + "Person;", many + "00"},
		{"a billion entries", models + "Containers;", "00 00 00 00 00 00 00" + many},
		{"groups in groups", models + "Group;", strings.Repeat("00 02 04", 2000)},
		{"many trees, each of which may be null", strings.Repeat(models+"Tree;", 200), strings.Repeat("00", 400)},
		{"many persons", strings.Repeat(models+"Person;", 60), strings.Repeat("00", 3000)},
		{"arrays of many dimensions", strings.Repeat("[", 200) + models + "Person;", strings.Repeat("02", 300)},
		{"more dimensions than Java has", strings.Repeat("[", 300) + models + "Person;", strings.Repeat("02", 300)},
	} {
		body := call("hi", c.types, formattest.Hex(c.hex))
		formattest.Check(t, f, body)
		m := formattest.Request(f, body, decode.Malformed)
		assert.False(t, m.Err == nil && m.Taken == len(body), c.name)
		formattest.Balance(t, &m.Tree, m.Taken)
	}
}

func FuzzClasses(f *testing.F) {
	format := withModels(f)
	for _, body := range benchBodies() {
		f.Add(body)
	}
	for _, types := range []string{"Scalars;", "Shapes;", "Containers;", "Arrays;", "Marked;", "Lost;", "Holder;", "Wrapped;", "Base;"} {
		f.Add(call("hi", models+types+models+types, make([]byte, 120)))
	}
	formattest.Fuzz(f, format, "testdata/frames.tsv")
}

// Schemas of hostile classes end, too: those that contain themselves, and those that contain others twice, again and again.
func TestHostileSchemas(t *testing.T) {
	itself := &schema{kind: record, class: "p.Itself", own: true}
	itself.fields = []field{{"itself", itself}, {"again", itself}}
	twice := voids
	for range 60 {
		twice = &schema{kind: record, class: "p.Twice", own: true, fields: []field{{"a", twice}, {"b", twice}}}
	}
	lists := &schema{kind: array, elem: &schema{kind: record, class: "p.Lists", fields: make([]field, 0)}}
	deep := nulls
	for range 5000 {
		deep = &schema{kind: union, branches: []*schema{deep, nulls}}
	}
	for _, s := range []*schema{itself, twice, lists, deep} {
		s.finish()
		for _, tree := range []*decode.Tree{nil, {WithValues: true}} {
			r := new(Reader)
			r.Reset(append(binary.AppendVarint(nil, 1<<40), make([]byte, 100)...), decode.Malformed, tree)
			r.strict = true
			r.value(s, decode.ByField, "result", 0)
			require.NotNil(t, r.Err())
		}
	}
}

// With more classes than are kept, the others are not known.
func TestMaxClasses(t *testing.T) {
	r := withModels(t).New().(*Reader)
	l := r.source.libraries[0][declared]
	for i := range maxClasses {
		l.classes[fmt.Sprint(i)] = voids
	}
	assert.Equal(t, unknown, l.class("org.dubbowire.rig.models.reflected.Tree").kind)
}

// Readers share the classes, which are looked up when they are first needed.
func TestReadersShareClasses(t *testing.T) {
	f := withModels(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for _, class := range []string{"Shapes;", "Person;", "Group;", "Containers;", "Marked;", "Holder;", "Generated;", "Shape;"} {
				formattest.Request(f, call("hi", models+class+models+class, make([]byte, 40)), decode.Malformed)
			}
		})
	}
	all.Wait()
	got, err := argumentsOf(f, models+"Point;I", "02610a")
	assert.Nil(t, err)
	assert.JSONEq(t, `[{"@class":"org.dubbowire.rig.models.reflected.Point","value":"a"},5]`, got)
}

// A walk finds the ends that a Reader finds, and counts what that counts, whatever the bytes.
func TestWalkIsTheReader(t *testing.T) {
	l := withModels(t).New().(*Reader).source.libraries[0][declared]
	lists, _, _ := l.valuesOf("[" + models + "Person;")
	random := rand.New(rand.NewPCG(1, 2))
	ends, unsures := 0, 0
	for _, name := range []string{"Person", "Tree", "Square", "Scalars", "Shapes", "Containers", "Arrays", "Marked", "Lost", "Holder", "Wrapped", "Base", "Circle", "Group", "Generated", ""} {
		all := lists
		if name != "" {
			all, _, _ = l.valuesOf(models + name + ";")
		}
		for _, s := range all {
			for range 3000 {
				body := make([]byte, random.IntN(80))
				for i := range body {
					if body[i] = byte(random.IntN(4)); random.IntN(12) == 0 {
						body[i] = byte(random.Uint32())
					}
				}
				var r Reader
				r.Reset(body, decode.Malformed, nil)
				r.strict = true
				r.value(s, decode.ByField, "result", 0)
				var counted Reader
				counted.Reset(body, decode.Malformed, nil)
				w := &counted.walk
				end := w.over(0, s)
				switch {
				case end == unsure:
					unsures++
				case r.Err() != nil:
					require.Equal(t, noExtent, end, "%s: % x: %v", name, body, r.Err())
				default:
					ends++
					sum, ok := r.Sum()
					require.True(t, ok)
					require.Equal(t, r.Off, end, "%s: % x", name, body)
					require.Equal(t, r.visits, w.visits, "%s: % x", name, body)
					require.Equal(t, r.used, append([]*schema(nil), w.used...), "%s: % x", name, body)
					if s.kind == record || s.kind == array || s.kind == mapping || s.kind == pairs {
						require.Equal(t, sum[decode.ClassOverhead], int32(w.overhead), "%s: % x", name, body)
						require.True(t, counted.tally(s, end, &w.extra, decode.ByField, "result", 0))
						counts, _ := counted.Sum()
						require.Equal(t, sum, counts, "%s: % x", name, body)
						tree := decode.Tree{}
						r.Reset(body, decode.Malformed, &tree)
						r.strict = true
						r.value(s, decode.ByField, "result", 0)
						require.Equal(t, len(tree.Nodes), w.nodes, "%s: % x", name, body)
					}
				}
			}
		}
	}
	assert.Greater(t, ends, 2000)
	assert.Less(t, unsures, ends)
}
