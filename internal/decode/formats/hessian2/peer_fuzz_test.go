package hessian2

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/dev/streams"
	"dubbo-wire/internal/dev/testkit"
)

// Bodies read by the walk and by dubbo-go-hessian2, value by value: both must take the same bytes for each, and find as
// many objects, lists, maps and strings in it. dubbo-go-hessian2 sees only what the walk has accepted.

// tally is what a value holds, each thing once, however often it is referred to.
type tally struct{ objects, lists, maps, strings int }

// countNodes tally in a subtree. known is false where dubbo-go-hessian2 makes something else of what it reads: types of
// its own, or maps in which two fields of one name are one.
func countNodes(tree *decode.Tree, i int) (c tally, known bool) {
	known = true
	for k := i; k < int(tree.Nodes[i].End); k++ {
		n := &tree.Nodes[k]
		switch n.Kind {
		case decode.Object:
			c.objects++
			// What it knows of the JDK, and Hessian's stand-ins for it, becomes a type of its own.
			known = known && !strings.HasPrefix(n.Class, "java") && !strings.Contains(n.Class, ".caucho.") && distinctFields(tree, k)
			// An exception without a stack trace is nil to it.
			known = known && (fieldsOf{tree, k}).get("stackTrace", decode.Null) == nil
		case decode.Enum:
			c.objects++                         // its name is a string within
			known = known && n.End > int32(k+1) // else it is a reference to one
		case decode.List:
			c.lists++
			known = known && (n.Class == "" || !strings.HasPrefix(n.Class, "java.") && !holdsNull(tree, k))
		case decode.Map:
			c.maps++
			known = known && (n.Class == "" || n.Class == "java.util.HashMap") && distinctKeys(tree, k)
		case decode.String:
			c.strings++
		case decode.Decimal, decode.Custom, decode.Alias, decode.Opaque, decode.Char:
			known = false
		case decode.Ref:
			known = known && !isOtherSlice(tree, int(n.Num), k)
		case decode.Date:
			known = known && n.End == int32(k+1)
		case decode.Int, decode.Float32, decode.Float64, decode.Bool:
			known = known && n.End == int32(k+1) // else it was written as an object
		}
	}
	return c, known
}

// isOtherSlice reports whether node i is a list for which a reference at node ref looks like another one: it is empty, or not read to its end.
func isOtherSlice(tree *decode.Tree, i, ref int) bool {
	n := &tree.Nodes[i]
	return n.Kind == decode.List && (ref < int(n.End) || !slices.ContainsFunc(tree.Nodes[i+1:n.End], func(n decode.Node) bool { return n.Kind != decode.Overhead }))
}

// holdsNull reports whether an element of a list is null: in an array of texts it makes an empty one of it.
func holdsNull(tree *decode.Tree, i int) bool {
	for c := i + 1; c < int(tree.Nodes[i].End); c = int(tree.Nodes[c].End) {
		if tree.Nodes[c].Kind == decode.Null {
			return true
		}
	}
	return false
}

// loneSurrogates reports whether a text of a subtree is not UTF-16: there dubbo-go-hessian2 loses its place.
func loneSurrogates(tree *decode.Tree, i int) bool {
	for k := i; k < int(tree.Nodes[i].End); k++ {
		if n := &tree.Nodes[k]; strings.ContainsRune(n.Text+n.Class+n.Name, utf8.RuneError) {
			return true
		}
	}
	return false
}

func distinctFields(tree *decode.Tree, i int) bool {
	seen := map[string]bool{}
	for c := i + 1; c < int(tree.Nodes[i].End); c = int(tree.Nodes[c].End) {
		n := &tree.Nodes[c]
		if n.Kind == decode.Overhead {
			continue
		}
		if seen[n.Name] || n.Name == "_class" {
			return false
		}
		seen[n.Name] = true
	}
	return true
}

// distinctKeys reports whether all keys are texts or numbers, each once.
func distinctKeys(tree *decode.Tree, i int) bool {
	type key struct {
		kind decode.Kind
		text string
		num  int64
	}
	seen := map[key]bool{}
	for c := i + 1; c < int(tree.Nodes[i].End); c = int(tree.Nodes[c].End) {
		n := &tree.Nodes[c]
		if n.Kind == decode.Overhead || n.Label != decode.ByKey {
			continue
		}
		k := key{n.Kind, n.Text, n.Num}
		if n.Kind != decode.String && n.Kind != decode.Int || seen[k] {
			return false
		}
		seen[k] = true
	}
	return true
}

// countValue tally in what dubbo-go-hessian2 made.
func countValue(v reflect.Value, c *tally, seen map[any]bool) {
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && !seen[v.Pointer()] {
			seen[v.Pointer()] = true
			countValue(v.Elem(), c, seen)
		}
	case reflect.String:
		c.strings++
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		if v.Len() > 0 {
			if seen[v.Pointer()] {
				return
			}
			seen[v.Pointer()] = true
		}
		c.lists++
		for i := range v.Len() {
			countValue(v.Index(i), c, seen)
		}
	case reflect.Map:
		if seen[v.Pointer()] {
			return
		}
		seen[v.Pointer()] = true
		isObject := v.Type().Key().Kind() == reflect.String && v.MapIndex(reflect.ValueOf(hessian.ClassKey)).IsValid()
		if isObject {
			c.objects++
		} else {
			c.maps++
		}
		for it := v.MapRange(); it.Next(); {
			if isObject {
				if it.Key().String() != hessian.ClassKey {
					countValue(it.Value(), c, seen)
				}
				continue
			}
			countValue(it.Key(), c, seen)
			countValue(it.Value(), c, seen)
		}
	}
}

