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
	sets []fileSet

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

// fileSet is the files that one pattern names.
type fileSet struct {
	folder string
	name   *regexp.Regexp
	ours   func(f *os.File) bool
}

type completeFile struct {
	name     string
	modified time.Time
	size     int64
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

// Rotation names files that may be deleted, and their unfinished versions (.NAME.123) that a crash left.
type Rotation struct {
	File   string
	Dated  bool                  // File has conversions of strftime(3) in its name
	Dashed bool                  // a number is added as NAME-2.EXT instead of NAME.EXT2
	Ours   func(f *os.File) bool // whether dubbo-wire wrote a file with such a name
}

// Add adds the files of a rotation.
func (d *DiskLimit) Add(r Rotation) error {
	folder, base := filepath.Split(r.File)
	if r.Dated && strings.Contains(folder, "%") {
		return fmt.Errorf("%s: the folder of rotated files cannot have a time format with --max-disk; put it into the name of the file", r.File)
	}
	quote := regexp.QuoteMeta
	if r.Dated {
		quote = timePattern
	}
	pattern, number := quote(base), `[0-9]{0,9}`
	if r.Dashed {
		ext := filepath.Ext(base)
		pattern, number = quote(strings.TrimSuffix(base, ext))+`(?:-[0-9]{1,9})?`+quote(ext), ""
	}
	// The name itself, or with a number; or with the name of an unfinished file.
	name, err := regexp.Compile(`(?s)^(?:` + pattern + number + `|\.(` + pattern + `)\.[0-9]+)$`)
	if err != nil {
		return fmt.Errorf("%s: --max-disk cannot recognize such file names: %w", r.File, err)
	}
	d.sets = append(d.sets, fileSet{folder: filepath.Clean(folder), name: name, ours: r.Ours})
	return nil
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
		if s.folder == filepath.Dir(name) && s.name.MatchString(filepath.Base(name)) {
			d.complete = append(d.complete, completeFile{name: name, modified: info.ModTime(), size: info.Size()})
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
		entries, err := os.ReadDir(s.folder)
		if err != nil {
			continue // creating the file reports it
		}
		for _, e := range entries {
			match := s.name.FindStringSubmatch(e.Name())
			name := filepath.Join(s.folder, e.Name())
			if match == nil || d.isWriting(name) || match[1] != "" && d.isWriting(filepath.Join(s.folder, match[1])) {
				continue
			}
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			k, seen := d.known[name]
			if !seen || !k.modified.Equal(info.ModTime()) {
				k = knownFile{modified: info.ModTime(), ours: opens(name, s.ours)}
			}
			if known[name] = k; k.ours {
				d.complete = append(d.complete, completeFile{name: name, modified: info.ModTime(), size: info.Size()})
			}
		}
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

// opens reports whether a file can be opened and is one of ours.
func opens(name string, ours func(f *os.File) bool) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return ours(f)
}

// recorded reports whether a Recorder wrote the file.
func recorded(f *os.File) bool {
	b := make([]byte, headBytes)
	n, _ := io.ReadFull(f, b)
	return strings.HasPrefix(pcapng.Application(b[:n]), Program+" ")
}
