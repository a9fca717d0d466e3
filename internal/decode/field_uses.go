package decode

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
)

// DeclaredType is the type of objects of which only some fields are on the wire.
type DeclaredType struct {
	// Fields are the names of all fields.
	Fields []string
}

// maxTypes bounds the types of a body.
const maxTypes = 64

// SetType says which fields the type of object i, which may be -1, declares.
func (t *Tree) SetType(i int, d *DeclaredType) {
	n := t.Node(i)
	if n == nil || d == nil {
		return
	}
	k := slices.Index(t.types, d)
	if k < 0 {
		if k = len(t.types); k == maxTypes {
			return
		}
		t.types = append(t.types, d)
	}
	n.Num = int64(k + 1)
}

// typeOf returns the type of an object, nil if it is not known.
func (t *Tree) typeOf(n *Node) *DeclaredType {
	if n.Kind != Object || n.Num <= 0 || n.Num > int64(len(t.types)) {
		return nil
	}
	return t.types[n.Num-1]
}

// FieldUse is how the field at a path is used, in one body or in several. In such paths [*] stands for all elements and entries.
type FieldUse struct {
	Path string
	FieldCounts
}

// FieldCounts are the values of a field, and their bytes.
type FieldCounts struct {
	// Defaults counts the values that are null, 0, false, or an empty text or collection, Set all others. Both are 0 for a field of the schema
	// that is not on the wire.
	Set, Defaults int64
	// DefaultBytes are the bytes of the defaults, with the names or tags in front of them.
	DefaultBytes int64
	// UndeclaredBytes are those of values that the schema does not have a field for, with their tags.
	UndeclaredBytes int64
}

// NeverSet reports whether the field has no value but its default.
func (f *FieldUse) NeverSet() bool { return f.Set == 0 && f.Path != OtherPaths }

// Bytes returns the bytes of defaults and of values that the schema does not have.
func (f *FieldCounts) Bytes() int64 { return f.DefaultBytes + f.UndeclaredBytes }

func (f *FieldCounts) numbers() [4]*int64 {
	return [...]*int64{&f.Set, &f.Defaults, &f.DefaultBytes, &f.UndeclaredBytes}
}

func (f *FieldCounts) add(o *FieldCounts) {
	f.Set += o.Set
	f.Defaults += o.Defaults
	f.DefaultBytes += o.DefaultBytes
	f.UndeclaredBytes += o.UndeclaredBytes
}

// BodyFields are the fields of a body, by path. Many bodies are kept, so their numbers are packed: most take one byte.
type BodyFields struct {
	Keys   []string // may be those of other bodies, too, and must not be changed
	counts []byte   // four varints for each key
}

// PackFields returns a copy of the fields of a body.
func PackFields(list []FieldUse, known *KeyCache[string]) *BodyFields {
	var room [256]byte
	packed := room[:0]
	for i := range list {
		for _, n := range list[i].numbers() {
			packed = binary.AppendUvarint(packed, uint64(*n))
		}
	}
	return &BodyFields{known.Of(len(list), func(i int) string { return list[i].Path }), bytes.Clone(packed)}
}

// All yields the fields with their counts.
func (b *BodyFields) All(yield func(string, FieldCounts) bool) {
	packed := b.counts
	for _, k := range b.Keys {
		var f FieldCounts
		for _, to := range f.numbers() {
			n, size := binary.Uvarint(packed)
			*to, packed = int64(n), packed[size:]
		}
		if !yield(k, f) {
			return
		}
	}
}

// FieldUses adds up the fields of bodies. The zero value is empty.
type FieldUses struct {
	// Messages is the number of bodies, Bytes their bytes.
	Messages, Bytes int64
	only            *BodyFields // if there is one body, as in most directions of many methods
	sums            *Listed[string, FieldCounts]
}

