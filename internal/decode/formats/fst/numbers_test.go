package fst

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats/formattest"
)

const (
	shadowClass   = "org.dubbowire.rig.edge.Shadow"
	derivedClass  = "org.dubbowire.rig.edge.Derived"
	onlyNameClass = "org.dubbowire.rig.edge.OnlyName"
	colorClass    = "org.dubbowire.rig.edge.Color"
)

// numbered returns the format with the classes that the rig's optimizer registers.
func numbered(tb testing.TB) decode.Format {
	return With(Format, formattest.Rig(tb, classpath.Options{Optimizers: []string{formattest.RigOptimizer}}))
}

// Frames are of the capture fst-optimizer-3.2.16, whose values package truth compares with what Java logged. The order in which classes
// were registered is not known there.
func TestNumberedFrames(t *testing.T) { formattest.Whole(t, numbered(t), "testdata/numbers.tsv") }

func FuzzNumbers(f *testing.F) { formattest.Fuzz(f, numbered(f), "testdata/numbers.tsv") }

// A search that comes to its bound decides nothing, even if an order was found before.
func TestUnfinishedSearch(t *testing.T) {
	r := rig(t, formattest.List(t, shadowClass, onlyNameClass)).New().(*Reader)
	read := func() *decode.Error {
		r.Reset(formattest.Hex("0032 fc0161 00"), decode.Malformed, nil) // OnlyName, the second of the list
		r.Value(decode.ByField, "result", 0, "")
		return r.Err()
	}
	require.Nil(t, read())
	require.NotEmpty(t, r.Numbers())
	r.SetNumbers(nil)
	require.NotNil(t, r.settling.order)
	r.unfinished = true
	r.decide()
	assert.Contains(t, r.doubtful, "--register")
	assert.Empty(t, r.Numbers())

	r.solutions, r.unfinished, r.spent = r.solutions[:0], false, trialsPerByte*len(r.Buf)+1<<16+1
	r.permuteAll(nil)
	assert.True(t, r.unfinished)
	assert.Empty(t, r.solutions)
}

// The class of a number is the one of its list with which the whole body can be read.
func TestNumbers(t *testing.T) {
	const shadowFields = "00 00 fc0161 fc0162 00" // version, created, Base#name, name
	for _, c := range []struct {
		name  string
		lists [][]string
		hex   string
		typ   string
		want  string
	}{
		{"as listed", [][]string{{shadowClass, onlyNameClass}}, "0032" + shadowFields, "", shadowClass},
		{"the second", [][]string{{onlyNameClass, shadowClass}}, "0034" + shadowFields, "", shadowClass},
		{"its array", [][]string{{onlyNameClass, shadowClass}}, "fb35 01 0034" + shadowFields, "", `[{"@class":"` + shadowClass},
		{"in another order", [][]string{{onlyNameClass, shadowClass}}, "0032" + shadowFields, "", shadowClass},
		{"in another order, an array", [][]string{{onlyNameClass, shadowClass}}, "fb33 01 0032" + shadowFields, "", `[{"@class":"` + shadowClass},
		{"an enum in another order", [][]string{{onlyNameClass, colorClass}}, "fa32 01", "", colorClass},
		{"a number that is given", [][]string{{shadowClass + " 70", onlyNameClass}}, "0046" + shadowFields, "", shadowClass},
		{"the list that fits", [][]string{{onlyNameClass}, {shadowClass}}, "0032" + shadowFields, "", shadowClass},
		{"the third", [][]string{{colorClass, shadowClass, derivedClass}}, "0032 00 00 ff ff ff 00", "", derivedClass},
		{"both lists fit", [][]string{{shadowClass}, {shadowClass, onlyNameClass}}, "0032" + shadowFields, "", shadowClass},
		{"an unknown number", [][]string{{shadowClass}}, "003c" + shadowFields, "", "!the fields of registered class #60"},
		{"nothing fits", [][]string{{onlyNameClass, colorClass}}, "0032" + shadowFields, "", "!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lists []string
			for _, l := range c.lists {
				lists = append(lists, formattest.List(t, l...))
			}
			tree := decode.Tree{WithValues: true}
			r := rig(t, lists...).New()
			r.Reset(formattest.Hex(c.hex), decode.Malformed, &tree)
			r.Value(decode.ByField, "result", 0, c.typ)
			if want, fails := strings.CutPrefix(c.want, "!"); fails {
				require.NotNil(t, r.Err())
				assert.Contains(t, r.Err().Expected, want)
				return
			}
			require.Nil(t, r.Err())
			assert.Contains(t, string(tree.AppendJSON(nil, 0)), c.want)
			formattest.Balance(t, &tree, r.Offset())
		})
	}
}

// A value whose class cannot be where its type is declared does not fit.
func TestDeclaredTypes(t *testing.T) {
	descriptor := func(class string) string { return "L" + strings.ReplaceAll(class, ".", "/") + ";" }
	for _, c := range []struct {
		name, typ, hex string
		misfit         bool
	}{
		{"the declared class", descriptor(colorClass), "fa32 01", false},
		{"any class", "Ljava/lang/Object;", "fa32 01", false},
		{"an interface", "Ljava/lang/Comparable;", "fa32 01", false},
		{"another class", descriptor(shadowClass), "fa32 01", true},
		{"an array", "[" + descriptor(colorClass), "fa32 01", true},
		{"a class of the JDK", descriptor(colorClass), "fc 01 61", true},
		{"classes of the JDK without others", "Ljava/lang/Integer;", "fc 01 61", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rig(t, formattest.List(t, colorClass)).New()
			classes := r.(decode.ClassReader)
			classes.WrittenBy(decode.Consumer)
			r.Reset(formattest.Hex(c.hex), decode.Malformed, nil)
			r.Value(decode.ByIndex, "", 0, c.typ)
			require.Equal(t, c.misfit, r.Err() != nil, "%v", r.Err())
			if c.misfit {
				assert.True(t, classes.Misfits(r.Err()))
			}
		})
	}
}

