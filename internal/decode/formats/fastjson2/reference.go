package fastjson2

import (
	"strconv"
	"strings"

	"dubbo-wire/internal/decode"
)

// A reference is a path from the document's root, such as $.users[1].name; ".." is the object, map or list that it
// stands in, "#-1" the path of the reference before it. In names a backslash stands before marks. An entry of a map is
// named by its key, or by its place where the key is an object.

// step leads from a container to an entry by name, or, with name "", by index.
type step struct {
	from, index int32
	name        string
}

// references finds the nodes that paths lead to. The nodes of a document are looked at once, when its first reference
// is met.
type references struct {
	root, seen int
	steps      map[step]int32
	last       string // the path before
	led        int32  // what it led to, -1: nothing
}

const keptSteps = 1 << 12

func (f *references) forget(root int) {
	if len(f.steps) > keptSteps {
		f.steps = nil
	}
	clear(f.steps)
	f.root, f.seen = root, root
	f.last, f.led = "", -1
}

// reference takes a reference. One that leads nowhere, which Java reads as null, is opaque.
func (r *Reader) reference(l decode.Label, name string, index int) {
	r.Off++
	start := r.Off
	op := r.Byte("a path")
	if r.OK() && !isText(op) {
		r.FailAt(start, decode.Malformed, "a path", found(op))
	}
	path := r.text(op)
	if !r.OK() {
		return
	}
	if r.Tree == nil {
		r.NeedTree() // to find out whether it leads to something
	}
	if !r.Values() {
		// The node is of no use without values, and a path costs time.
		if n := r.Leaf(decode.Ref, l, name, index); n != nil {
			n.Num = int64(r.refs.root)
		}
		return
	}
	node := r.find(path.string())
	if node < 0 {
		r.blame(&decode.Error{Cause: decode.Unsupported, At: start, Expected: "a path to a value of the document", Found: path.string()})
		r.Leaf(decode.Opaque, l, name, index)
		return
	}
	if n := r.Leaf(decode.Ref, l, name, index); n != nil {
		n.Num = int64(node)
	}
}

// find returns the node that path leads to, -1 if it leads to none.
func (r *Reader) find(path string) int32 {
	f := &r.refs
	if path != "#-1" {
		f.last, f.led = path, -1
		if path != "" && path[0] == '$' {
			f.look(r.Tree)
			f.led = f.walk(path[1:])
		}
	}
	if f.last == ".." {
		return int32(r.inside)
	}
	return f.led
}

// look notes the way to each node that was added since the last look.
func (f *references) look(t *decode.Tree) {
	if f.steps == nil {
		f.steps = make(map[step]int32)
	}
	for ; f.seen < len(t.Nodes); f.seen++ {
		i := int32(f.seen)
		switch n := &t.Nodes[i]; n.Label {
		case decode.ByIndex:
			f.steps[step{from: n.Parent, index: n.Index}] = i
		case decode.ByField:
			f.named(n.Parent, n.Name, i)
		case decode.ByKey:
			// No path names an entry by the place of its key; the key itself is only reached through it.
			f.steps[step{n.Parent, n.Index, "key"}] = i
		case decode.ByEntry:
			f.steps[step{from: n.Parent, index: n.Index}] = i
			if name, ok := keyName(t, f.steps[step{n.Parent, n.Index, "key"}]); ok {
				f.named(n.Parent, name, i)
			}
		}
	}
}

// named notes the way to a named node. Releases before 2.0.57 write a character of two UTF-16 units, other than the
// first, as two question marks.
func (f *references) named(from int32, name string, node int32) {
	f.steps[step{from, -1, name}] = node
	for i, c := range name {
		if c > 0xffff {
			var b strings.Builder
			b.WriteString(name[:i])
			for _, c := range name[i:] {
				if c > 0xffff {
					b.WriteString("??")
				} else {
					b.WriteRune(c)
				}
			}
			if _, ok := f.steps[step{from, -1, b.String()}]; !ok {
				f.steps[step{from, -1, b.String()}] = node
			}
			return
		}
	}
}

// keyName returns the name that a key gives to its entry in a path.
func keyName(t *decode.Tree, key int32) (string, bool) {
	switch n := &t.Nodes[key]; n.Kind {
	case decode.String, decode.Char, decode.Enum:
		return n.Text, true
	case decode.Int:
		return strconv.FormatInt(n.Num, 10), true
	case decode.Bool:
		return strconv.FormatBool(n.Num != 0), true
	}
	return "", false
}

// walk follows path from the document's root.
func (f *references) walk(path string) int32 {
	at := int32(f.root)
	for path != "" {
		next := step{from: at, index: -1}
		switch path[0] {
		case '.':
			next.name, path = segment(path[1:])
		case '[':
			end := strings.IndexByte(path, ']')
			if end < 0 {
				return -1
			}
			index, err := strconv.ParseUint(path[1:end], 10, 31)
			if err != nil {
				return -1
			}
			next.index = int32(index)
			path = path[end+1:]
			if key, ok := f.steps[step{at, next.index, "key"}]; ok && path == ".key" {
				return key
			}
		default:
			return -1
		}
		node, ok := f.steps[next]
		if !ok {
			return -1
		}
		at = node
	}
	return at
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
