// Subset prints arguments of "go test" that leave out tests whose run would show nothing: -skip with their names, and the packages that
// have others. Where tests of several packages have the same name, none of them is left out unless all can be. Its own argument says which
// tests are wanted.
//
//	race  those with more than one goroutine, for the race detector. Others run the same code in one.
//	tag   those that depend on the build tag alltests, for "go test -tags alltests" where "go test ./..." has passed. They use something of
//	      testkit that is not the same with and without the tag.
//
// A test uses what is declared with the names in its source, in the source of these, and so on, in all packages of this module. With a
// type it uses all its methods and the types of its fields. That is more than what it calls, and never less: nobody has a value of a type
// without a step that names the type, or a type that has it as a field.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	tag      = "alltests"
	external = "_test" // what follows the path of a package in that of its external tests
	testkit  = "dubbo-wire/internal/dev/testkit"
)

// question is what is asked of the source.
type question struct {
	flags []string // of go list
	// yes is whether the answer is yes because of a node of a package, in a file that imports testkit or not.
	yes func(n ast.Node, pkg string, imports bool) bool
	// asked are functions and methods that count only for tests for which the answer is yes anyway.
	asked map[name]bool
	// apart are packages whose code does not count for the tests of others.
	apart []string
	// always is a package of which all tests are wanted.
	always string
	// first are packages to begin with: their tests take long, and some wait for Java or take one processor.
	first []string
	// others is what the other tests do.
	others string
}

var questions = map[string]question{
	"race": {
		yes: startsGoroutine,
		// These start goroutines if somebody sets Jobs to more than one, or calls Keep; the last one starts a browser, in which the race
		// detector finds nothing.
		asked: map[name]bool{
			{"dubbo-wire/internal/pipeline", "runJobs"}: true, {"dubbo-wire/internal/redact", "startWorkers"}: true,
			{"dubbo-wire/internal/capture", "startReadAhead"}: true, {"dubbo-wire/internal/report/page" + external, "open"}: true,
		},
		// The goroutines of the first end before the call that started them returns, and share nothing with the caller: its own tests
		// suffice. The second is for tests: see starters.
		apart:  []string{"dubbo-wire/internal/decode/classfile", testkit},
		first:  []string{"dubbo-wire/cmd/dubbo-wire", "dubbo-wire/internal/redact", "dubbo-wire/internal/dev/truth"},
		others: "have one goroutine",
	},
	"tag": {
		flags: []string{"-tags", tag}, yes: dependsOnTag, apart: []string{testkit}, always: testkit, others: "do not depend on the tag",
		first: []string{"dubbo-wire/internal/dev/e2e", "dubbo-wire/internal/dev/estimated", "dubbo-wire/cmd/dubbo-wire"},
	},
}

// starters are functions and methods that start a goroutine.
var starters = map[string]bool{
	"Go": true, "AfterFunc": true, "RunParallel": true, "ListenAndServe": true, "Serve": true, "NewServer": true, "Pipe": true,
}

// parallel are functions and methods that run a test beside others.
var parallel = map[string]bool{"Parallel": true, "Each": true, "EachLeft": true}

// beside are packages with tests that run beside each other to end sooner. All that they share are tables of decoders, which tests of cmd/dubbo-wire
// share, too: they read and redact the same captures beside each other. That workers share a class path is tested in internal/pipeline.
var beside = map[string]bool{"dubbo-wire/internal/dev/truth": true, "dubbo-wire/internal/redact": true}

// startsGoroutine reports whether n is a go statement, calls a starter or the Keep of a capture, or sets Jobs to something
// else than one.
func startsGoroutine(n ast.Node, pkg string, _ bool) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		s, ok := n.Fun.(*ast.SelectorExpr)
		return ok && (starters[s.Sel.Name] || s.Sel.Name == "Keep" && len(n.Args) == 0 ||
			parallel[s.Sel.Name] && !beside[strings.TrimSuffix(pkg, external)])
	case *ast.KeyValueExpr:
		return isJobs(n.Key) && !isOne(n.Value)
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if isJobs(to) && (len(n.Lhs) != len(n.Rhs) || !isOne(n.Rhs[i])) {
				return true
			}
		}
	case *ast.UnaryExpr: // for a flag
		return n.Op == token.AND && isJobs(n.X)
	}
	return false
}

