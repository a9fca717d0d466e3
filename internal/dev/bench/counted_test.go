package bench

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/dev/bench/bodies"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/rpc"
)

// distinct returns the bodies of requests and responses in all committed captures, each once, by serialization and the
// capture they come from first.
func distinct(t *testing.T) map[string][]*bodies.Body {
	seen := map[string]bool{}
	all := map[string][]*bodies.Body{}
	for _, file := range testkit.Paths(6) {
		found, err := bodies.Read(file)
		require.NoError(t, err, file)
		for _, b := range found {
			k := fmt.Sprintf("%x %x %s", b.Flags, b.Status, b.Body)
			if b.Format == nil || b.Event() || seen[k] {
				continue
			}
			seen[k] = true
			name := b.Format.FullName() + " " + strings.SplitN(filepath.Base(file), ".pcap", 2)[0]
			all[name] = append(all[name], b)
		}
	}
	return all
}

// twice reads frames as analyze --parts does and into trees.
type twice struct {
	id              byte // of the serialization
	counting, trees *dubbo.Decoder
}

func newTwice(f decode.Format) *twice {
	return &twice{f.ID, dubbo.NewDecoder([]decode.Format{f}), dubbo.NewDecoder([]decode.Format{f})}
}

// compare requires that both say the same of a frame. request is that of its call, or nil.
func (d *twice) compare(t *testing.T, f *dubbo.Frame, request *rpc.Operation) *dubbo.Message {
	var dialects dubbo.Dialects
	if request != nil {
		dialects.Answer(request)
	}
	tree := d.trees.Decode(f, rpc.Values, &dialects)
	counted := d.counting.Decode(f, rpc.Parts, &dialects)
	if tree.Parts != counted.Parts || (tree.Err == nil) != (counted.Err == nil) || tree.ResultKind != counted.ResultKind {
		t.Fatalf("tree %v, %v\ncounted %v, %v\n%q", tree.Parts, tree.Err, counted.Parts, counted.Err, f.Body)
	}
	if tree.Err != nil {
		want, got := *tree.Err, *counted.Err
		if want.Misfit != nil && len(want.Misfit.Causes) > 0 {
			want.Expected, got.Expected = "", "" // names the class of the first change
		}
		want.Misfit, got.Misfit = nil, nil // what changes of a class explain is not looked for in each body
		require.Equal(t, want, got, "%q", f.Body)
	}
	return counted
}

// madeShare is how many of the bodies, in percent, need a tree after all.
var madeShare = map[string]int{
	"dubbo":     25, // streams of Java serialization inside
	"fastjson2": 2,  // references that may lead nowhere
}

// What analyze --parts counts on the way is what the tree of the same body says, for what Dubbo wrote, for bodies that
// were cut, and for damaged ones.
func TestCountedIsTheTree(t *testing.T) {
	damages := 40
	switch {
	case testing.Short():
		damages = 5
	case testkit.All:
		damages = 200
	}
	for name, all := range distinct(t) {
		t.Run(name, func(t *testing.T) {
			format := *all[0].Format
			if os.Getenv("COUNT_ALL") != "" {
				format.Counts = true
			}
			r := rand.New(rand.NewPCG(1, uint64(len(all))))
			d := newTwice(format)
			trees := 0
			var last *bodies.Body
			for _, b := range all {
				before := d.counting.Trees()
				m := d.compare(t, &b.Frame, nil)
				made := d.counting.Trees() - before
				if m.Err == nil && (m.Names == nil || !m.Names.Generic) {
					trees += made
					last = b
				}
			}
			if format.Counts {
				require.LessOrEqual(t, trees, len(all)*madeShare[format.Name]/100+min(2, madeShare[format.Name]), "trees were made, at last for %q", last)
			}
			for range damages * len(all) / 20 {
				b := all[r.IntN(len(all))]
				if len(b.Body) == 0 || len(b.Body) > 1<<14 {
					continue
				}
				d.compare(t, damaged(r, b), nil)
			}
		})
	}
}

