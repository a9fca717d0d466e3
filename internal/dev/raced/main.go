// Raced prints the packages in whose tests the race detector can find something, one per line: those with more than one
// goroutine. It leaves a package out only if neither its tests nor the packages of this module that they are built with start
// goroutines, and if no tests run in parallel. The code of such a package runs in several goroutines in the tests of others, such
// as pipeline, truth and cmd, and the race detector watches it there.
//
// With -tagged it prints the packages whose tests depend on the build tag alltests: those that use anything of testkit but what is the
// same with and without the tag. What it leaves out is tested by "go test ./..." already.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// contained are packages whose goroutines end before the call that started them returns. They share nothing with the caller, so
// the tests of these packages suffice.
var contained = []string{"dubbo-wire/internal/decode/classfile"}

// helpers are packages for tests. Their goroutines and parallel tests count for the tests that call them.
var helpers = []string{"dubbo-wire/internal/dev/testkit"}

// starters are functions and methods that start a goroutine, or run a test beside others.
var starters = map[string]bool{"Go": true, "AfterFunc": true, "Parallel": true, "RunParallel": true, "Each": true, "ListenAndServe": true, "Serve": true, "NewServer": true, "Pipe": true}

// untagged are the names of testkit that are the same with and without the tag alltests.
var untagged = map[string]bool{"Update": true, "Golden": true, "IsGolden": true, "WithoutColor": true, "CPU": true, "Get": true, "Root": true, "Dir": true}

// question is what is asked of the source of a package.
type question struct {
	flags  []string              // of go list
	node   func(n ast.Node) bool // whether the answer is yes because of a node
	always string                // a package for which it is yes; only files that import it are looked at
	report string
}

var questions = map[bool]question{
	false: {node: startsGoroutine, report: "raced: %d packages; in %d others all tests have one goroutine\n"},
	true: {
		flags: []string{"-tags", "alltests"}, node: dependsOnTag, always: helpers[0],
		report: "tagged: %d packages; the tests of %d others do not depend on the tag alltests\n",
	},
}

type listed struct {
	ImportPath, Dir, ForTest           string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Deps                               []string
	Module                             *struct{ Main bool }
}

func main() {
	tagged := flag.Bool("tagged", false, "print the packages whose tests depend on the build tag alltests")
	flag.Parse()
	if err := list(os.Stdout, questions[*tagged]); err != nil {
		fmt.Fprintln(os.Stderr, "raced:", err)
		os.Exit(1)
	}
}

func list(w io.Writer, q question) error {
	args := append([]string{"list", "-test", "-deps", "-json=ImportPath,Dir,ForTest,GoFiles,TestGoFiles,XTestGoFiles,Deps,Module"}, q.flags...)
	cmd := exec.Command("go", append(args, "./...")...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var tested []*listed
	linked := map[string][]string{} // by the package of the tests
	yes := map[string]bool{}
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
			if yes[p.ImportPath], err = q.any(p.Dir, p.GoFiles); err != nil {
				return err
			}
			if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
				tested = append(tested, p)
			}
		}
	}
	count := 0
	for _, p := range tested {
		printed, err := q.any(p.Dir, slices.Concat(p.TestGoFiles, p.XTestGoFiles))
		if err != nil {
			return err
		}
		printed = printed || yes[p.ImportPath] || p.ImportPath == q.always || slices.ContainsFunc(linked[p.ImportPath], func(path string) bool {
			path, _, _ = strings.Cut(path, " ") // "[X.test]" follows the path of a package that is built for a test
			return yes[path] && !slices.Contains(contained, path) && !slices.Contains(helpers, path)
		})
		if printed {
			count++
			fmt.Fprintln(w, p.ImportPath)
		}
	}
	if count == 0 {
		return errors.New("no package found")
	}
	fmt.Fprintf(os.Stderr, q.report, count, len(tested)-count)
	return nil
}

// any reports whether the answer is yes because of a node of one of the files.
func (q *question) any(dir string, files []string) (bool, error) {
	found := false
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			return false, err
		}
		if q.always != "" && !slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == strconv.Quote(q.always) }) {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			found = found || q.node(n)
			return !found
		})
	}
	return found, nil
}

// startsGoroutine reports whether n is a go statement or calls a starter.
func startsGoroutine(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		s, ok := n.Fun.(*ast.SelectorExpr)
		return ok && starters[s.Sel.Name]
	}
	return false
}

// dependsOnTag reports whether n is a name of testkit that may depend on the tag, or a call of a method of its captures that does.
func dependsOnTag(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		x, ok := n.X.(*ast.Ident)
		return ok && x.Name == "testkit" && !untagged[n.Sel.Name]
	case *ast.CallExpr:
		s, ok := n.Fun.(*ast.SelectorExpr)
		return ok && (s.Sel.Name == "Sampled" || s.Sel.Name == "Left")
	}
	return false
}
