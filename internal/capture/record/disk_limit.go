package record

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"dubbo-wire/internal/capture/pcapng"
)

// DiskLimit bounds how many bytes the files of a capture have together: those that are being written, and those that this
// run and earlier ones have written under names of the same pattern. It makes room by deleting the oldest complete files.
// Files with other names, files that another program wrote, symbolic links and folders are neither counted nor deleted.
//
// The use of a file is: Grow with its size before each write, the first time before it is created, and Done when it is
// closed. A nil DiskLimit has no bound. Its methods may be called from several goroutines; Add comes before all others.
type DiskLimit struct {
	max  int64
	sets []*FileSet

	mu       sync.Mutex
	writing  map[string]int64 // bytes of the files that are being written, by name
	complete []completeFile   // that may be deleted, oldest first
	kept     int64            // bytes of complete files that may not be deleted: they are in no set
	known    map[string]knownFile
	deleted  Deleted
}

// Deleted is what a DiskLimit has deleted.
type Deleted struct {
	First string // file
	Files int
	Bytes int64
}

// FileSet is the files that one pattern names, with numbers that rotation adds.
type FileSet struct {
	Pattern string
	Dated   bool // Pattern has conversions of strftime(3), also for folders
	// NumberBeforeExt: numbers are calls-2.parquet, not calls.parquet2.
	NumberBeforeExt bool
	// Wrote tells whether dubbo-wire wrote a file with such a name.
	Wrote func(f *os.File) bool

	root  string           // the folder that does not depend on the time
	names []*regexp.Regexp // of the folders in it and of the file
}

// compile prepares the names of the set.
func (s *FileSet) compile() error {
	root, base := filepath.Split(filepath.Clean(s.Pattern))
	var below []string
	for s.Dated && strings.Contains(root, "%") {
		folder := filepath.Base(root)
		root, below = filepath.Dir(filepath.Clean(root)), append([]string{s.match(folder)}, below...)
	}
	s.root = filepath.Clean(root)
	name := s.match(base) + `[0-9]{0,9}`
	if s.NumberBeforeExt {
		ext := filepath.Ext(base)
		name = s.match(strings.TrimSuffix(base, ext)) + `(?:-[0-9]{1,9})?` + s.match(ext)
	}
	for _, text := range append(below, `(?:`+name+`|\.(`+name+`)\.[0-9]+)`) {
		re, err := regexp.Compile(`(?s)^` + text + `$`)
		if err != nil {
			return fmt.Errorf("%s: --max-disk cannot recognize such file names: %w", s.Pattern, err)
		}
		s.names = append(s.names, re)
	}
	return nil
}

func (s *FileSet) match(text string) string {
	if s.Dated {
		return timePattern(text)
	}
	return regexp.QuoteMeta(text)
}

// has reports whether a file has a name of the set.
func (s *FileSet) has(name string) bool {
	rel, err := filepath.Rel(s.root, name)
	parts := strings.Split(rel, string(filepath.Separator))
	if err != nil || len(parts) != len(s.names) {
		return false
	}
	for i, part := range parts {
		if !s.names[i].MatchString(part) {
			return false
		}
	}
	return true
}

// visit calls file for each entry with a name of the set below a folder at that depth. complete is its name without the marks of an
// unfinished file.
func (s *FileSet) visit(folder string, depth int, file func(name, complete string, e fs.DirEntry)) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return // creating a file reports it
	}
	for _, e := range entries {
		match := s.names[depth].FindStringSubmatch(e.Name())
		switch name := filepath.Join(folder, e.Name()); {
		case match == nil:
		case depth == len(s.names)-1:
			file(name, filepath.Join(folder, cmp.Or(match[1], e.Name())), e)
		case e.IsDir():
			s.visit(name, depth+1, file)
		}
	}
}

type completeFile struct {
	name     string
	modified time.Time
	size     int64
	folders  int // that are removed with it when they are empty
}

// knownFile says whether a file that was last modified at that time is one of ours.
type knownFile struct {
	modified time.Time
	ours     bool
}

// headBytes is how many bytes of a recording tell who wrote it.
const headBytes = 1024

// ErrDiskLimit is returned if files cannot be deleted to make room.
var ErrDiskLimit = errors.New("the limit of --max-disk is reached")

