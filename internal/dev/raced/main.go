// Raced prints the packages in whose tests the race detector can find something, one per line: those with more than one
// goroutine. It leaves a package out only if neither its tests nor the packages of this module that they are built with start
// goroutines, and if no tests run in parallel. The code of such a package runs in several goroutines in the tests of others, such
// as pipeline, truth and cmd, and the race detector watches it there.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// contained are packages whose goroutines end before the call that started them returns. They share nothing with the caller, so
// the tests of these packages suffice.
var contained = []string{"dubbo-wire/internal/decode/classfile"}

// helpers are packages for tests. Their goroutines and parallel tests count for the tests that call them.
var helpers = []string{"dubbo-wire/internal/dev/testkit"}

// starters are functions and methods that start a goroutine, or run a test beside others.
var starters = map[string]bool{"Go": true, "AfterFunc": true, "Parallel": true, "RunParallel": true, "Each": true, "ListenAndServe": true, "Serve": true, "NewServer": true, "Pipe": true}

type listed struct {
	ImportPath, Dir, ForTest           string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Deps                               []string
	Module                             *struct{ Main bool }
}

func main() {
	if err := list(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "raced:", err)
		os.Exit(1)
	}
}

func list(w io.Writer) error {
	cmd := exec.Command("go", "list", "-test", "-deps", "-json=ImportPath,Dir,ForTest,GoFiles,TestGoFiles,XTestGoFiles,Deps,Module", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var tested []*listed
	linked := map[string][]string{} // by the package of the tests
	starts := map[string]bool{}
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
			if starts[p.ImportPath], err = startsGoroutines(p.Dir, p.GoFiles); err != nil {
				return err
			}
			if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
				tested = append(tested, p)
			}
		}
	}
	count := 0
	for _, p := range tested {
		raced, err := startsGoroutines(p.Dir, slices.Concat(p.TestGoFiles, p.XTestGoFiles))
		if err != nil {
			return err
		}
		raced = raced || starts[p.ImportPath] || slices.ContainsFunc(linked[p.ImportPath], func(path string) bool {
			path, _, _ = strings.Cut(path, " ") // "[X.test]" follows the path of a package that is built for a test
			return starts[path] && !slices.Contains(contained, path) && !slices.Contains(helpers, path)
		})
		if raced {
			count++
			fmt.Fprintln(w, p.ImportPath)
		}
	}
	if count == 0 {
		return errors.New("no package found")
	}
	fmt.Fprintf(os.Stderr, "raced: %d packages; in %d others all tests have one goroutine\n", count, len(tested)-count)
	return nil
}

// startsGoroutines reports whether one of the files has a go statement or calls a starter.
func startsGoroutines(dir string, files []string) (bool, error) {
	found := false
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			return false, err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				found = true
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && starters[s.Sel.Name] {
					found = true
				}
			}
			return !found
		})
	}
	return found, nil
}
