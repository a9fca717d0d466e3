package main

import (
	"os"
	"path/filepath"
	"sync"
)

// unfinished are the files that are being written and have not got their names yet. A signal that ends the program at
// once removes them.
var unfinished struct {
	sync.Mutex
	names map[string]bool
}

// maxLinks is how many symbolic links may lead to a file.
const maxLinks = 40

// linked is the name behind symbolic links, which need not be there yet: it is their target that is replaced, not they.
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

// createUnfinished makes a file beside the name that it gets when it is whole.
func createUnfinished(name string) (*os.File, error) {
	name = linked(name)
	unfinished.Lock()
	defer unfinished.Unlock()
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return nil, err
	}
	if unfinished.names == nil {
		unfinished.names = make(map[string]bool)
	}
	unfinished.names[f.Name()] = true
	return f, nil
}

// finish gives a file its name. The file is gone if that fails.
func finish(f *os.File, name string) error {
	unfinished.Lock()
	defer unfinished.Unlock()
	delete(unfinished.names, f.Name())
	err := os.Rename(f.Name(), linked(name))
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// abandonFile removes a file that will not be finished.
func abandonFile(f *os.File) {
	unfinished.Lock()
	defer unfinished.Unlock()
	delete(unfinished.names, f.Name())
	_ = os.Remove(f.Name())
}

// abandonAll removes all of them, for a program that ends now: no other is made behind it.
func abandonAll() {
	unfinished.Lock() // for good
	for name := range unfinished.names {
		_ = os.Remove(name)
	}
}
