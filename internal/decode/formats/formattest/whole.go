package formattest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/dubbo"
)

// Whole decodes each frame of a file as package dubbo does, checks that its parts add up to the body, and compares it
// with what the row wants: see Summary.
func Whole(t *testing.T, f decode.Format, file string) {
	d := dubbo.NewDecoder([]decode.Format{f})
	for _, row := range Frames(t, file) {
		t.Run(row.Name, func(t *testing.T) {
			require.Equal(t, row.Want, Summary(t, d, row.Header, row.Body))
		})
	}
}

// WholeBody reads bodies that are one value.
type WholeBody interface {
	decode.WholeReader
	Reset(body []byte, short decode.Cause, t *decode.Tree)
	Offset() int
	Err() *decode.Error
}

// ReadWhole reads a body into a tree of at most so many nodes, 0 for the usual limit, and checks that each byte that was taken has an
// owner.
func ReadWhole(tb testing.TB, r WholeBody, body string, short decode.Cause, nodes int) (*decode.Tree, *decode.Error) {
	tb.Helper()
	tree := &decode.Tree{WithValues: true, MaxNodes: nodes}
	r.Reset([]byte(body), short, tree)
	r.Whole(decode.ByField, "result", 0)
	if r.Offset() > len(body) {
		tb.Fatalf("%d of %d bytes were taken", r.Offset(), len(body))
	}
	Balance(tb, tree, r.Offset())
	return tree, r.Err()
}

// WantsWhole reads a body, which gives a value as JSON, and is stopped for a cause at an offset unless the cause is None.
func WantsWhole(t *testing.T, r WholeBody, body string, short decode.Cause, want string, cause decode.Cause, at int) {
	t.Helper()
	tree, err := ReadWhole(t, r, body, short, 0)
	json := ""
	for i := range tree.Nodes {
		if tree.Nodes[i].Name == "result" {
			json = string(tree.AppendJSON(nil, i))
		}
	}
	assert.Equal(t, want, json, "%q", body)
	if cause == decode.None {
		assert.Nil(t, err, "%q", body)
		assert.Equal(t, len(body), r.Offset(), "%q", body)
	} else if assert.NotNil(t, err, "%q", body) {
		assert.Equal(t, cause, err.Cause, "%q", body)
		assert.Equal(t, at, err.Offset(), "%q", body)
	}
}

// FuzzWhole reads bodies whole, cut, and into a small tree.
func FuzzWhole(f *testing.F, r WholeBody, bodies ...string) {
	for _, body := range bodies {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, short := range []decode.Cause{decode.Malformed, decode.Cut} {
			if _, err := ReadWhole(t, r, body, short, 0); err != nil && err.At != r.Offset() || err == nil && r.Offset() != len(body) {
				t.Fatalf("error %v at offset %d of %d", err, r.Offset(), len(body))
			}
		}
		ReadWhole(t, r, body, decode.Malformed, 4)
	})
}

// counted checks that bytes are counted by class without a tree as they are with one, whatever the frame says the body is.
func counted(tb testing.TB, format decode.Format, body []byte) {
	tb.Helper()
	d := dubbo.NewDecoder([]decode.Format{format})
	for _, header := range [][2]byte{{0xc0, 0}, {0, dubbo.StatusOK}, {0, 70}, {0xe0, 0}} {
		f := &dubbo.Frame{Body: body, Captured: len(body), MissingAt: len(body)}
		f.Flags, f.Status, f.BodyLen = header[0]|format.ID, header[1], len(body)
		want := d.Decode(f, dubbo.Values, new(dubbo.Dialects)).Parts
		sum := 0
		for _, n := range want {
			sum += int(n)
		}
		if sum != len(body) {
			tb.Fatalf("flags %02x: the classes have %d of %d bytes: %v", header[0], sum, len(body), want)
		}
		for range 2 { // with names that are new, and with known ones
			if got := d.Decode(f, dubbo.Parts, new(dubbo.Dialects)).Parts; got != want {
				tb.Fatalf("flags %02x: counted %v, in a tree %v", header[0], got, want)
			}
		}
	}
}

// printed checks that what a body prints without a tree is what its tree prints, whatever the frame says the body is. It returns how many of the frames
// did without a tree.
func printed(tb testing.TB, format decode.Format, body []byte) (without int) {
	tb.Helper()
	if _, prints := format.New().(decode.Printer); !prints {
		return 0
	}
	tree, d := dubbo.NewDecoder([]decode.Format{format}), dubbo.NewDecoder([]decode.Format{format})
	for _, header := range [][2]byte{{0xc0, 0}, {0, dubbo.StatusOK}} {
		f := &dubbo.Frame{Body: body, Captured: len(body), MissingAt: len(body)}
		f.Flags, f.Status, f.BodyLen = header[0]|format.ID, header[1], len(body)
		want := tree.Decode(f, dubbo.Values, new(dubbo.Dialects))
		for range 2 { // with names that are new, and with known ones
			for _, printing := range []decode.Printing{decode.PrintValues, decode.PrintParts} {
				d.Print(&decode.Printed{Printing: printing})
				got := d.Decode(f, dubbo.Values, new(dubbo.Dialects))
				require.Equal(tb, want.Parts, got.Parts)
				require.Equal(tb, want.Decoded, got.Decoded)
				require.Equal(tb, want.Group, got.Group)
				require.Equal(tb, want.Err, got.Err)
				if got.Printed == nil {
					continue
				}
				without++
				if printing == decode.PrintParts {
					var parts []byte
					want.Tree.EachPart(0, func(path []byte, _ decode.Class, _, bytes int) {
						parts = decode.AppendPart(append(parts, ','), path, bytes)
					})
					require.Equal(tb, string(parts), string(got.Printed.Parts))
					continue
				}
				if got.Kind == dubbo.Request {
					require.Equal(tb, string(want.AppendArguments(nil)), string(got.AppendArguments(nil)))
				} else {
					require.Equal(tb, string(want.AppendResult(nil)), string(got.AppendResult(nil)))
				}
				require.Equal(tb, string(want.AppendAttachments(nil, false)), string(got.AppendAttachments(nil, false)))
			}
		}
	}
	return without
}