// all returns the fields. Their keys, and the values of several bodies, must not be changed.
func (u *FieldUses) all() (c Columns[string, FieldCounts]) {
	switch {
	case u.only != nil:
		c.Keys, c.Values = u.only.Keys, make([]FieldCounts, 0, len(u.only.Keys))
		for _, f := range u.only.All {
			c.Values = append(c.Values, f)
		}
	case u.sums != nil:
		c = u.sums.Columns
	}
	return c
}

// Len returns the number of fields.
func (u *FieldUses) Len() int {
	if u.only != nil {
		return len(u.only.Keys)
	}
	return len(u.all().Keys)
}

// Add adds the fields of a body, which are kept and must not be changed. Those that would exceed most have the path OtherPaths.
func (u *FieldUses) Add(body *BodyFields, bytes int64, most int) {
	if u.Messages == 0 && len(body.Keys) <= most {
		u.only, u.Messages, u.Bytes = body, 1, bytes
		return
	}
	u.add(body.All, 1, bytes, most)
}

// Merge adds the fields of other bodies.
func (u *FieldUses) Merge(o *FieldUses, most int) {
	u.add(func(yield func(string, FieldCounts) bool) {
		for _, f := range o.List() { // in a fixed order, so that the same fields exceed the limit each time
			if !yield(f.Path, f.FieldCounts) {
				return
			}
		}
	}, o.Messages, o.Bytes, most)
}

func (u *FieldUses) add(fields iter.Seq2[string, FieldCounts], messages, bytes int64, most int) {
	u.Messages += messages
	u.Bytes += bytes
	if u.sums == nil {
		u.sums = &Listed[string, FieldCounts]{Columns: u.all()}
		u.sums.Keys = slices.Clip(u.sums.Keys)
		u.only = nil
	}
	for path, f := range fields {
		sum := u.sums.Find(path)
		if sum == nil {
			if len(u.sums.Keys) >= most {
				path = OtherPaths
			}
			if sum = u.sums.Find(path); sum == nil {
				sum = u.sums.Add(path, FieldCounts{})
			}
		}
		sum.add(&f)
	}
}

// List returns all fields: those with most bytes of defaults and of undeclared values first.
func (u *FieldUses) List() []FieldUse {
	all := u.all()
	list := make([]FieldUse, len(all.Keys))
	for i := range list {
		list[i] = FieldUse{all.Keys[i], all.Values[i]}
	}
	slices.SortFunc(list, func(a, b FieldUse) int {
		return cmp.Or(cmp.Compare(b.Bytes(), a.Bytes()), cmp.Compare(a.Path, b.Path))
	})
	return list
}

// Lacks reports whether a field beyond the limit had a value other than its default.
func (u *FieldUses) Lacks() bool {
	all := u.all()
	i := slices.Index(all.Keys, OtherPaths)
	return i >= 0 && all.Values[i].Set > 0
}

// NeverSet returns the fields that have no value but their default in all bodies, in the order of List. If fields exceeded the limit, the
// result is empty: some may have been set there.
func (u *FieldUses) NeverSet() []FieldUse {
	if u.Lacks() {
		return nil
	}
	return slices.DeleteFunc(u.List(), func(f FieldUse) bool { return !f.NeverSet() })
}

