package fst

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats/formattest"
)

// rig returns the format with the classes of the captures, and with lists of registered classes.
func rig(tb testing.TB, lists ...string) decode.Format {
	return With(Format, formattest.Rig(tb, classpath.Options{Lists: lists}))
}

// Objects of the application are read to their last byte with its classes.
func TestObjects(t *testing.T) { formattest.Whole(t, rig(t), "testdata/objects.tsv") }

func FuzzObjects(f *testing.F) {
	formattest.Fuzz(f, rig(f), "testdata/values.tsv", "testdata/objects.tsv")
}

func TestObjectsWithoutAllocs(t *testing.T) {
	formattest.NoAllocs(t, rig(t), formattest.Named(t, "testdata/objects.tsv", "echoShadow C2S"))
}

// A body whose classes are known is walked without allocation.
func TestWalkWithoutAllocs(t *testing.T) {
	body := formattest.Named(t, "testdata/objects.tsv", "echoHolder C2S")
	r := rig(t).New()
	walk := func() {
		r.Reset(body, decode.Malformed, nil)
		for range 5 {
			r.Text("")
		}
		r.Value(decode.ByIndex, "", 0, "Lorg/dubbowire/rig/edge/Holder;")
		r.Attachments()
	}
	walk()
	require.Nil(t, r.Err())
	require.Zero(t, testing.AllocsPerRun(100, walk))
}

func BenchmarkObjects(b *testing.B) {
	formattest.Bench(b, rig(b), formattest.Named(b, "testdata/objects.tsv", "echoHolder C2S"))
}

// shadow is an object of org.dubbowire.rig.edge.Shadow up to its fields.
const shadow = "00 01 1d 6f72672e647562626f776972652e7269672e656467652e536861646f77"

// What cannot be an object of the class is found while it is read, and the class and field are known.
func TestMisfits(t *testing.T) {
	format := rig(t)
	for _, c := range []struct{ name, hex, class, field, expected string }{
		{"fits", shadow + "00 00 ff fc0161 00", "", "", ""},
		{"another tag at the end", shadow + "00 00 ff ff 01", "org.dubbowire.rig.edge.Shadow", "", "the end of the fields of class org.dubbowire.rig.edge.Shadow"},
		{"a number in a text", shadow + "00 00 ff f705 00", "org.dubbowire.rig.edge.Shadow", "name", "a java.lang.String in field name"},
		{"an object in a text", shadow + "00 00 ff 001000 00", "org.dubbowire.rig.edge.Shadow", "name", "a java.lang.String in field name"},
		{"no tag", shadow + "00 00 ff 55 00", "org.dubbowire.rig.edge.Shadow", "name", "the tag of a value"},
		{"booleans", "00 01 21 6f72672e647562626f776972652e7269672e656467652e5072696d697469766573 c1", "org.dubbowire.rig.edge.Primitives", "z", "1 booleans"},
		{"no class name", shadow + "00 00 ff 00 01 03 420037 00", "org.dubbowire.rig.edge.Shadow", "name", "a class name"},
		{"an ordinal", "fa 01 1c 6f72672e647562626f776972652e7269672e656467652e436f6c6f72 07", "", "-", "the ordinal of one of 3 constants of enum org.dubbowire.rig.edge.Color"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := format.New().(*Reader)
			r.Reset(formattest.Hex(c.hex), decode.Malformed, nil)
			r.Value(decode.ByField, "result", 0, "")
			if c.expected == "" {
				require.Nil(t, r.Err())
				return
			}
			require.NotNil(t, r.Err())
			assert.Equal(t, c.expected, r.Err().Expected)
			assert.True(t, r.Misfits(r.Err()))
			if c.class != "" {
				assert.Equal(t, c.class, r.stoppedIn.name)
			}
			if c.field == "" {
				assert.Nil(t, r.stoppedAt)
			} else if c.field != "-" {
				assert.Equal(t, c.field, r.stoppedAt.name)
			}

			misfit := &decode.Error{Cause: decode.Unsupported, Expected: "the fields of another class"}
			r.Distrust(misfit)
			r.Reset(formattest.Hex(c.hex), decode.Malformed, nil)
			r.Value(decode.ByField, "result", 0, "")
			if c.class != "" {
				assert.Equal(t, misfit.Expected, r.Err().Expected)
			}
			assert.False(t, r.Misfits(r.Err()))
		})
	}
}

// A number that no class has may come from a body that was misread: the flag that would give it a class is named only if nothing was read
// with the class path before.
func TestUnknownNumbers(t *testing.T) {
	format := rig(t)
	for _, c := range []struct{ name, hex, found string }{
		{"first", "0010 01 00 67", "a number that no class has: --register FILE or --optimizer CLASS gives it one"},
		{"after fields of a class", "0010 02" + shadow + "00 00 ff fc0161 00 00 67", "a number that no class has"},
	} {
		r := format.New()
		r.Reset(formattest.Hex(c.hex), decode.Malformed, nil)
		r.Value(decode.ByField, "result", 0, "")
		assert.Equal(t, c.found, r.Err().Found, c.name)
	}
}

func TestArrayClasses(t *testing.T) {
	for _, c := range []struct{ hex, expected, found string }{
		{"00 01 03 5b5b49 01", "the class of an object", "an array class"},
		{"fb 01 03 412442 01", "an array class", "class A$B"},
	} {
		r := rig(t).New()
		r.Reset(formattest.Hex(c.hex), decode.Malformed, nil)
		r.Value(decode.ByField, "result", 0, "")
		assert.Equal(t, [2]string{c.expected, c.found}, [2]string{r.Err().Expected, r.Err().Found}, c.hex)
	}
}

// What is counted without a tree is what the tree says.
func TestCounted(t *testing.T) {
	formattest.Damaged(t, rig(t), "testdata/objects.tsv")
	formattest.Damaged(t, numbered(t), "testdata/numbers.tsv")
}