// damaged returns a copy of a body with other bytes in some places, of which the end may be missing.
func damaged(r *rand.Rand, b *bodies.Body) *dubbo.Frame {
	f := b.Frame
	f.Body = bytes.Clone(f.Body)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(f.Body))
		switch r.IntN(5) {
		case 0:
			f.Body[at] = byte(r.Uint32())
		case 1:
			f.Body[at] = f.Body[r.IntN(len(f.Body))]
		case 2:
			f.Body[at] += byte(r.IntN(5) - 2)
		case 3:
			f.Body[at] ^= 0x80
		case 4: // a byte less
			if len(f.Body) > 1 {
				f.Body = append(f.Body[:at], f.Body[at+1:]...)
				f.BodyLen, f.Captured, f.MissingAt = len(f.Body), len(f.Body), len(f.Body)
			}
		}
	}
	switch r.IntN(3) {
	case 0: // the body ends early
		f.Body = f.Body[:r.IntN(len(f.Body))]
		f.BodyLen, f.Captured = len(f.Body), len(f.Body)
	case 1: // the capture does
		f.Body = f.Body[:r.IntN(len(f.Body))]
		f.Captured, f.Short = len(f.Body), decode.Cut
	}
	return &f
}

// The same with the classes of the application, which tell where values end.
func TestCountedWithClasses(t *testing.T) {
	damages := 20
	switch {
	case testing.Short():
		damages = 2
	case testkit.All:
		damages = 200
	}
	p, err := classpath.Open(classpath.Options{Paths: []string{filepath.Join(testkit.Root(), "testdata", "models", "rig.jar")}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	for _, f := range formats.With(p) {
		if f.Capture == "" || f.Classes != decode.DepthFull && !f.TypedResults {
			continue
		}
		t.Run(f.FullName(), func(t *testing.T) {
			found, err := bodies.Read(filepath.Join(testkit.Dir(), f.Capture))
			require.NoError(t, err)
			all := slices.DeleteFunc(found, func(b *bodies.Body) bool { return b.Event() || b.Operation == nil || len(b.Body) == 0 })
			d := newTwice(f)
			for range 2 {
				for _, b := range all {
					d.compare(t, &b.Frame, b.Operation)
				}
			}
			r := rand.New(rand.NewPCG(1, uint64(len(all))))
			for range damages * len(all) / 20 {
				if b := all[r.IntN(len(all))]; len(b.Body) < 1<<14 {
					d.compare(t, damaged(r, b), b.Operation)
				}
			}
			for _, b := range all { // lists of many objects: only they take every way through the loops that count
				if b.Method == "queryPost" && len(b.Body) >= 1<<12 {
					for range damages {
						d.compare(t, damaged(r, b), b.Operation)
					}
				}
			}
		})
	}
}

// Lists in lists are counted as deep as a tree has them, and no deeper.
func TestCountedDeep(t *testing.T) {
	list := hex.EncodeToString([]byte("java.util.ArrayList"))
	for _, row := range []struct{ format, before, list, inner, after string }{
		{"dubbo", "1a", "8b928581", "94", ""},
		{"hessian2", "91", "79", "90", ""},
		{
			"java", "aced0005 77020101 7372 0013" + list + "7881d21d99c7619d 03 0001 49000473697a65 7870 00000001 770400000001",
			"7371007e0000 00000001 770400000001", "70", "78",
		},
		{"msgpack", "01", "91", "01", ""},
		{"smartbuf", "1c160210 18", "b703", "00", ""},
	} {
		all := formats.All()
		d := newTwice(all[slices.IndexFunc(all, func(f decode.Format) bool { return f.Name == row.format })])
		for depth := 3; depth < decode.MaxDepth+3; depth++ {
			if depth == 10 {
				depth = decode.MaxDepth - 5
			}
			body := formattest.Hex(row.before, strings.Repeat(row.list, depth), row.inner, strings.Repeat(row.after, depth+1))
			f := &dubbo.Frame{Header: dubbo.Header{Flags: d.id, Status: 20, BodyLen: len(body)}, Body: body, Captured: len(body), MissingAt: len(body)}
			if m := d.compare(t, f, nil); depth < 10 {
				require.Nil(t, m.Err, row.format)
			}
		}
	}
}
