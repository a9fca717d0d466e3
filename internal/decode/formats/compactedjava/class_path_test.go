package compactedjava_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/compactedjava"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/java"
	"dubbo-wire/internal/rpc"
)

// withModels returns the format with the classes of the rig.
func withModels(tb testing.TB) (decode.Format, *classpath.Path) {
	tb.Helper()
	path := formattest.Rig(tb, classpath.Options{})
	return java.With(compactedjava.Format, path), path
}

// Frames are of the capture edge-compactedjava, whose values package truth compares with what Java logged.
func TestClasses(t *testing.T) {
	f, _ := withModels(t)
	formattest.Whole(t, f, "testdata/classes_frames.tsv")
}

// class is the descriptor of a class in a stream: its name, and above it nothing or its superclass.
func class(name, super string) string {
	if super == "" {
		super = "70"
	}
	return fmt.Sprintf("72 01 %04x %x 78 ", len(name), name) + super
}

const integer = "72 01 0011 6a6176612e6c616e672e496e7465676572 78 72 01 0010 6a6176612e6c616e672e4e756d626572 7870"

// What does not fit a class of the class path is found, and then nothing is read with it. Immutable has an int level and a String
// code; Derived extends Base.
func TestMisfits(t *testing.T) {
	const models = "org.dubbowire.rig.edge."
	immutable := "73" + class(models+"Immutable", "")
	base := class(models+"Base", "")
	for _, c := range []struct{ name, value, why string }{
		{"it fits", immutable + "00000003 740001 61", ""},
		{"null", immutable + "00000003 70", ""},
		{"another type", immutable + "00000003 73" + integer + "00000005", "field code of class org.dubbowire.rig.edge.Immutable, a java.lang.String"},
		{"a reference to another type", immutable + "00000003 71 007e0001", "field code of class org.dubbowire.rig.edge.Immutable, a java.lang.String"},
		{"a field more", immutable + "00000003 740001 61 740001 62", "the byte before an object in a block"},
		{"a field less", immutable + "00000003", "with the fields that it has there, the body should have an object at byte 51"},
		{"another superclass", "73" + class(models+"Immutable", base) + "00000003 740001 61", "which extends nothing that is Serializable in the class path and org.dubbowire.rig.edge.Base in the stream"},
		{"a superclass less", "73" + class(models+"Derived", "") + "00000000", "which extends org.dubbowire.rig.edge.Base in the class path and nothing that is Serializable in the stream"},
		{"an interface", "73" + class(models+"EdgeService", "") + "00000000", "which is not Serializable in the class path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, path := withModels(t)
			body := formattest.Hex("aced0005 77020401", c.value, full, body, "00000001 740001 6b 740001 76 78")
			formattest.Check(t, f, body)
			d := dubbo.NewDecoder([]decode.Format{f})
			frame := &dubbo.Frame{Body: body, Captured: len(body), MissingAt: len(body)}
			frame.Flags, frame.Status, frame.BodyLen = f.ID, dubbo.StatusOK, len(body)
			m := d.Decode(frame, rpc.Values, new(dubbo.Dialects))
			if c.why == "" {
				require.Nil(t, m.Err)
			} else {
				require.NotNil(t, m.Err)
				assert.Contains(t, m.Err.Expected, c.why)
				assert.Contains(t, m.Err.Expected, "rig.jar")
				assert.Equal(t, decode.Unsupported, m.Err.Cause)
			}
			top := formattest.Message{Tree: *m.Tree}
			if c.why != "" {
				assert.Contains(t, top.Value("result"), `"#opaque"`)
			}
			assert.Equal(t, `{"k":"v"}`, top.Value("attachments"))
			missing, found := path.Missing()
			assert.Empty(t, missing)
			assert.GreaterOrEqual(t, found, 1)
		})
	}
}

// A class that is not in the class path is named; what comes before it is read.
func TestMissingClass(t *testing.T) {
	f, path := withModels(t)
	body := formattest.Hex("aced0005 770101 73"+class("org.dubbowire.rig.edge.Immutable", "")+"00000003 740001 61", "770101 73", class("q.Gone", ""), "00000003",
		full, body, "00000001 740001 6b 740001 76 78")
	r := f.New()
	r.Reset(body, decode.Malformed, nil)
	r.Value(decode.ByIndex, "", 0, "")
	require.Nil(t, r.Err())
	r.Value(decode.ByIndex, "", 1, "")
	require.Equal(t, decode.Unsupported, r.Err().Cause)
	require.False(t, r.(decode.ClassReader).Misfits(r.Err()))
	missing, found := path.Missing()
	assert.Equal(t, []string{"q.Gone"}, missing)
	assert.Equal(t, 1, found)
}

func FuzzClasses(f *testing.F) {
	format, _ := withModels(f)
	formattest.Fuzz(f, format, "testdata/classes_frames.tsv")
}

func BenchmarkClasses(b *testing.B) {
	format, _ := withModels(b)
	formattest.Bench(b, format, formattest.Named(b, "testdata/classes_frames.tsv", "twice C2S"))
}
