// Package protofile reads the schemas of protocol buffers that a user brings: .proto files, folders of them, and descriptor sets, as protoc
// writes them with --descriptor_set_out.
//
// A file that another one imports is looked for in the folders that were given, then in the folder of the file that imports it and those
// above, then anywhere below the folders that were given, by the end of its path: a folder may hold several roots. The files of
// google/protobuf are built in.
package protofile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"dubbo-wire/internal/decode/protoschema"
)

// Bounds of what is read.
const (
	maxFile   = 16 << 20
	maxBytes  = 128 << 20
	maxFiles  = 20_000
	maxNested = 100
)

// Read returns the files of all paths, those that a file imports before it. The error is one line, which names the file.
func Read(paths []string) ([]*descriptorpb.FileDescriptorProto, error) {
	files, err := read(paths)
	if err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	return files, nil
}

// oneLine returns a text without control characters, which names in a file may have.
func oneLine(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return '?'
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "") + "…"
	}
	return text
}

// maxError limits the bytes of an error.
const maxError = 1 << 10

func read(paths []string) ([]*descriptorpb.FileDescriptorProto, error) {
	s := source{byName: map[string]*file{}, byEnd: map[string][]*file{}, seen: map[[sha256.Size]byte]bool{}}
	for _, p := range paths {
		if err := s.open(p); err != nil {
			return nil, err
		}
	}
	if err := s.link(); err != nil {
		return nil, err
	}
	compiled, err := s.compile()
	if err != nil {
		return nil, err
	}
	return s.ordered(compiled)
}

// ordered returns the files of sets and those that were compiled, each after those that it imports.
func (s *source) ordered(compiled []*descriptorpb.FileDescriptorProto) ([]*descriptorpb.FileDescriptorProto, error) {
	byName := map[string]*descriptorpb.FileDescriptorProto{}
	var names []string
	for _, f := range append(compiled, s.sets...) {
		if byName[f.GetName()] == nil {
			byName[f.GetName()] = f
			names = append(names, f.GetName())
		}
	}
	for _, f := range s.sets {
		for _, name := range f.GetDependency() {
			if byName[name] == nil && !strings.HasPrefix(name, "google/protobuf/") {
				return nil, problem(f.GetName(), "imports %s, which is not in the descriptor set; write the set with protoc --include_imports", name)
			}
		}
	}
	var list []*descriptorpb.FileDescriptorProto
	protoschema.Ordered(names, byName, func(f *descriptorpb.FileDescriptorProto) { list = append(list, f) })
	return list, nil
}

// file is a .proto file.
type file struct {
	path string // on disk
	name string // by which other files import it
	data []byte
}

// source is all that was read.
type source struct {
	files   []*file
	folders []string
	byName  map[string]*file
	byEnd   map[string][]*file // by the last element of the path
	seen    map[[sha256.Size]byte]bool
	sets    []*descriptorpb.FileDescriptorProto
	inSets  map[string]bool
	bytes   int64
}

// problem is an error about a path in one line.
func problem(p, format string, args ...any) error {
	return fmt.Errorf("%s: %s", p, fmt.Sprintf(format, args...))
}

// withoutPath returns an error of the file system without the path, which is already in the message.
func withoutPath(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

func (s *source) open(p string) error {
	info, err := os.Stat(p)
	if err != nil {
		return problem(p, "%v", withoutPath(err))
	}
	if info.IsDir() {
		return s.folder(p)
	}
	data, err := s.read(p, info.Size())
	if err != nil {
		return err
	}
	if strings.EqualFold(filepath.Ext(p), ".proto") {
		return s.add(p, filepath.Base(p), data)
	}
	return s.set(p, data)
}

func (s *source) read(p string, size int64) ([]byte, error) {
	if size > maxFile {
		return nil, problem(p, "is larger than %d MiB", maxFile>>20)
	}
	data, err := os.ReadFile(p)
	if err != nil {
		return nil, problem(p, "%v", withoutPath(err))
	}
	if s.bytes += int64(len(data)); s.bytes > maxBytes || len(data) > maxFile {
		return nil, problem(p, "the files are larger than %d MiB together", maxBytes>>20)
	}
	return data, nil
}

// folder adds the .proto files below a folder.
func (s *source) folder(root string) error {
	s.folders = append(s.folders, root)
	before := len(s.files)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return problem(p, "%v", withoutPath(err))
		case d.IsDir() && p != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(p) != ".proto" || !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return problem(p, "%v", withoutPath(err))
		}
		data, err := s.read(p, info.Size())
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return problem(p, "%v", err)
		}
		return s.add(p, filepath.ToSlash(rel), data)
	})
	if err == nil && len(s.files) == before {
		return problem(root, "has no .proto file")
	}
	return err
}