// Fields appends how the fields of arguments and results in a tree with values are used to dst, one for each path, in the order in which
// the body has them first. Fields deeper than Depth have the path OtherPaths. ok is false if something of them was not read: which fields
// have only defaults is not known then.
func (a *Anatomist) Fields(dst []FieldUse, t *Tree) (list []FieldUse, ok bool) {
	if !t.Values() {
		return dst, false
	}
	ok = true
	if a.rows == nil {
		a.rows = make(map[string]int)
	}
	clear(a.rows)
	if a.fields++; a.fields == 0 {
		clear(a.rowOf)
		a.paths.memory.forget() // it has rows, too
		a.fields = 1
	}
	p := &a.paths
	p.collapse = true
	p.reset(cmp.Or(a.Depth, anatomyDepth))
	from := len(dst)
	// row returns the index of a path in dst. If it is remembered, text is its number, else noMemory.
	row := func(text int32, path string) int {
		if i, ok := a.rowAt(text, path); ok {
			return i
		}
		if len(dst)-from >= maxAnatomyPaths {
			text, path = noMemory, OtherPaths
			if i, ok := a.rows[path]; ok {
				return i
			}
		}
		a.setRow(text, path, len(dst))
		dst = append(dst, FieldUse{Path: path})
		return len(dst) - 1
	}
	current := func() int { // that of the node entered last
		text := p.number()
		if text == noMemory {
			if i, ok := a.rows[string(p.buf)]; ok {
				return i
			}
			if len(dst)-from >= maxAnatomyPaths {
				return row(noMemory, OtherPaths)
			}
		}
		return row(text, p.collapsed())
	}
	tag, tagOf := int64(0), int32(-1) // bytes in front of the next value in a container
	for i := int32(0); i < int32(len(t.Nodes)); i++ {
		n := &t.Nodes[i]
		ok = ok && (!n.IsUnread() || n.Label == ByField && n.Index == Undeclared)
		if n.Parent < 0 && n.Label == ByField && n.Name != "args" && n.Name != "result" {
			i = n.End - 1
			continue
		}
		if tagOf != n.Parent {
			tag, tagOf = 0, n.Parent
		}
		if n.Kind == Overhead && n.Label == ByRole {
			tag = n.tag(tag)
			continue
		}
		if n.Label == ByIndex && n.End == i+1 && n.Kind != Object {
			continue
		}
		p.enter(t, i)
		if n.Label == ByMember {
			tag = int64(n.Len)
			continue
		}
		front := max(tag, 0)
		tag = 0
		if p.isField(t, i) {
			var known fieldRow // of the remembered path
			if p.at != noMemory {
				known = p.memory.nodes[p.at].row
			}
			set := int64(1)
			if known.body != a.fields {
				known = fieldRow{a.fields, int32(current())}
				switch {
				case !p.wrote(n, i):
					known.at, set = int32(row(noMemory, OtherPaths)), 0 // which of the fields at no other path it is does not matter
				case p.at != noMemory:
					p.memory.nodes[p.at].row = known
				}
			}
			f := &dst[known.at]
			switch {
			case n.Label == ByField && n.Index == Undeclared:
				f.Set += set
				f.UndeclaredBytes += front + t.bytesOf(i)
				i = n.End - 1
				continue
			case t.isDefault(i):
				f.Defaults++
				if b := t.bytesOf(i); b > 0 {
					f.DefaultBytes += front + b
				}
				i = n.End - 1
				continue
			}
			f.Set += set
		}
		if d := t.typeOf(n); d != nil && p.hasRoom(n, i) && !a.listed(p.collapsed(), d) {
			if p.at != noMemory {
				p.buf = append(p.buf[:0], p.collapsed()...)
			}
			length := len(p.buf)
			for _, name := range d.Fields {
				if len(dst)-from >= maxAnatomyPaths {
					break
				}
				p.segment(&Node{Label: ByField, Name: name})
				row(p.memory.number(p.buf), string(p.buf))
				p.buf = p.buf[:length]
			}
		}
	}
	clear(a.types)
	return dst, ok
}

// rowAt returns the index of a path in the fields of the current body, and whether it has one.
func (a *Anatomist) rowAt(text int32, path string) (i int, ok bool) {
	if text == noMemory || len(a.rows) > 0 {
		if i, ok = a.rows[path]; ok {
			return i, ok
		}
	}
	if text == noMemory || int(text) >= len(a.rowOf) || a.rowOf[text].body != a.fields {
		return 0, false
	}
	return int(a.rowOf[text].at), true
}