// Prints checks that a body prints without a tree, and what its tree prints.
func Prints(tb testing.TB, f decode.Format, body []byte) {
	tb.Helper()
	require.Equal(tb, 4, printed(tb, f, body), "% x", body)
}

// Summary decodes a frame and writes what was understood: kind, envelope, values, why decoding stopped, parts.
func Summary(tb testing.TB, d *dubbo.Decoder, header, body []byte) string {
	tb.Helper()
	f := &dubbo.Frame{Body: body, Captured: len(body), MissingAt: len(body)}
	f.Flags, f.Status, f.BodyLen = header[2], header[3], len(body)
	m := d.Decode(f, dubbo.Values, new(dubbo.Dialects))
	s := []string{m.Kind.String(), m.Decoded}
	if n := m.Names; n != nil {
		s = append(s, fmt.Sprintf("%s %s:%s.%s(%s)", n.ProtocolVersion, n.Service, n.Version, n.Method, strings.Join(n.Types, ", ")))
	}
	if m.ExceptionClass != "" {
		s = append(s, m.ExceptionClass+": "+m.ExceptionMessage)
	}
	if m.ErrorMessage != "" {
		s = append(s, m.ErrorMessage)
	}
	top := Message{Tree: *m.Tree}
	for _, name := range []string{"args", "result", "attachments"} {
		if v := top.Value(name); v != "" {
			s = append(s, name+"="+v)
		}
	}
	if m.Err != nil {
		s = append(s, "!"+m.Err.Cause.String()+": "+m.Err.Expected)
	}
	sum := 0
	var parts []string
	for _, p := range m.Tree.Parts(nil, 2) {
		assert.Equal(tb, sum, p.Off, "parts are contiguous")
		sum += p.Bytes
		parts = append(parts, fmt.Sprintf("%s:%d", p.Path, p.Bytes))
	}
	assert.Equal(tb, len(body), sum, "parts add up to the body")
	return strings.Join(append(s, strings.Join(parts, " ")), " | ")
}

// Rig opens a class path with the classes of the committed captures. Its paths come from a package of a format.
func Rig(tb testing.TB, o classpath.Options) *classpath.Path {
	tb.Helper()
	return open(tb, o, "rig.jar")
}

// Models opens a class path with jars of the rig.
func Models(tb testing.TB, jars ...string) *classpath.Path {
	tb.Helper()
	return open(tb, classpath.Options{}, jars...)
}

func open(tb testing.TB, o classpath.Options, jars ...string) *classpath.Path {
	tb.Helper()
	for _, jar := range jars {
		o.Paths = append(o.Paths, "../../../../testdata/models/"+jar)
	}
	p, err := classpath.Open(o)
	require.NoError(tb, err)
	tb.Cleanup(func() { assert.NoError(tb, p.Close()) })
	return p
}

// RigOptimizer lists the classes that peers of the rig have registered.
const RigOptimizer = "org.dubbowire.rig.apache.Optimizer"

// List writes a list of registered classes and returns its file.
func List(tb testing.TB, classes ...string) string {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "classes.txt")
	require.NoError(tb, os.WriteFile(name, []byte(strings.Join(classes, "\n")+"\n"), 0o600))
	return name
}

// skimmed checks that what a format tells at a glance is what its reader says: where the texts of an envelope end, if they are ASCII, and the kind of a
// result.
func skimmed(tb testing.TB, format decode.Format, body []byte) {
	tb.Helper()
	r := format.New()
	if format.Skim != nil {
		for n := 1; n <= len(dubbo.EnvelopeTexts); n++ {
			end := format.Skim(body, n)
			if end < 0 || !decode.IsASCII(body[:end]) {
				break
			}
			r.Reset(body, decode.Malformed, nil)
			for range n {
				r.SkipText()
			}
			if r.Err() != nil || r.Offset() != end {
				tb.Fatalf("%d texts end at offset %d at a glance, at %d for the reader: %v", n, end, r.Offset(), r.Err())
			}
		}
	}
	if format.SkimKind == nil {
		return
	}
	if kind, size := format.SkimKind(body); kind >= 0 {
		r.Reset(body, decode.Malformed, nil)
		if got := r.ResultKind(); r.Err() != nil || got != byte(kind) || r.Offset() != size {
			tb.Fatalf("result kind %d of %d bytes at a glance, %d of %d for the reader: %v", kind, size, got, r.Offset(), r.Err())
		}
	}
}