// A number of which two classes fit is not decided, unless the class of the value is declared.
func TestDoubtfulNumbers(t *testing.T) {
	file := formattest.List(t, colorClass, onlyNameClass, "org.dubbowire.rig.zoo.Odd$Name")
	for _, c := range []struct{ name, typ, want, found string }{
		{"declared", "L" + strings.ReplaceAll(onlyNameClass, ".", "/") + ";", onlyNameClass, ""},
		{"not declared", "", "", "is class"},
	} {
		tree := decode.Tree{WithValues: true}
		r := rig(t, file).New()
		r.Reset(formattest.Hex("0032 fc0161 00"), decode.Malformed, &tree)
		r.Value(decode.ByField, "result", 0, c.typ)
		if c.found != "" {
			require.NotNil(t, r.Err(), c.name)
			assert.Contains(t, r.Err().Found, c.found)
			assert.Contains(t, r.Err().Found, "--register")
			continue
		}
		require.Nil(t, r.Err(), c.name)
		assert.Contains(t, string(tree.AppendJSON(nil, 0)), c.want)
	}
}

// What a body told of numbers holds for the connection.
func TestToldNumbers(t *testing.T) {
	file := formattest.List(t, colorClass, onlyNameClass, "org.dubbowire.rig.zoo.Odd$Name")
	const typ = "Lorg/dubbowire/rig/edge/OnlyName;"
	r := rig(t, file).New().(*Reader)
	read := func(typ string) *decode.Error {
		r.Reset(formattest.Hex("0032 fc0161 00"), decode.Malformed, nil)
		r.Value(decode.ByField, "result", 0, typ)
		return r.Err()
	}
	require.NotNil(t, read(""))
	assert.Empty(t, r.Numbers())
	require.Nil(t, read(typ))
	told := r.Numbers()
	assert.Equal(t, decode.Numbers{50: onlyNameClass}, told)
	require.Nil(t, read(""))
	r.SetNumbers(nil)
	require.NotNil(t, read(""), "another connection")
	r.SetNumbers(decode.Numbers{50: colorClass})
	require.Nil(t, read(typ), "what was told does not fit")
}

// Variations of a class: without a field, and with another one where FST would write it.
func TestVariations(t *testing.T) {
	for _, c := range []struct {
		name string
		v    decode.Variation
		can  bool
		hex  string
	}{
		{"without version", decode.Variation{Class: shadowClass, Index: 0}, true, "00 fc0161 fc0162 00"},
		{"without name", decode.Variation{Class: shadowClass, Index: 3}, true, "00 00 fc0161 00"},
		{"another int", decode.Variation{Class: shadowClass, Index: 1, Type: "I"}, true, "00 05 00 fc0161 fc0162 00"},
		{"a boolean", decode.Variation{Class: shadowClass, Index: 0, Type: "Z"}, true, "80 00 00 fc0161 fc0162 00"},
		{"a boolean after others", decode.Variation{Class: shadowClass, Index: 1, Type: "Z"}, false, ""},
		{"a text", decode.Variation{Class: shadowClass, Index: 4, Type: "Ljava/lang/String;"}, true, "00 00 fc0161 fc0162 fc0163 00"},
		{"a text among numbers", decode.Variation{Class: shadowClass, Index: 1, Type: "Ljava/lang/String;"}, false, ""},
		{"an object", decode.Variation{Class: shadowClass, Index: 2, Type: "Ljava/lang/Object;"}, true, "00 00 001000 fc0161 fc0162 00"},
		{"an unknown class", decode.Variation{Class: "a.B"}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rig(t).New().(*Reader)
			read := func(hex string) *decode.Error {
				r.Reset(formattest.Hex(shadow, hex), decode.Malformed, nil)
				r.Value(decode.ByField, "result", 0, "")
				return r.Err()
			}
			const plain = "00 00 fc0161 fc0162 00"
			require.Nil(t, read(plain))
			assert.Equal(t, []decode.UsedClass{{Name: shadowClass, Fields: []string{"version", "created", "Base#name", "name"}}}, r.Used())
			require.Equal(t, c.can, r.Vary(&c.v))
			if c.can {
				assert.Nil(t, read(c.hex))
				assert.NotNil(t, read(plain))
			}
			r.Vary(nil)
			assert.Nil(t, read(plain))
		})
	}
}

// Fields of the application's exceptions vary, those of Throwable do not; no number of a field is too much.
func TestVariationsOfSections(t *testing.T) {
	r := rig(t).New().(*Reader)
	r.Reset(formattest.Named(t, "testdata/objects.tsv", "fail S2C"), decode.Malformed, nil)
	r.ResultKind()
	r.Throwable()
	require.Nil(t, r.Err())
	can := 0
	for _, u := range r.Used() {
		for i := -1; i <= len(u.Fields)+1; i++ {
			for _, typ := range []string{"", "Z", "I", "Ljava/lang/String;", "Ljava/lang/Object;"} {
				if r.Vary(&decode.Variation{Class: u.Name, Index: max(i, 0), Type: typ}) {
					can++
				}
				r.Vary(nil)
			}
		}
	}
	assert.Greater(t, can, 10)
}