// setRow sets it.
func (a *Anatomist) setRow(text int32, path string, i int) {
	if text == noMemory {
		a.rows[path] = i
		return
	}
	for len(a.rowOf) <= int(text) {
		a.rowOf = append(a.rowOf, fieldRow{})
	}
	a.rowOf[text] = fieldRow{a.fields, int32(i)}
}

// tag returns the bytes of the tag that a piece of overhead is a part of, after those of the tag before it; -1 after several names, which
// are those of a class.
func (n *Node) tag(before int64) int64 {
	switch {
	case n.Name == "field" && before == 0:
		return int64(n.Len)
	case n.Name == "field":
		return -1
	case n.Name == "punct" && before > 0:
		return before + int64(n.Len)
	}
	return 0
}

// typeAt is a type of the objects at a path.
type typeAt struct {
	path string
	of   *DeclaredType
}

// listed reports whether the fields of the type of objects at a path were listed for this body, and notes that they are now.
func (a *Anatomist) listed(path string, d *DeclaredType) bool {
	k := typeAt{path, d}
	if _, ok := a.types[k]; ok {
		return true
	}
	if a.types == nil {
		a.types = make(map[typeAt]struct{})
	}
	if len(a.types) >= maxAnatomyPaths {
		return true
	}
	a.types[k] = struct{}{}
	return false
}

// container returns the index in open of the container of n, node i, which was entered last.
func (p *pathWriter) container(n *Node, i int32) int {
	k := len(p.open) - 1
	if n.End > i+1 {
		k-- // the last one is n
	}
	return k
}

// isField reports whether node i, which was entered last, is a field of an object, or a member of what may be one.
func (p *pathWriter) isField(t *Tree, i int32) bool {
	n := &t.Nodes[i]
	if n.Parent < 0 || n.Name == "" {
		return false
	}
	switch n.Label {
	case ByField:
		return t.Nodes[n.Parent].Kind == Object
	case ByEntry:
		k := p.container(n, i)
		return k >= 0 && p.open[k].members && identifier(n.Name)
	}
	return false
}

// wrote reports whether n, node i, which was entered last, has a path of its own.
func (p *pathWriter) wrote(n *Node, i int32) bool {
	if p.at != noMemory {
		return p.memory.nodes[p.at].own
	}
	k := p.container(n, i)
	return k >= 0 && isOwn(p.buf, p.open[k].length)
}

const anyElement = "[*]"

// hasRoom reports whether fields of object n, node i, which was entered last, have paths of their own.
func (p *pathWriter) hasRoom(n *Node, i int32) bool {
	segments := 1
	if n.End > i+1 {
		segments = p.open[len(p.open)-1].segments
	} else if k := len(p.open) - 1; k >= 0 {
		segments = p.open[k].segments + 1
	}
	return (p.depth == 0 || segments < p.depth) && p.length() < maxPath
}

// bytesOf returns the bytes of node i and all nodes in it.
func (t *Tree) bytesOf(i int32) (sum int64) {
	for k := i; k < t.Nodes[i].End; k++ {
		sum += int64(t.Nodes[k].Len)
	}
	return sum
}

// isDefault reports whether the value of node i, in a tree with values, is null, 0, false, or an empty text or collection.
func (t *Tree) isDefault(i int32) bool {
	switch n := &t.Nodes[i]; n.Kind {
	case Null:
		return true
	case Bool, Int:
		return n.Num == 0 && n.Text == ""
	case Float32, Float64:
		return n.Float == 0 && n.Text == ""
	case Char:
		return n.Text == "" || n.Text == "\x00"
	case String:
		return n.Text == "" && len(n.Raw) == 0
	case Bytes:
		return len(n.Raw) == 0
	case List, Map:
		for k := i + 1; k < n.End; k = t.Nodes[k].End {
			if c := &t.Nodes[k]; c.Kind != Overhead && c.Label != ByField {
				return false
			}
		}
		return true
	}
	return false
}
