package classfile

import (
	"cmp"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
)

// Duplicate says that classes are in two places.
type Duplicate struct {
	// Used and Ignored are the two places.
	Used, Ignored string
	// Classes is how many there are, and Differ how many of these are not the same in both places.
	Classes, Differ int
	// Names are the first few of those that differ, or of all if none does.
	Names []string
}

// duplicate is what a [Duplicate] is made of.
type duplicate struct {
	used, ignored   uint32 // archives
	classes, differ int
	entries         []entry // whose names are told
}

// duplicates counts the classes that are in two archives.
type duplicates struct {
	pairs map[[2]uint32]*duplicate
	read  int
}

// Bounds of what is found out about duplicates.
const (
	maxNames    = 5
	maxCompared = 10_000 // classes of folders that are read to compare them
)

func (d *duplicates) add(x *index, first, other entry) {
	if d.pairs == nil {
		d.pairs = map[[2]uint32]*duplicate{}
	}
	key := [2]uint32{first.archive, other.archive}
	p := d.pairs[key]
	if p == nil {
		p = &duplicate{used: first.archive, ignored: other.archive}
		d.pairs[key] = p
	}
	p.classes++
	differ := d.isOther(x, first, other)
	if differ {
		if p.differ++; p.differ == 1 {
			p.entries = nil
		}
	}
	if len(p.entries) < maxNames && (differ || p.differ == 0) {
		p.entries = append(p.entries, first)
	}
}

// isOther reports whether two class files are not the same.
func (d *duplicates) isOther(x *index, a, b entry) bool {
	if !a.inFolder && !b.inFolder {
		return a.crc != b.crc || a.size != b.size
	}
	if d.read++; d.read > maxCompared {
		return false
	}
	sum := func(e entry) (uint32, int) {
		if !e.inFolder {
			return e.crc, int(e.size)
		}
		data, _ := x.load(e)
		return crc32.ChecksumIEEE(data), len(data)
	}
	sumA, sizeA := sum(a)
	sumB, sizeB := sum(b)
	return sumA != sumB || sizeA != sizeB
}

// list returns the pairs in the order of the class path.
func (d *duplicates) list() []*duplicate {
	return slices.SortedFunc(maps.Values(d.pairs), func(a, b *duplicate) int {
		return cmp.Or(cmp.Compare(a.used, b.used), cmp.Compare(a.ignored, b.ignored))
	})
}

// duplicated names the classes that are in two places.
func (x *index) duplicated() []Duplicate {
	var all []Duplicate
	for _, p := range x.duplicates {
		d := Duplicate{Used: x.archives[p.used].place, Ignored: x.archives[p.ignored].place, Classes: p.classes, Differ: p.differ}
		for _, e := range p.entries {
			d.Names = append(d.Names, x.className(e))
		}
		slices.Sort(d.Names)
		all = append(all, d)
	}
	return all
}

// className returns the name that a class has by its path.
func (x *index) className(e entry) string {
	a := x.archives[e.archive]
	var name string
	if e.inFolder {
		name = a.paths[e.offset]
	} else if src, _, err := x.bytes(a); err == nil {
		name = e.name(src)
	}
	s := scanner{release: int(^uint16(0))}
	path, _, _ := s.classPath([]byte(name))
	return strings.ReplaceAll(string(path), "/", ".")
}
