package fastjson2

import (
	"strings"

	"dubbo-wire/internal/decode"
)

// A reference is a path from the document's root, such as $.users[1].name; ".." is the container of the reference, "#-1" the
// path of the previous reference. In names a backslash precedes punctuation. An entry of a map is named by its key, or by its
// index if the key is an object.
//
// The writer forms the path while it writes (JSONWriter.setPath, popPath), and it is not always the position of the value:
// see [paths].

// references finds the targets of paths. It visits the nodes of a document when the first reference is met.
type references struct {
	root int
	last string // the previous path
	led  int32  // its target
	ways [len(ways)]paths
}

func (f *references) forget(root int) {
	f.root, f.last, f.led = root, "", -1
	for i, w := range ways {
		f.ways[i].forget(root, w)
	}
}

// reference takes a reference. One without a single target, which Java reads as null or as another value, is recorded as the
// path that is written.
func (r *Reader) reference(l decode.Label, name string, index int) {
	r.Off++
	op := r.Byte("a path")
	if r.OK() && !isText(op) {
		r.FailAt(r.Off-1, decode.Malformed, "a path", found(op))
	}
	path := r.text(op)
	if !r.OK() {
		return
	}
	if !r.Values() {
		// Without values the target has no use, and finding it costs time.
		r.Leaf(decode.Ref, l, name, index).SetNum(int64(r.refs.root))
		return
	}
	node := r.find(path.string())
	switch {
	case node < 0:
		r.Open(decode.Map, l, name, index)
		r.LeafAt(decode.String, decode.ByKey, "$ref", 0, r.Off, r.Off).SetText("$ref")
		r.Leaf(decode.String, decode.ByEntry, "$ref", 0).SetText(r.refs.last)
		r.Close()
	case r.Tree.Nodes[node].Kind == decode.Null: // Optional.empty(), which is one object everywhere
		r.Leaf(decode.Null, l, name, index)
	default:
		r.Leaf(decode.Ref, l, name, index).SetNum(int64(node))
	}
}

// find returns the target of a path, -1 for no target or several ones.
func (r *Reader) find(path string) int32 {
	f := &r.refs
	if path == "#-1" {
		if f.last == ".." {
			return int32(r.inside)
		}
		return f.led
	}
	f.last, f.led = path, -1
	switch path {
	case "..":
		return int32(r.inside)
	case "":
		return -1
	}
	// 2.0.48 and 2.0.49 omit the root after some numbers in fields declared as Object.
	path = strings.TrimPrefix(path, "$")
	best, likely := int32(-1), 0
	for i := range f.ways {
		p := &f.ways[i]
		if met := f.ways[0].met; i > 0 && (!met.drift && !p.drift || !met.index && p.index) {
			continue // the same as one before
		}
		p.look(r.Tree, r.inside)
		if node, l := p.find(r.Tree, path); l > likely {
			best, likely = node, l
		}
	}
	f.led = best
	return best
}

// segment splits a name off a path. The name ends at the next punctuation without a backslash.
func segment(path string) (name, rest string) {
	if i := strings.IndexAny(path, `.[\`); i < 0 || path[i] != '\\' {
		if i < 0 {
			i = len(path)
		}
		return path[:i], path[i:]
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; c {
		case '\\':
			if i++; i < len(path) {
				b.WriteByte(path[i])
			}
		case '.', '[':
			return b.String(), path[i:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
