package classfile

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// scanned is what lies in an archive, and in the jars in it.
type scanned struct {
	archive  *archive
	classes  []entry
	nested   []*scanned
	warnings []error

	bytes []entry // nested's entries, while they are scanned
}

// scanner finds the classes in archives.
type scanner struct {
	*unpacker
	hash    func(path []byte) uint64
	release int // the newest release whose classes of multi-release jars are taken
	buffers [maxJarDepth + 1][]byte
}

// layoutPrefixes are the folders that classes lie in: of Spring Boot jars and wars.
var layoutPrefixes = []string{"BOOT-INF/classes/", "WEB-INF/classes/"}

// libraryPrefixes are the folders whose jars come before others in the same archive, unless a list has the order.
var libraryPrefixes = []string{"BOOT-INF/lib/", "WEB-INF/lib/", "WEB-INF/lib-provided/"}

const versionsPrefix = "META-INF/versions/"

// classPath returns the path that the JVM looks for a class by, without .class, and the release it is for. proper is false
// for a path that leaves the archive or cannot be a class's. The path is empty if the file is not a class that can be used.
func (s *scanner) classPath(name []byte) (path []byte, release int, proper bool) {
	path = bytes.TrimSuffix(name, []byte(".class"))
	for _, prefix := range layoutPrefixes {
		if p, ok := bytes.CutPrefix(path, []byte(prefix)); ok {
			path = p
		}
	}
	if p, ok := bytes.CutPrefix(path, []byte(versionsPrefix)); ok {
		number, rest, found := bytes.Cut(p, []byte("/"))
		n, err := strconv.Atoi(string(number))
		if !found || err != nil || n < 9 || n > s.release {
			return nil, 0, true
		}
		path, release = rest, n
	}
	if bytes.HasSuffix(path, []byte("module-info")) || bytes.HasSuffix(path, []byte("package-info")) {
		return nil, 0, true
	}
	return path, release, properPath(path)
}

// properPath reports whether a path stays within its archive.
func properPath(path []byte) bool {
	if len(path) == 0 || bytes.ContainsAny(path, "\\:\x00\n\r") {
		return false
	}
	for part := range bytes.SplitSeq(path, []byte("/")) {
		if len(part) == 0 || string(part) == "." || string(part) == ".." {
			return false
		}
	}
	return true
}

func isJar(name []byte) bool {
	return bytes.HasSuffix(name, []byte(".jar")) || bytes.HasSuffix(name, []byte(".war"))
}

// contents are what a jar has beside classes, and what is wrong in it.
type contents struct {
	names     []string
	manifest  *entry
	classpath *entry // Spring Boot's order of jars
	improper  group
	skipped   group // encrypted, or compressed in another way
	deep      group // jars in too many jars
	versions  bool
}

// group counts entries and has the name of the first one.
type group struct {
	n     int
	first string
}

func (g *group) add(name []byte) {
	if g.n++; g.n == 1 {
		g.first = quote(name)
	}
}

// jar scans a jar whose bytes are in src.
func (s *scanner) jar(a *archive, src io.ReaderAt, size int64, depth int) (*scanned, error) {
	if err := s.spend(&s.budget.archives, 1, maxArchives, " jars"); err != nil {
		return nil, err
	}
	out := &scanned{archive: a}
	var f contents
	err := readDirectory(src, size, s.buf, func(e *zipEntry) error { return s.file(out, &f, e, depth) })
	if err != nil {
		return nil, err
	}
	if err := overlaps(src, out.classes, out.bytes); err != nil {
		return nil, err
	}
	if f.versions && !s.isMultiRelease(src, size, f.manifest) {
		out.classes = slices.DeleteFunc(out.classes, func(e entry) bool { return e.release > 0 })
	}
	s.sortJars(out, f.names, s.listed(src, size, f.classpath))
	out.warn(f.improper, "entry has", "entries have", "a path that leaves the jar or is not a class's", "not read; do not unpack this file")
	out.warn(f.skipped, "class or jar is", "classes or jars are", "encrypted, too large or not compressed as in a jar", "not read; build the jar again")
	out.warn(f.deep, "jar is", "jars are", fmt.Sprintf("in %d jars in each other", depth+1), "not read; "+keepApart)
	s.nested(out, src, size, depth)
	return out, nil
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(int64(n)) + " " + many
}

// warn says what entries are not read.
func (o *scanned) warn(g group, one, many, what, advice string) {
	if g.n > 0 {
		o.warnings = append(o.warnings, &Error{
			Place: o.archive.place, Problem: fmt.Sprintf("%s %s, such as %s", count(g.n, one, many), what, g.first), Advice: advice,
		})
	}
}

// file takes an entry of a jar.
func (s *scanner) file(out *scanned, f *contents, e *zipEntry, depth int) error {
	unreadable := e.encrypted || e.packed > math.MaxUint32 || e.size > math.MaxUint32 || e.method != 0 && e.method != deflated
	switch {
	case bytes.HasSuffix(e.name, []byte(".class")):
		return s.class(out, f, e, unreadable)
	case isJar(e.name):
		return s.nestedJar(out, f, e, unreadable, depth)
	case string(e.name) == "META-INF/MANIFEST.MF" && !unreadable:
		f.manifest = e.kept()
	case string(e.name) == "BOOT-INF/classpath.idx" && !unreadable:
		f.classpath = e.kept()
	}
	return nil
}

// kept is what is kept of an entry.
func (e *zipEntry) kept() *entry {
	return &entry{offset: e.offset, packed: uint32(e.packed), size: uint32(e.size), crc: e.crc, deflated: e.method == deflated}
}