// add adds a file; of copies the first one counts.
func (s *source) add(p, name string, data []byte) error {
	if hash := sha256.Sum256(data); s.seen[hash] {
		return nil
	} else if s.seen[hash] = true; len(s.files) == maxFiles {
		return problem(p, "more than %d .proto files", maxFiles)
	}
	if depth := nesting(data); depth > maxNested {
		return problem(p, "is nested more than %d levels deep", maxNested)
	}
	f := &file{path: p, name: name, data: data}
	s.files = append(s.files, f)
	s.byEnd[filepath.Base(p)] = append(s.byEnd[filepath.Base(p)], f)
	return nil
}

// nesting returns how deep brackets are nested, without those in comments and texts.
func nesting(data []byte) (most int) {
	depth := 0
	for i := 0; i < len(data); i++ {
		rest := data[i:]
		switch c := data[i]; c {
		case '{', '[', '(', '<':
			depth++
			most = max(most, depth)
		case '}', ']', ')', '>':
			depth = max(depth-1, 0)
		case '/':
			end := -1
			if bytes.HasPrefix(rest, []byte("//")) {
				end = bytes.IndexByte(rest, '\n')
			} else if bytes.HasPrefix(rest, []byte("/*")) {
				if end = bytes.Index(rest[2:], []byte("*/")); end >= 0 {
					end += 3
				}
			}
			i += max(end, 0)
		case '"', '\'':
			for i++; i < len(data) && data[i] != c && data[i] != '\n'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		}
	}
	return most
}

// set adds the files of a descriptor set.
func (s *source) set(p string, data []byte) error {
	var set descriptorpb.FileDescriptorSet
	if err := (proto.UnmarshalOptions{DiscardUnknown: false, RecursionLimit: maxNested}).Unmarshal(data, &set); err != nil || len(set.File) == 0 {
		return problem(p, "is neither a .proto file nor a descriptor set, as protoc writes it with --include_imports --descriptor_set_out=FILE")
	}
	for _, f := range set.File {
		if f.GetName() == "" {
			return problem(p, "has a file without a name")
		}
		s.sets = append(s.sets, f)
	}
	return nil
}

var imports = regexp.MustCompile(`\bimport\s+(?:public\s+|weak\s+|option\s+)?["']([^"'\\\n]+)["']`)

// literal is a text in quotes. A limit in the pattern would cost 0.3 ms at every start of the program, so there is maxLiteral.
var literal = regexp.MustCompile(`^["'][^"'\\\n]+["']`)

// maxLiteral limits the literal that an error shows, in bytes.
const maxLiteral = 200

// link gives each file the name by which others import it.
func (s *source) link() error {
	s.inSets = map[string]bool{}
	for _, f := range s.sets {
		s.inSets[f.GetName()] = true
	}
	named := map[*file]bool{}
	for i := 0; i < len(s.files); i++ { // files are added while it runs
		f := s.files[i]
		for _, m := range imports.FindAllSubmatch(f.data, -1) {
			name := path.Clean(string(m[1]))
			if s.byName[name] != nil {
				continue
			}
			to, err := s.find(f, name)
			if err != nil {
				return err
			}
			if to != nil && !named[to] {
				named[to], to.name = true, name
				s.byName[name] = to
			}
		}
	}
	for _, f := range s.files {
		if named[f] {
			continue
		}
		if other := s.byName[f.name]; other != nil || s.inSets[f.name] {
			f.name = filepath.ToSlash(f.path) // another file has this name below another folder
		}
		s.byName[f.name] = f
	}
	return nil
}

