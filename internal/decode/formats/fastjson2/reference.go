package fastjson2

import (
	"strings"

	"dubbo-wire/internal/decode"
)

// A reference is a path from the document's root, such as $.users[1].name; ".." is the object, map or list that it
// stands in, "#-1" the path of the reference before it. In names a backslash stands before marks. An entry of a map is
// named by its key, or by its place where the key is an object.
//
// A path is what the writer counted while it wrote (JSONWriter.setPath, popPath), which is not always where the value lies:
// see [paths].

// references finds the nodes that paths lead to. The nodes of a document are looked at when its first reference is met.
type references struct {
	root int
	last string // the path before
	led  int32  // the node it led to
	ways [len(ways)]paths
}

func (f *references) forget(root int) {
	f.root, f.last, f.led = root, "", -1
	for i, w := range ways {
		f.ways[i].forget(root, w)
	}
}

// reference takes a reference. One that leads to nothing or to several values, which Java reads as null or as something
// else, stays what it is.
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
		// Where it leads is of no use without values, and a path costs time.
		if n := r.Leaf(decode.Ref, l, name, index); n != nil {
			n.Num = int64(r.refs.root)
		}
		return
	}
	node := r.find(path.string())
	switch {
	case node < 0:
		r.Open(decode.Map, l, name, index)
		if n := r.LeafAt(decode.String, decode.ByKey, "$ref", 0, r.Off, r.Off); n != nil {
			n.Text = "$ref"
		}
		if n := r.Leaf(decode.String, decode.ByEntry, "$ref", 0); n != nil {
			n.Text = r.refs.last
		}
		r.Close()
	case r.Tree.Nodes[node].Kind == decode.Null: // Optional.empty(), which is one object everywhere
		r.Leaf(decode.Null, l, name, index)
	default:
		if n := r.Leaf(decode.Ref, l, name, index); n != nil {
			n.Num = int64(node)
		}
	}
}

// find returns the node that path leads to, -1 if it leads to none or to several.
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
	// 2.0.48 and 2.0.49 lose the root behind some numbers in fields declared as Object.
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

// segment cuts a name off a path, which ends at the next mark that no backslash stands before.
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