func (s *scanner) class(out *scanned, f *contents, e *zipEntry, unreadable bool) error {
	path, release, proper := s.classPath(e.name)
	switch {
	case !proper:
		f.improper.add(e.name)
	case path == nil:
	case unreadable:
		f.skipped.add(e.name)
	default:
		if err := s.spend(&s.budget.classes, 1, maxEntries, " classes"); err != nil {
			return err
		}
		out.classes = append(out.classes, *e.kept())
		c := &out.classes[len(out.classes)-1]
		c.hash, c.release = s.hash(path), uint16(min(release, math.MaxUint16))
		f.versions = f.versions || release > 0
	}
	return nil
}

func (s *scanner) nestedJar(out *scanned, f *contents, e *zipEntry, unreadable bool, depth int) error {
	switch {
	case !properPath(e.name):
		f.improper.add(e.name)
	case unreadable:
		f.skipped.add(e.name)
	case depth >= maxJarDepth:
		f.deep.add(e.name)
	case len(f.names) >= maxArchives:
		return &Error{Problem: "more than " + number(maxArchives) + " jars in it", Advice: keepApart}
	default:
		out.bytes = append(out.bytes, *e.kept())
		f.names = append(f.names, string(e.name))
	}
	return nil
}

// overlaps returns an error if two entries of a jar share bytes, as those of zip bombs do.
func overlaps(src io.ReaderAt, classes, jars []entry) error {
	byOffset := func(a, b entry) int { return cmp.Compare(a.offset, b.offset) }
	all := classes
	if len(jars) > 0 || !slices.IsSortedFunc(all, byOffset) {
		all = slices.Concat(classes, jars)
		slices.SortFunc(all, byOffset)
	}
	for i := 1; i < len(all); i++ {
		if a, b := &all[i-1], &all[i]; a.offset+localLen+int64(a.packed) > b.offset {
			return &Error{
				Problem: fmt.Sprintf("entries %s and %s overlap, as in a zip bomb", quote(a.name(src)), quote(b.name(src))),
				Advice:  rebuild,
			}
		}
	}
	return nil
}

// isMultiRelease reads the manifest, of which the main section counts.
func (s *scanner) isMultiRelease(src io.ReaderAt, size int64, e *entry) bool {
	for line := range strings.Lines(s.text(src, size, e)) {
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			return false
		}
		if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(name, "Multi-Release") {
			return strings.EqualFold(strings.TrimSpace(value), "true")
		}
	}
	return false
}

// text returns a small text of a jar; none if there is none or it cannot be read.
func (s *scanner) text(src io.ReaderAt, size int64, e *entry) string {
	if e == nil {
		return ""
	}
	b, _ := s.read(src, size, e, nil, 1<<20, 1100)
	return string(b)
}

// listed returns the order of the jars that Spring Boot's classpath.idx has: lines of - "BOOT-INF/lib/a.jar".
func (s *scanner) listed(src io.ReaderAt, size int64, e *entry) map[string]int {
	order := map[string]int{}
	for line := range strings.Lines(s.text(src, size, e)) {
		order[strings.Trim(strings.TrimSpace(line), `-" `)] = len(order) + 1
	}
	return order
}

// libraryRank sorts the jars of libraries before others.
func libraryRank(name string) int {
	for _, prefix := range libraryPrefixes {
		if strings.HasPrefix(name, prefix) {
			return math.MaxInt - 1
		}
	}
	return math.MaxInt
}

// sortJars brings the jars in an archive into the order of its class path, and makes archives of them.
func (s *scanner) sortJars(out *scanned, names []string, listed map[string]int) {
	rank := func(name string) int { return cmp.Or(listed[name], libraryRank(name)) }
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(names[a]), rank(names[b])) })
	jars := make([]entry, len(order))
	for to, from := range order {
		jars[to] = out.bytes[from]
		place := out.archive.place + "!/" + quote(names[from])
		out.nested = append(out.nested, &scanned{archive: &archive{place: place}})
	}
	out.bytes = jars
}

// nested scans the jars in a jar: those of the outermost one with several goroutines.
func (s *scanner) nested(out *scanned, src io.ReaderAt, size int64, depth int) {
	jars := out.bytes
	out.bytes = nil
	workers := min(runtime.GOMAXPROCS(0), 4, len(jars))
	if depth > 0 || workers < 2 {
		for i := range jars {
			s.inner(out, i, &jars[i], src, size, depth)
		}
		return
	}
	next := make(chan int)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			own := &scanner{unpacker: newUnpacker(s.budget), hash: s.hash, release: s.release}
			for i := range next {
				own.inner(out, i, &jars[i], src, size, depth)
			}
		})
	}
	for i := range jars {
		next <- i
	}
	close(next)
	wait.Wait()
}

// inner scans jar i of an archive. What is wrong with it becomes a warning.
func (s *scanner) inner(out *scanned, i int, e *entry, src io.ReaderAt, size int64, depth int) {
	a := out.nested[i].archive
	fail := func(err error) {
		out.nested[i] = &scanned{archive: a, warnings: []error{located(a.place, err)}}
	}
	if !e.deflated {
		start, err := e.start(src, size)
		if err != nil {
			fail(err)
			return
		}
		a.src, a.size = io.NewSectionReader(src, start, int64(e.packed)), int64(e.packed)
		src, size = a.src, a.size
	} else {
		a.outer, a.packed = out.archive, *e
		b, err := s.unpacker.nested(src, size, e, s.buffers[depth])
		if err != nil {
			fail(err)
			return
		}
		s.buffers[depth] = b
		src, size = bytes.NewReader(b), int64(len(b))
	}
	found, err := s.jar(a, src, size, depth+1)
	if err != nil {
		fail(err)
		return
	}
	out.nested[i] = found
}