// comparePeer reads a body as one value after the other, and reports how many were compared and in how many of them what
// they hold was counted. what names the body in failures; made is one that no program sent: of such dubbo-go-hessian2
// refuses more than the walk.
func comparePeer(t *testing.T, body []byte, what string, made bool) (compared, counted int) {
	tree := decode.Tree{WithValues: true}
	r := New()
	r.Reset(body, decode.Malformed, &tree)
	type value struct{ node, end int }
	var values []value
	for r.Offset() < len(body) && r.Err() == nil {
		node := len(tree.Nodes)
		r.Value(decode.ByField, "v", 0, "")
		if r.Err() == nil {
			values = append(values, value{node, r.Offset()})
		}
	}
	if len(values) == 0 {
		return 0, 0
	}
	body = body[:values[len(values)-1].end]
	seen := map[any]bool{} // a value may refer to one before it
	d := hessian.NewDecoderSize(body, max(len(body), 16))
	for _, v := range values {
		if loneSurrogates(&tree, v.node) {
			return compared, counted
		}
		theirs, err := decodePeer(d)
		want, known := countNodes(&tree, v.node)
		if err != nil || theirs == nil && d.Buffered() != len(body)-v.end {
			var p peerPanic
			if !known || made || errors.As(err, &p) {
				return compared, counted // what it cannot read it cannot skip
			}
			require.NoError(t, err, "%s, value at byte %d: % x", what, v.end, body[:min(len(body), 200)])
		}
		if made && !known && d.Buffered() != len(body)-v.end {
			return compared, counted // fields of a class of its own
		}
		compared++
		require.Equal(t, len(body)-v.end, d.Buffered(), "%s: bytes behind the value that ends at %d", what, v.end)
		var have tally
		countValue(reflect.ValueOf(theirs), &have, seen)
		if !known {
			continue
		}
		counted++
		require.Equal(t, want, have, "%s: value that ends at %d: %s", what, v.end, body[:min(len(body), 200)])
	}
	return compared, counted
}

// peerPanic is a panic of dubbo-go-hessian2.
type peerPanic struct{ v any }

func (p peerPanic) Error() string { return "panic" }

func decodePeer(d *hessian.Decoder) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = peerPanic{p}
		}
	}()
	return d.Decode()
}

// capturedBodies returns the bodies in Hessian2 of a capture, each once, as far as their streams lie in it without holes.
func capturedBodies(tb testing.TB, file string) [][]byte {
	bytesOf, order := streams.Of(tb, file)
	var bodies [][]byte
	seen := map[string]bool{}
	for _, w := range order {
		for b := bytesOf[w]; ; {
			i := bytes.Index(b, []byte{0xda, 0xbb})
			if i < 0 || len(b) < i+16 {
				break
			}
			h := b[i:]
			n := int(binary.BigEndian.Uint32(h[12:]))
			if h[2]&0x1f != Format.ID || n > len(h)-16 {
				b = b[i+2:]
				continue
			}
			if body := h[16 : 16+n]; !seen[string(body)] {
				seen[string(body)] = true
				bodies = append(bodies, body)
			}
			b = h[16+n:]
		}
	}
	return bodies
}

// TestPeerReadsCaptures compares all Hessian2 bodies of the committed captures.
func TestPeerReadsCaptures(t *testing.T) {
	files, err := filepath.Glob("../../../../testdata/captures/*hessian2*.pcap*")
	require.NoError(t, err)
	more, err := filepath.Glob("../../../../testdata/captures/bid-*.pcap*")
	require.NoError(t, err)
	bodies, compared, counted := 0, 0, 0
	for _, file := range append(files, more...) {
		for i, body := range capturedBodies(t, file) {
			if len(body) > 1<<17 {
				continue // it reads 10 MB a second
			}
			bodies++
			a, b := comparePeer(t, body, filepath.Base(file)+" "+strconv.Itoa(i), false)
			compared += a
			counted += b
		}
	}
	t.Logf("%d bodies, %d values, %d of them counted", bodies, compared, counted)
	assert.Greater(t, bodies, 500)
	assert.Greater(t, counted, bodies*4)
}

// FuzzPeer compares mutations of captured bodies.
func FuzzPeer(f *testing.F) {
	for _, name := range []string{"bid-plain.pcap", "edge-hessian2.pcap.zst"} {
		path := filepath.Join("../../../../testdata/captures", name)
		if _, err := os.Stat(path); err != nil {
			f.Fatal(err)
		}
		for i, body := range capturedBodies(f, path) {
			if len(body) < 2048 && i%3 == 0 {
				f.Add(body)
			}
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 4096 {
			return
		}
		used := testkit.CPU()
		comparePeer(t, body, "fuzzed", true)
		require.Less(t, used(), 10*time.Second)
	})
}
