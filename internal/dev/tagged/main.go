// Tagged prints arguments of "go test -tags alltests" for a tree on which "go test ./..." has passed: -skip with the tests that do not
// depend on the tag, and the packages that have others. A test depends on the tag if it uses, in whatever steps, something of testkit
// that is not the same with and without the tag. Where two tests have the same name, neither is left out unless both can be.
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
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	tag     = "alltests"
	testkit = "dubbo-wire/internal/dev/testkit"
)

// same are the names of testkit that are the same with and without the tag.
var same = map[string]bool{"Update": true, "Golden": true, "IsGolden": true, "WithoutColor": true, "CPU": true, "Captures": true, "Get": true, "Root": true, "Dir": true}

// taggedMethods are the methods of its captures that depend on the tag.
var taggedMethods = map[string]bool{"Sampled": true, "Left": true}

type listed struct {
	ImportPath, Dir, ForTest           string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Deps                               []string
	Module                             *struct{ Main bool }
}

func main() {
	if err := list(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tagged:", err)
		os.Exit(1)
	}
}

func list(w io.Writer) error {
	cmd := exec.Command("go", "list", "-tags", tag, "-test", "-deps", "-json=ImportPath,Dir,ForTest,GoFiles,TestGoFiles,XTestGoFiles,Deps,Module", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var tested []*listed
	linked := map[string][]string{} // by the package of the tests
	helpers := map[string]bool{}    // packages whose own code depends on the tag
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
			linked[p.ForTest] = append(linked[p.ForTest], p.Deps...)
		default:
			code := declarations{}
			if err := code.read(p.Dir, p.GoFiles); err != nil {
				return err
			}
			for _, d := range code {
				helpers[p.ImportPath] = helpers[p.ImportPath] || d.tagged && p.ImportPath != testkit
			}
			if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
				tested = append(tested, p)
			}
		}
	}
	var packages []string
	run, left := map[string]bool{}, map[string]bool{}
	for _, p := range tested {
		tests := declarations{}
		if err := tests.read(p.Dir, slices.Concat(p.TestGoFiles, p.XTestGoFiles)); err != nil {
			return err
		}
		// What runs before all tests.
		all := p.ImportPath == testkit || tests.depends("TestMain", "init", "_") || slices.ContainsFunc(linked[p.ImportPath], func(path string) bool {
			path, _, _ = strings.Cut(path, " ") // "[X.test]" follows the path of a package that is built for a test
			return helpers[path]
		})
		any := false
		for name := range tests {
			if !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Fuzz") && !strings.HasPrefix(name, "Example") {
				continue
			}
			if all || tests.depends(name) {
				run[name], any = true, true
			} else {
				left[name] = true
			}
		}
		if any {
			packages = append(packages, p.ImportPath)
		}
	}
	if len(packages) == 0 {
		return errors.New("no package found")
	}
	maps.DeleteFunc(left, func(name string, _ bool) bool { return run[name] })
	fmt.Fprintf(w, "-skip=^(%s)$ %s\n", strings.Join(slices.Sorted(maps.Keys(left)), "|"), strings.Join(packages, " "))
	fmt.Fprintf(os.Stderr, "tagged: tests of %d names in %d packages; %d names, and %d other packages, do not depend on the tag\n",
		len(run), len(packages), len(left), len(tested)-len(packages))
	return nil
}

// declaration is what is declared with a name at the top level, of whatever kind, and a type with its methods: nobody has a value of a
// type without a step that names the type.
type declaration struct {
	tagged bool
	uses   map[string]bool
}

// declarations are those of a package by name. Names in several scopes count as one, so that rather too much depends on the tag.
type declarations map[string]*declaration

// read adds what files declare.
func (all declarations) read(dir string, files []string) error {
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		imports := slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == strconv.Quote(testkit) })
		onlyTagged := slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool {
			return c.Pos() < f.Package && strings.HasPrefix(c.List[0].Text, "//go:build") && strings.Contains(c.List[0].Text, tag)
		})
		add := func(name string, n ast.Node) {
			d := all[name]
			if d == nil {
				d = &declaration{uses: map[string]bool{}}
				all[name] = d
			}
			d.tagged = d.tagged || onlyTagged
			var visit func(n ast.Node) bool
			visit = func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					d.uses[n.Name] = true
				case *ast.SelectorExpr:
					x, ok := n.X.(*ast.Ident)
					d.tagged = d.tagged || imports && (taggedMethods[n.Sel.Name] || ok && x.Name == "testkit" && !same[n.Sel.Name])
					ast.Inspect(n.X, visit)
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
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						add(s.Name.Name, s)
					case *ast.ValueSpec:
						for _, name := range s.Names {
							add(name.Name, s)
						}
					}
				}
			}
		}
	}
	return nil
}

// depends reports whether one of the names, or anything that it uses, depends on the tag.
func (all declarations) depends(names ...string) bool {
	seen := map[string]bool{}
	for len(names) > 0 {
		name := names[len(names)-1]
		names = names[:len(names)-1]
		d := all[name]
		if d == nil || seen[name] {
			continue
		}
		if d.tagged {
			return true
		}
		seen[name] = true
		names = slices.AppendSeq(names, maps.Keys(d.uses))
	}
	return false
}
