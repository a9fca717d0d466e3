package output

import (
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Places opens targets on standard output and in files. It remembers the unfinished files, which have temporary names, for
// Abandon. Its methods may be called from several goroutines.
type Places struct {
	Stdout io.Writer

	mu         sync.Mutex
	unfinished map[string]bool
}

// maxLinks bounds a chain of symbolic links.
const maxLinks = 40

// linked follows symbolic links to a name that need not exist: the target is replaced, not the links.
func linked(name string) string {
	at := name
	for range maxLinks {
		to, err := os.Readlink(at)
		if err != nil {
			return at
		}
		if !filepath.IsAbs(to) {
			// The meaning of ".." depends on the links before it.
			if dir, err := filepath.EvalSymlinks(filepath.Dir(at)); err == nil {
				to = filepath.Join(dir, to)
			} else {
				return at
			}
		}
		at = to
	}
	return name
}

// create creates a file under a temporary name in the folder of name.
func (p *Places) create(name string) (*os.File, error) {
	name = linked(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return nil, err
	}
	if p.unfinished == nil {
		p.unfinished = make(map[string]bool)
	}
	p.unfinished[f.Name()] = true
	return f, nil
}

// finish renames a file. If that fails it removes the file.
func (p *Places) finish(f *os.File, name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.unfinished, f.Name())
	err := os.Rename(f.Name(), linked(name))
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// abandon removes an unfinished file.
func (p *Places) abandon(f *os.File) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.unfinished, f.Name())
	_ = os.Remove(f.Name())
}

// Abandon removes all unfinished files. It is for a program that ends: it blocks all later calls.
func (p *Places) Abandon() {
	p.mu.Lock() // and never unlock
	for name := range p.unfinished {
		_ = os.Remove(name)
	}
}
