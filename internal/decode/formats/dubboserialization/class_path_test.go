package dubboserialization

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats/formattest"
)

// withModels returns the format with the classes of the rig.
func withModels(tb testing.TB) (decode.Format, *classpath.Path) {
	tb.Helper()
	path := formattest.Rig(tb, classpath.Options{})
	return With(Format, path), path
}

// Frames are of the capture edge-dubbo-2.5.3, whose values package truth compares with what Java logged.
func TestClasses(t *testing.T) {
	f, _ := withModels(t)
	formattest.Whole(t, f, "testdata/classes_frames.tsv")
}

// Immutable has a String code and an int level. With another number of fields, or of another type, it is read without its class.
func TestMisfits(t *testing.T) {
	const immutable = "8a 83a2 4c6f72672f64756262 6f776972652f7269672f656467652f496d6d757461626c653b 80"
	for _, c := range []struct {
		name, fields, want string
		misfits            bool
	}{
		{"it fits", "1b 838161 1c", `{"@class":"org.dubbowire.rig.edge.Immutable","code":"a","level":3}`, false},
		{"null", "1b 94 1c", `{"@class":"org.dubbowire.rig.edge.Immutable","code":null,"level":3}`, false},
		{"a field more", "1c 838161 1c 1c", `{"@class":"org.dubbowire.rig.edge.Immutable","#0":"a","#1":3,"#2":3}`, true},
		{"a field less", "1a 838161", `{"@class":"org.dubbowire.rig.edge.Immutable","#0":"a"}`, true},
		{"another type", "1b 1c 838161", `{"@class":"org.dubbowire.rig.edge.Immutable","#0":3,"#1":"a"}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, path := withModels(t)
			body := formattest.Hex(immutable, c.fields)
			formattest.Check(t, f, body)
			var tree decode.Tree
			tree.WithValues = true
			r := f.New()
			read := func() *decode.Error {
				tree.Reset()
				r.Reset(body, decode.Malformed, &tree)
				r.Value(decode.ByField, "result", 0, "")
				return r.Err()
			}
			err := read()
			classes := r.(decode.ClassReader)
			if c.misfits {
				require.NotNil(t, err)
				assert.True(t, classes.Misfits(err))
				classes.Distrust(err)
				err = read()
				classes.Distrust(nil)
			}
			require.Nil(t, err)
			top := formattest.Message{Tree: tree}
			assert.Equal(t, c.want, top.Value("result"))
			missing, found := path.Missing()
			assert.Empty(t, missing)
			assert.Equal(t, 1, found)
		})
	}
}

func FuzzClasses(f *testing.F) {
	format, _ := withModels(f)
	formattest.Fuzz(f, format, "testdata/classes_frames.tsv")
}

func BenchmarkClasses(b *testing.B) {
	format, _ := withModels(b)
	formattest.Bench(b, format, formattest.Named(b, "testdata/classes_frames.tsv", "twice C2S"))
}