// NewDiskLimit returns a limit of that many bytes.
func NewDiskLimit(most int64) *DiskLimit {
	return &DiskLimit{max: most, writing: make(map[string]int64), known: make(map[string]knownFile)}
}

// Add adds files that may be deleted, and their unfinished versions (.NAME.123) that a crash left.
func (d *DiskLimit) Add(s FileSet) error {
	d.sets = append(d.sets, &s)
	return s.compile()
}

// FileLimit returns the size that no file may exceed, so that a complete one remains while the next one is written; 0: any
// size. Without rotation it is the limit itself.
func (d *DiskLimit) FileLimit() int64 {
	if d == nil {
		return 0
	}
	return d.max / int64(len(d.sets)+1)
}

// Grow deletes the oldest complete files until the named file may have that size. If that is impossible, it returns an error,
// and the file must not be written to.
func (d *DiskLimit) Grow(name string, size int64) error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	name = filepath.Clean(name)
	before, known := d.writing[name]
	d.writing[name] = size
	if !known {
		d.scan() // other processes may have written or deleted files
	}
	over := d.kept - d.max
	for _, n := range d.writing {
		over += n
	}
	for _, f := range d.complete {
		over += f.size
	}
	var failed error
	for i := 0; over > 0 && i < len(d.complete); {
		f := d.complete[i]
		if err := os.Remove(f.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = cmp.Or(failed, fmt.Errorf("%w, and %s cannot be deleted: %s", ErrDiskLimit, f.name, reason(err)))
			i++
			continue
		}
		for folder := filepath.Dir(f.name); f.folders > 0 && os.Remove(folder) == nil; f.folders-- {
			folder = filepath.Dir(folder)
		}
		d.complete = slices.Delete(d.complete, i, i+1)
		over -= f.size
		d.deleted.First = cmp.Or(d.deleted.First, f.name)
		d.deleted.Files++
		d.deleted.Bytes += f.size
	}
	if over <= 0 {
		return nil
	}
	d.writing[name] = before
	return cmp.Or(failed, ErrDiskLimit)
}

// Done says that a file is complete. From now on it may be deleted.
func (d *DiskLimit) Done(name string) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	name = filepath.Clean(name)
	size := d.writing[name]
	delete(d.writing, name)
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	for _, s := range d.sets {
		if s.has(name) {
			d.complete = append(d.complete, completeFile{name, info.ModTime(), info.Size(), len(s.names) - 1})
			return
		}
	}
	d.kept += size
}

// Deleted returns what was deleted so far.
func (d *DiskLimit) Deleted() Deleted {
	if d == nil {
		return Deleted{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.deleted
}

// scan finds the complete files of all sets.
func (d *DiskLimit) scan() {
	d.complete = d.complete[:0]
	known := make(map[string]knownFile)
	for _, s := range d.sets {
		s.visit(s.root, 0, func(name, complete string, e fs.DirEntry) {
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || d.isWriting(name) || d.isWriting(complete) {
				return
			}
			k, seen := d.known[name]
			if !seen || !k.modified.Equal(info.ModTime()) {
				k = knownFile{modified: info.ModTime(), ours: opens(name, s.Wrote)}
			}
			if known[name] = k; k.ours {
				d.complete = append(d.complete, completeFile{name, info.ModTime(), info.Size(), len(s.names) - 1})
			}
		})
	}
	d.known = known
	slices.SortFunc(d.complete, func(a, b completeFile) int {
		return cmp.Or(a.modified.Compare(b.modified), strings.Compare(a.name, b.name))
	})
	d.complete = slices.Compact(d.complete) // sets may overlap
}

func (d *DiskLimit) isWriting(name string) bool {
	_, writing := d.writing[name]
	return writing
}

// opens reports whether a file can be opened and dubbo-wire wrote it.
func opens(name string, wrote func(f *os.File) bool) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return wrote(f)
}

// recorded reports whether a Recorder wrote the file.
func recorded(f *os.File) bool {
	b := make([]byte, headBytes)
	n, _ := io.ReadFull(f, b)
	return strings.HasPrefix(pcapng.Application(b[:n]), Program+" ")
}
