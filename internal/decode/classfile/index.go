package classfile

import (
	"bytes"
	"cmp"
	"errors"
	"hash/maphash"
	"io"
	"os"
	"slices"
	"strings"
)

// index knows where the classes of a class path lie. Names are not kept, only hashes of them that nobody can foresee; a class
// that was read says its name.
type index struct {
	archives   []*archive
	entries    []entry // by hash; of several with a name only the first one
	seed       maphash.Seed
	files      []*os.File
	sources    []Source
	duplicates []*duplicate
	warnings   []error
	left       int // warnings that were left out

	unpacker *unpacker
	jars     []unpackedJar // the last ones used, the latest at the end
}

// Source is one of the paths of a class path.
type Source struct {
	Path string
	// Classes are those in it, and Jars the jars in it.
	Classes, Jars int
}

// unpackedJar is a compressed jar in a jar.
type unpackedJar struct {
	archive *archive
	data    []byte
}

// maxUnpackedJars is how many bytes of compressed jars in jars are kept.
const maxUnpackedJars = 64 << 20

// openIndex scans the paths in order.
func openIndex(paths []string, release int) (x *index, err error) {
	x = &index{seed: maphash.MakeSeed(), unpacker: newUnpacker(nil)}
	defer func() {
		if err != nil {
			x.close()
		}
	}()
	s := &scanner{unpacker: newUnpacker(newBudget()), release: release}
	s.hash = func(path []byte) uint64 { return maphash.Bytes(x.seed, path) }
	for _, path := range paths {
		found, err := s.open(path)
		if err != nil {
			return x, err
		}
		source := Source{Path: path}
		x.entries = slices.Grow(x.entries, found.total())
		x.add(found, &source)
		source.Jars-- // itself
		if source.Classes == 0 {
			x.warnings = append(x.warnings, &Error{Place: path, Problem: "no classes in it", Advice: "pass a jar, or the folder that has the folders of the packages"})
		}
		x.sources = append(x.sources, source)
	}
	x.sort()
	return x, nil
}

// open scans a jar or folder.
func (s *scanner) open(path string) (*scanned, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, located(path, withoutPath(err))
	}
	if info.IsDir() {
		return s.folder(path)
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{Place: path, Problem: "neither a jar nor a folder"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, located(path, withoutPath(err))
	}
	a := &archive{place: path, src: f, size: info.Size()}
	found, err := s.jar(a, f, a.size, 0)
	if err != nil {
		f.Close()
		return nil, located(path, err)
	}
	return found, nil
}

// total returns the number of classes in an archive and those in it.
func (s *scanned) total() int {
	n := len(s.classes)
	for _, inner := range s.nested {
		n += inner.total()
	}
	return n
}

// withoutPath returns what a system call says without the path that it says it of.
func withoutPath(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// add appends what was found in an archive and those in it.
func (x *index) add(found *scanned, source *Source) {
	a := found.archive
	if f, ok := a.src.(*os.File); ok {
		x.files = append(x.files, f)
	}
	source.Classes += len(found.classes)
	for i := range found.classes {
		found.classes[i].archive = uint32(len(x.archives))
	}
	x.archives = append(x.archives, a)
	x.entries = append(x.entries, found.classes...)
	found.classes = nil
	for _, w := range found.warnings {
		if len(x.warnings) < maxWarnings {
			x.warnings = append(x.warnings, w)
		} else {
			x.left++
		}
	}
	source.Jars++
	for _, n := range found.nested {
		x.add(n, source)
	}
}

// sort orders the entries by hash, and removes all but the first of those with a name: in an archive those for the newest
// release come first.
func (x *index) sort() {
	slices.SortFunc(x.entries, func(a, b entry) int {
		if a.hash != b.hash { // nearly always
			return cmp.Compare(a.hash, b.hash)
		}
		return cmp.Or(cmp.Compare(a.archive, b.archive), cmp.Compare(b.release, a.release), cmp.Compare(a.offset, b.offset))
	})
	kept := x.entries[:0]
	var d duplicates
	for i, e := range x.entries {
		if i > 0 && kept[len(kept)-1].hash == e.hash {
			if first := kept[len(kept)-1]; first.archive != e.archive {
				d.add(x, first, e)
			}
			continue
		}
		kept = append(kept, e)
	}
	x.entries = slices.Clip(kept)
	x.duplicates = d.list()
}

// find returns the entry of a class.
func (x *index) find(name string) (entry, bool) {
	path := strings.ReplaceAll(name, ".", "/")
	hash := maphash.String(x.seed, path)
	i, ok := slices.BinarySearchFunc(x.entries, hash, func(e entry, hash uint64) int { return cmp.Compare(e.hash, hash) })
	if !ok {
		return entry{}, false
	}
	return x.entries[i], true
}

// class returns the class file of a class and where it is.
func (x *index) class(name string) (data []byte, place string, err error) {
	e, ok := x.find(name)
	if !ok {
		return nil, "", ErrMissing
	}
	place = x.archives[e.archive].place + "!/" + strings.ReplaceAll(name, ".", "/") + ".class"
	if e.inFolder {
		a := x.archives[e.archive]
		place = a.dir + string(os.PathSeparator) + a.paths[e.offset]
	}
	if data, err = x.load(e); err != nil {
		return nil, place, located(place, withoutPath(err))
	}
	return data, place, nil
}

// load reads a class file.
func (x *index) load(e entry) ([]byte, error) {
	a := x.archives[e.archive]
	if e.inFolder {
		return a.file(a.paths[e.offset])
	}
	src, size, err := x.bytes(a)
	if err != nil {
		return nil, err
	}
	return x.unpacker.read(src, size, &e, nil, maxClassFile, 1<<11) // deflate packs 1,032 bytes into one at most
}

// bytes returns the bytes of a jar. Compressed jars in jars are unpacked, and a few are kept.
func (x *index) bytes(a *archive) (io.ReaderAt, int64, error) {
	if a.src != nil {
		return a.src, a.size, nil
	}
	if a.outer == nil {
		return nil, 0, &Error{Place: a.place, Problem: "it could not be read"}
	}
	for i, j := range x.jars {
		if j.archive == a {
			x.jars = append(slices.Delete(x.jars, i, i+1), j)
			return bytes.NewReader(j.data), int64(len(j.data)), nil
		}
	}
	src, size, err := x.bytes(a.outer)
	if err != nil {
		return nil, 0, err
	}
	data, err := x.unpacker.nested(src, size, &a.packed, nil)
	if err != nil {
		return nil, 0, err
	}
	x.jars = append(x.jars, unpackedJar{a, data})
	total := 0
	for i := len(x.jars) - 1; i >= 0; i-- {
		if total += len(x.jars[i].data); total > maxUnpackedJars && i < len(x.jars)-1 {
			x.jars = slices.Delete(x.jars, 0, i+1)
			break
		}
	}
	return bytes.NewReader(data), int64(len(data)), nil
}

func (x *index) close() error {
	var errs []error
	for _, f := range x.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
