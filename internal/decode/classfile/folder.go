package classfile

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// folder scans a folder as if it were a jar with the same files: classes, and jars of libraries. Links to files are
// followed, links to folders are not.
func (s *scanner) folder(dir string) (*scanned, error) {
	if err := s.spend(&s.budget.archives, 1, maxArchives, " jars"); err != nil {
		return nil, located(dir, err)
	}
	out := &scanned{archive: &archive{place: dir, dir: dir}}
	var jars []string
	files := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			if path == dir {
				return err
			}
			out.warnings = append(out.warnings, located(path, withoutPath(err)))
			return nil
		case e.IsDir():
			if strings.HasPrefix(e.Name(), ".") && path != dir {
				return filepath.SkipDir
			}
			return nil
		}
		if files++; files > maxFolderFiles {
			return &Error{Problem: "more than " + number(maxFolderFiles) + " files in it", Advice: "pass the folder of the classes alone"}
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := []byte(filepath.ToSlash(rel))
		switch {
		case isJar(name):
			jars = append(jars, string(name))
		case strings.HasSuffix(e.Name(), ".class"):
			path, release, proper := s.classPath(name)
			if path != nil && proper && release == 0 {
				if err := s.spend(&s.budget.classes, 1, maxEntries, " classes"); err != nil {
					return err
				}
				out.classes = append(out.classes, entry{
					hash: s.hash(path), offset: int64(len(out.archive.paths)), inFolder: true,
				})
				out.archive.paths = append(out.archive.paths, string(name))
			}
		}
		return nil
	})
	if err != nil {
		return nil, located(dir, err)
	}
	if err := s.rooted(out); err != nil {
		return nil, err
	}
	slices.SortStableFunc(jars, func(a, b string) int { return cmp.Compare(libraryRank(a), libraryRank(b)) })
	for _, name := range jars {
		found, err := s.open(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			found = &scanned{archive: &archive{place: filepath.Join(dir, name)}, warnings: []error{err}}
		}
		out.nested = append(out.nested, found)
	}
	return out, nil
}

// rooted reports an error if no class in a folder, of the first ones, lies where its package says.
func (s *scanner) rooted(out *scanned) error {
	a := out.archive
	var wrong *Error
	for _, name := range a.paths[:min(len(a.paths), 20)] {
		data, err := a.file(name)
		if err != nil {
			continue
		}
		c, err := Parse(data)
		if err != nil {
			continue
		}
		path, _, _ := s.classPath([]byte(name))
		want := strings.ReplaceAll(c.Name, ".", "/")
		if string(path) == want {
			return nil
		}
		if wrong != nil {
			continue
		}
		wrong = &Error{Place: a.dir, Problem: fmt.Sprintf("%s is the class %s", quote(name), quote(c.Name))}
		wrong.Advice = "pass the folder that has the folders of the packages"
		if top, ok := strings.CutSuffix(string(path), "/"+want); ok {
			wrong.Advice = "pass " + filepath.Join(a.dir, filepath.FromSlash(top))
		}
	}
	if wrong != nil {
		return wrong
	}
	return nil
}

// ReadFolders reads the class files that are in folders, so that the folders are not needed any more. Those that cannot be read
// are left out. The error names the folder where the bound of memory was reached.
func (t *Types) ReadFolders() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	total := int64(0)
	for _, e := range t.path.entries {
		if !e.inFolder {
			continue
		}
		a := t.path.archives[e.archive]
		name := a.paths[e.offset]
		data, err := a.file(name)
		if err != nil {
			continue // as when it is asked for
		}
		if total += int64(len(data)); total > maxKeptFolders {
			return &Error{Place: a.dir, Problem: "its classes have more than " + mib(maxKeptFolders), Advice: "pack them into a jar"}
		}
		if a.kept == nil {
			a.kept = map[string][]byte{}
		}
		a.kept[name] = data
	}
	return nil
}

// file reads a class file of a folder.
func (a *archive) file(name string) ([]byte, error) {
	if data, ok := a.kept[name]; ok {
		return data, nil
	}
	f, err := os.Open(filepath.Join(a.dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &Error{Problem: "not a regular file", Advice: rebuild}
	case info.Size() > maxClassFile:
		return nil, &Error{Problem: "it has " + mib(info.Size()) + ", the limit is " + mib(maxClassFile), Advice: rebuild}
	}
	data := make([]byte, info.Size())
	n, err := f.ReadAt(data, 0)
	if n == len(data) {
		err = nil
	}
	return data, err
}
