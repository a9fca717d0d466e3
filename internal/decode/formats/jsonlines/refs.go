package jsonlines

import (
	"bytes"
	"strconv"
	"strings"

	"dubbo-wire/internal/decode"
)

// fastjson writes an object that it wrote before, or is writing, as {"$ref": path} (JSONSerializer.writeReference,
// SerialContext.toString): "$" is the value of the whole text, "@" the object that contains the reference, ".." the container of that
// object, "$.items[3].owner" a path from the root. From 1.2.60 on a backslash precedes each character of a name that is
// neither a letter nor a digit.

// referenceStart is the start of such an object.
const referenceStart = `{"$ref":"`

// references finds the targets of paths. It visits each node once, however many paths lead through it.
type references struct {
	root   int // the first node of the text
	inside int // the innermost open object or list
	known  map[int]*offspring
}

// offspring indexes the elements and members of a node that were visited.
type offspring struct {
	next  int // the first child that was not visited to its end
	items []int
	names map[string]int
	key   string // the last key, if that is a number
}

// begin starts a text, whose first node has that number.
func (f *references) begin(root int) {
	f.root, f.inside = root, -1
	clear(f.known)
}

// reference takes a reference if one comes next. A reference without a target is recorded as the member that it is written
// as.
func (r *Reader) reference(l decode.Label, name string, index int) bool {
	text := r.Buf[r.Off:r.end]
	if !bytes.HasPrefix(text, []byte(referenceStart)) {
		return false
	}
	n := referenceEnd(text)
	if n == 0 {
		return false
	}
	path := ""
	target, ok := -1, false
	if r.Values() {
		path = Unquote(text[len(referenceStart) : n-len(`"}`)])
		target, ok = r.refs.find(r.Tree, path)
	}
	if ok || !r.Values() {
		r.Off += n
		r.Leaf(decode.Ref, l, name, index).SetNum(int64(max(target, 0)))
		return true
	}
	r.Open(decode.Map, l, name, index)
	r.Leaf(decode.String, decode.ByMember, "$ref", 0).SetText("$ref")
	r.Off += n
	r.Leaf(decode.String, decode.ByEntry, "$ref", 0).SetText(path)
	r.Close()
	return true
}

// referenceEnd returns the length of the reference at the start of text, 0 if the object has further members. Releases
// before 1.2.60 write a quote in a name without a backslash.
func referenceEnd(text []byte) int {
	quote := stringEnd(text, len(referenceStart)-1)
	if quote > 0 && quote < len(text) && text[quote] == '}' {
		return quote + 1
	}
	if quote > 0 && quote < len(text) && (text[quote] == ',' || text[quote] == ' ') {
		return 0
	}
	if n := bytes.Index(text, []byte(`"}`)); n >= len(referenceStart) {
		return n + len(`"}`)
	}
	return 0
}

// find returns the node that path leads to, among the nodes read so far.
func (f *references) find(t *decode.Tree, path string) (node int, ok bool) {
	if len(t.Nodes) <= f.root || f.inside < 0 {
		return -1, false
	}
	switch {
	case path == "@":
		return f.inside, true
	case path == "..":
		up := int(t.Nodes[f.inside].Parent)
		return up, up >= f.root
	case path == "" || path[0] != '$':
		return -1, false
	}
	node, ok = f.root, true
	for path = path[1:]; ok && path != ""; {
		node, path, ok = f.step(t, node, path)
	}
	return node, ok
}

// maxNames limits the ways to split a path that are tried: releases before 1.2.60 write names that contain dots without
// a backslash.
const maxNames = 16

// step goes from a node to one of its children. rest is the path after it.
func (f *references) step(t *decode.Tree, node int, path string) (child int, rest string, ok bool) {
	o := f.offspring(t, node)
	switch path[0] {
	case '[':
		end := strings.IndexByte(path, ']')
		if end < 0 {
			return -1, "", false
		}
		if t.Nodes[node].Kind != decode.List { // a key that is an Integer
			child, ok = o.names[path[1:end]]
			return child, path[end+1:], ok
		}
		i, err := strconv.Atoi(path[1:end])
		if err != nil || i < 0 || i >= len(o.items) {
			return -1, "", false
		}
		return o.items[i], path[end+1:], true
	case '.':
		path = path[1:]
		name, n := unescaped(path)
		if child, ok = o.names[name]; ok {
			return child, path[n:], true
		}
		for end, tries := 0, 0; tries < maxNames && end < len(path); tries++ {
			next := strings.IndexAny(path[end+1:], ".[")
			if next < 0 {
				end = len(path)
			} else {
				end += 1 + next
			}
			if child, ok = o.names[path[:end]]; ok {
				return child, path[end:], true
			}
		}
	}
	return -1, "", false
}

// unescaped returns the name at the start of a path and how long it is there.
func unescaped(path string) (name string, n int) {
	n = strings.IndexAny(path, `.[\`)
	if n < 0 {
		return path, len(path)
	}
	if path[n] != '\\' {
		return path[:n], n
	}
	b := []byte(path[:n])
	for ; n < len(path) && path[n] != '.' && path[n] != '['; n++ {
		if path[n] == '\\' && n+1 < len(path) {
			n++
		}
		b = append(b, path[n])
	}
	return string(b), n
}

// offspring returns the children of a node that were read so far.
func (f *references) offspring(t *decode.Tree, node int) *offspring {
	o := f.known[node]
	if o == nil {
		if f.known == nil {
			f.known = map[int]*offspring{}
		}
		o = &offspring{next: node + 1, names: map[string]int{}}
		f.known[node] = o
	}
	for i := o.next; i < len(t.Nodes) && int(t.Nodes[i].Parent) == node; {
		n := &t.Nodes[i]
		o.see(n, i)
		if int(n.End) == i+1 && i+1 < len(t.Nodes) && int(t.Nodes[i+1].Parent) == i { // still open
			break
		}
		i = int(n.End)
		o.next = i
	}
	return o
}

// see indexes a child. A child that was still open is indexed again.
func (o *offspring) see(n *decode.Node, i int) {
	switch n.Label {
	case decode.ByIndex:
		if int(n.Index) == len(o.items) {
			o.items = append(o.items, i)
		}
	case decode.ByKey:
		o.key = ""
		if n.Kind == decode.Int {
			o.key = strconv.FormatInt(n.Num, 10)
		}
	case decode.ByField, decode.ByEntry:
		name := n.Name
		if name == "" {
			name = o.key
		}
		if _, twice := o.names[name]; !twice {
			o.names[name] = i
		}
	}
}
