package output

import (
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Places are standard output and the files that are being written and have not got their names yet. A signal that ends the
// program at once removes them.
type Places struct {
	Stdout io.Writer

	mu         sync.Mutex
	unfinished map[string]bool
}

// maxLinks is how many symbolic links may lead to a file.
const maxLinks = 40

// linked returns the name that symbolic links lead to, which need not exist yet: it is their target that is replaced, not they.
func linked(name string) string {
	at := name
	for range maxLinks {
		to, err := os.Readlink(at)
		if err != nil {
			return at
		}
		if !filepath.IsAbs(to) {
			// What ".." is depends on the links in front of it.
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

// create makes a file beside the name that it gets when it is complete.
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

// finish gives a file its name. The file is removed if that fails.
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

// abandon removes a file that will not be finished.
func (p *Places) abandon(f *os.File) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.unfinished, f.Name())
	_ = os.Remove(f.Name())
}

// Abandon removes all unfinished files, for a program that ends now: no other is made after it.
func (p *Places) Abandon() {
	p.mu.Lock() // for good
	for name := range p.unfinished {
		_ = os.Remove(name)
	}
}