// isJobs reports whether an expression is a field with the name Jobs.
func isJobs(n ast.Expr) bool {
	if s, ok := n.(*ast.SelectorExpr); ok {
		n = s.Sel
	}
	id, ok := n.(*ast.Ident)
	return ok && id.Name == "Jobs"
}

// isOne reports whether an expression is the number 1.
func isOne(n ast.Expr) bool {
	l, ok := n.(*ast.BasicLit)
	return ok && l.Value == "1"
}

// untagged are the names of testkit that are the same with and without the tag.
var untagged = map[string]bool{
	"Update": true, "Golden": true, "IsGolden": true, "WithoutColor": true, "CPU": true, "Captures": true, "Capture": true, "Get": true, "Root": true,
	"Dir": true,
}

// taggedMethods are the methods of its captures that depend on the tag.
var taggedMethods = map[string]bool{"Sampled": true, "Left": true}

// dependsOnTag reports whether n is a name of testkit, or of a method of its captures, that depends on the tag.
func dependsOnTag(n ast.Node, _ string, imports bool) bool {
	s, ok := n.(*ast.SelectorExpr)
	if !ok || !imports {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return taggedMethods[s.Sel.Name] || ok && x.Name == "testkit" && !untagged[s.Sel.Name]
}

type listed struct {
	ImportPath, Dir, ForTest           string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Deps                               []string
	Module                             *struct{ Main bool }
}

func main() {
	q, ok := question{}, len(os.Args) == 2
	if ok {
		q, ok = questions[os.Args[1]]
	}
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: subset race|tag")
		os.Exit(2)
	}
	if err := list(os.Stdout, &q); err != nil {
		fmt.Fprintln(os.Stderr, "subset:", err)
		os.Exit(1)
	}
}

func list(w io.Writer, q *question) error {
	args := append([]string{"list", "-test", "-deps", "-json=ImportPath,Dir,ForTest,GoFiles,TestGoFiles,XTestGoFiles,Deps,Module"}, q.flags...)
	cmd := exec.Command("go", append(args, "./...")...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var tested []*listed
	linked := map[string]map[string]bool{} // by the package of the tests
	code := source{question: q, all: map[name]*declaration{}}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		p := new(listed)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		switch {
		case p.Module == nil || !p.Module.Main || strings.HasSuffix(p.ImportPath, ".test"): // the last is the main package of tests
		case p.ForTest != "":
			if linked[p.ForTest] == nil {
				linked[p.ForTest] = map[string]bool{}
			}
			for _, path := range p.Deps {
				path, _, _ = strings.Cut(path, " ") // "[X.test]" follows the path of a package that is built for a test
				linked[p.ForTest][path] = true
			}
		default:
			if err := code.read(p.ImportPath, p.Dir, p.GoFiles); err != nil {
				return err
			}
			if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
				tested = append(tested, p)
			}
		}
	}
	var packages []string
	wanted, left := map[string]bool{}, map[string]bool{}
	for _, p := range tested {
		tests := source{question: q, all: maps.Clone(code.all), own: p.ImportPath, not: map[name]bool{}}
		names, err := tests.readTests(p)
		if err != nil {
			return err
		}
		// What runs before all tests.
		all := p.ImportPath == q.always || tests.uses(name{p.ImportPath, "TestMain"}) || tests.uses(name{p.ImportPath + external, "TestMain"})
		for path := range linked[p.ImportPath] {
			all = all || tests.uses(name{path, "init"}) || tests.uses(name{path, "_"})
		}
		any := false
		for _, test := range names {
			if all || tests.uses(test) {
				wanted[test.name], any = true, true
			} else {
				left[test.name] = true
			}
		}
		if any {
			packages = append(packages, p.ImportPath)
		}
	}
	if len(packages) == 0 {
		return errors.New("no package found")
	}
	slices.SortStableFunc(packages, func(a, b string) int { return q.place(a) - q.place(b) })
	maps.DeleteFunc(left, func(test string, _ bool) bool { return wanted[test] })
	fmt.Fprintf(w, "-skip=^(%s)$ %s\n", strings.Join(slices.Sorted(maps.Keys(left)), "|"), strings.Join(packages, " "))
	fmt.Fprintf(os.Stderr, "subset: tests of %d names in %d packages; those of %d other names, and of %d other packages, %s\n",
		len(wanted), len(packages), len(left), len(tested)-len(packages), q.others)
	return nil
}