// find returns the file that another one imports, nil if it is not found.
func (s *source) find(by *file, name string) (*file, error) {
	if s.inSets[name] || strings.HasPrefix(name, "google/protobuf/") {
		return nil, nil
	}
	var best *file
	for _, f := range s.byEnd[path.Base(name)] {
		p := filepath.ToSlash(f.path)
		if p == name || strings.HasSuffix(p, "/"+name) {
			if best == nil || slices.ContainsFunc(s.folders, func(folder string) bool { return p == path.Join(filepath.ToSlash(folder), name) }) {
				best = f
			}
		}
	}
	if best != nil || !filepath.IsLocal(filepath.FromSlash(name)) {
		return best, nil
	}
	// Of a single file the folders above it may be the root.
	absolute, err := filepath.Abs(by.path)
	if err != nil {
		return nil, nil
	}
	for dir := filepath.Dir(absolute); ; dir = filepath.Dir(dir) {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			data, err := s.read(p, info.Size())
			if err != nil {
				return nil, err
			}
			before := len(s.files)
			if err := s.add(p, name, data); err != nil || len(s.files) == before {
				return nil, err
			}
			return s.files[before], nil
		}
		if dir == filepath.Dir(dir) {
			return nil, nil
		}
	}
}

// compile compiles the .proto files. A file that is missing may be one that has options alone, such as google/api/annotations.proto: nothing
// else needs it then.
func (s *source) compile() ([]*descriptorpb.FileDescriptorProto, error) {
	all, err := s.compiled(false)
	if errors.Is(err, errMissing) {
		if without, e := s.compiled(true); e == nil {
			return without, nil
		}
	}
	return all, err
}

// compiled compiles the .proto files; lenient: without the imports that are missing, and the options of users in files with one.
func (s *source) compiled(lenient bool) ([]*descriptorpb.FileDescriptorProto, error) {
	if len(s.files) == 0 {
		return nil, nil
	}
	sets := map[string]*descriptorpb.FileDescriptorProto{}
	for _, f := range s.sets {
		sets[f.GetName()] = f
	}
	resolve := protocompile.ResolverFunc(func(name string) (protocompile.SearchResult, error) {
		if f := s.byName[name]; f != nil {
			if lenient && s.missesImport(f, sets) {
				d, err := s.withoutMissing(f, sets)
				return protocompile.SearchResult{Proto: d}, err
			}
			return protocompile.SearchResult{Source: bytes.NewReader(f.data)}, nil
		}
		if f := sets[name]; f != nil {
			return protocompile.SearchResult{Proto: f}, nil
		}
		return protocompile.SearchResult{}, errMissing
	})
	var failed error
	c := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(resolve),
		Reporter: reporter.NewReporter(func(err reporter.ErrorWithPos) error {
			failed = err
			return err
		}, nil),
	}
	names := make([]string, len(s.files))
	for i, f := range s.files {
		names[i] = f.name
	}
	files, err := c.Compile(context.Background(), names...)
	if err != nil {
		if failed != nil {
			err = failed
		}
		return nil, s.located(err)
	}
	var all []*descriptorpb.FileDescriptorProto
	done := map[string]bool{}
	var add func(f protoreflect.FileDescriptor, depth int)
	add = func(f protoreflect.FileDescriptor, depth int) {
		if done[f.Path()] || s.inSets[f.Path()] || depth > maxFiles {
			return
		}
		done[f.Path()] = true
		for i := range f.Imports().Len() {
			if d := f.Imports().Get(i).FileDescriptor; !d.IsPlaceholder() {
				add(d, depth+1)
			}
		}
		all = append(all, protodesc.ToFileDescriptorProto(f))
	}
	for _, f := range files {
		add(f, 0)
	}
	return all, nil
}

var errMissing = errors.New("is not in the folders of --proto; pass the folder that has it, too")

// located returns an error in one line, with the path of the file on disk.
func (s *source) located(err error) error {
	var at reporter.ErrorWithPos
	if !errors.As(err, &at) {
		text, _, _ := strings.Cut(err.Error(), "\n")
		return errors.New(text)
	}
	pos := at.GetPosition()
	name := pos.Filename
	if f := s.byName[name]; f != nil {
		name = f.path
	}
	text, _, _ := strings.Cut(at.Unwrap().Error(), "\n")
	if errors.Is(err, errMissing) {
		text = "imports a file that " + errMissing.Error()
		if f := s.byName[pos.Filename]; f != nil && pos.Offset >= 0 && pos.Offset < len(f.data) {
			if m := literal.Find(f.data[pos.Offset:min(len(f.data), pos.Offset+maxLiteral)]); m != nil {
				text = "import " + string(m) + ": the file " + errMissing.Error()
			}
		}
	}
	return &locatedError{fmt.Sprintf("%s:%d:%d: %s", name, pos.Line, pos.Col, text), err}
}

// locatedError is an error with its place.
type locatedError struct {
	text string
	err  error
}

func (e *locatedError) Error() string { return e.text }
func (e *locatedError) Unwrap() error { return e.err }