// place is where a package comes in the list.
func (q *question) place(path string) int {
	if i := slices.Index(q.first, path); i >= 0 {
		return i
	}
	return len(q.first)
}

// name is that of a declaration at the top level of a package.
type name struct{ path, name string }

// declaration is all that is declared with a name, a type with its methods.
type declaration struct {
	yes  bool
	uses map[name]bool
}

// source is what packages declare.
type source struct {
	*question
	all map[name]*declaration
	own string        // the package of the tests
	not map[name]bool // names for which the answer is no
}

// readTests reads the tests of a package and returns their names.
func (s *source) readTests(p *listed) (tests []name, err error) {
	for n, d := range s.all {
		if n.path == p.ImportPath {
			s.all[n] = &declaration{d.yes, maps.Clone(d.uses)} // to which tests may add
		}
	}
	before := maps.Clone(s.all)
	if err := s.read(p.ImportPath, p.Dir, p.TestGoFiles); err != nil {
		return nil, err
	}
	if err := s.read(p.ImportPath+external, p.Dir, p.XTestGoFiles); err != nil {
		return nil, err
	}
	for n := range s.all {
		if before[n] == nil && (strings.HasPrefix(n.name, "Test") || strings.HasPrefix(n.name, "Fuzz") || strings.HasPrefix(n.name, "Example")) {
			tests = append(tests, n)
		}
	}
	return tests, nil
}

// read adds what the files of a package declare.
func (s *source) read(pkg, dir string, files []string) error {
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, file), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		imports := map[string]string{} // paths by names
		for _, i := range f.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			as := path.Base(p)
			if i.Name != nil {
				as = i.Name.Name
			}
			imports[as] = p
		}
		onlyTagged := slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool {
			return c.Pos() < f.Package && strings.HasPrefix(c.List[0].Text, "//go:build") && strings.Contains(c.List[0].Text, tag)
		})
		add := func(as string, n ast.Node) {
			d := s.all[name{pkg, as}]
			if d == nil {
				d = &declaration{uses: map[name]bool{}}
				s.all[name{pkg, as}] = d
			}
			d.yes = d.yes || onlyTagged
			function, ok := n.(*ast.FuncDecl)
			asked := ok && s.asked[name{pkg, function.Name.Name}]
			var visit func(n ast.Node) bool
			visit = func(n ast.Node) bool {
				d.yes = d.yes || n != nil && !asked && s.yes(n, pkg, imports["testkit"] == testkit)
				switch n := n.(type) {
				case *ast.Ident:
					if n.Obj == nil || f.Scope.Lookup(n.Name) == n.Obj { // else of an inner scope
						d.uses[name{pkg, n.Name}] = true
					}
				case *ast.FuncType: // arguments come from who has them
					if n.Results != nil {
						ast.Inspect(n.Results, visit)
					}
					return false
				case *ast.StructType: // what pointers in it point to, too
					for _, field := range n.Fields.List {
						ast.Inspect(field.Type, func(n ast.Node) bool {
							if _, ok := n.(*ast.StarExpr); ok {
								return false
							}
							return visit(n)
						})
					}
					return false
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
						d.uses[name{imports[x.Name], n.Sel.Name}] = true
					}
					ast.Inspect(n.X, visit) // what is selected has no scope
					return false
				}
				return true
			}
			ast.Inspect(n, visit)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name.Name, d)
					continue
				}
				ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
					if of, ok := n.(*ast.Ident); ok {
						add(of.Name, d)
					}
					return true
				})
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						add(spec.Name.Name, spec)
					case *ast.ValueSpec:
						for _, n := range spec.Names {
							add(n.Name, spec)
						}
					}
				}
			}
		}
	}
	return nil
}

// uses reports whether the answer is yes for a name or anything that it uses.
func (s *source) uses(n name) bool {
	seen := map[name]bool{}
	for names := []name{n}; len(names) > 0; {
		n, names = names[len(names)-1], names[:len(names)-1]
		d := s.all[n]
		if d == nil || seen[n] || s.not[n] || n.path != s.own && slices.Contains(s.apart, n.path) {
			continue
		}
		if d.yes {
			return true
		}
		seen[n] = true
		names = slices.AppendSeq(names, maps.Keys(d.uses))
	}
	maps.Copy(s.not, seen)
	return false
}
