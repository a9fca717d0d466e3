package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	kit "dubbo-wire/internal/dev/testkit"
)

// A test is wanted if what the question asks about is anywhere in what it uses.
func TestList(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"go.mod":                          "module dubbo-wire\n\ngo 1.24\n",
		"internal/dev/testkit/testkit.go": "package testkit\n\nconst All = false\n\nfunc Golden() {}\n",
		"b/b.go":                          "package b\n\ntype Runner struct{ n inner }\n\ntype inner struct{}\n\nfunc (inner) Run() { go func() {}() }\n\nfunc Plain() {}\n",
		"internal/pipeline/pipeline.go": `package pipeline

type Options struct{ Jobs int }

func Run(o *Options) {
	if o.Jobs > 1 {
		runJobs()
	}
}

func runJobs() { go func() {}() }
`,
		"internal/dev/truth/truth_test.go": "package truth\n\nimport \"testing\"\n\nfunc TestBeside(t *testing.T) { t.Parallel() }\n",
		"a/a_test.go": `package a

import (
	"testing"

	"dubbo-wire/b"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
)

type plan struct{ steps []step }

type step struct{}

func (step) do() bool { return testkit.All }

func (p plan) run() {}

var count = size()

func size() int {
	if testkit.All {
		return 2
	}
	return 1
}

func TestPlain(*testing.T)         { b.Plain(); testkit.Golden() }
func TestDirect(*testing.T)        { _ = testkit.All }
func TestField(*testing.T)         { plan{}.run() }
func TestVariable(*testing.T)      { _ = count }
func TestGoroutine(*testing.T)     { var r b.Runner; _ = r }
func TestParallel(t *testing.T)    { t.Parallel() }
func TestFunctionValue(*testing.T) { f := size; f() }
func TestJobs(*testing.T)          { pipeline.Run(&pipeline.Options{Jobs: 2}) }
func TestOneJob(*testing.T)        { pipeline.Run(&pipeline.Options{Jobs: 1}) }
func TestSetJobs(*testing.T)       { var o pipeline.Options; o.Jobs = size(); pipeline.Run(&o) }
`,
		"c/c_test.go":      "package c\n\nimport \"testing\"\n\nfunc TestOther(*testing.T) {}\n",
		"c/tagged_test.go": "//go:build alltests\n\npackage c\n\nimport \"testing\"\n\nfunc TestTagged(*testing.T) {}\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(file))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	for which, want := range map[string]struct{ left, packages string }{
		"tag":  {"TestBeside TestGoroutine TestJobs TestOneJob TestOther TestParallel TestPlain", "dubbo-wire/a dubbo-wire/c"},
		"race": {"TestBeside TestDirect TestField TestFunctionValue TestOneJob TestOther TestPlain TestVariable", "dubbo-wire/a"},
	} {
		q := questions[which]
		var out bytes.Buffer
		require.NoError(t, list(&out, &q))
		m := regexp.MustCompile(`^-skip=\^\((.*)\)\$ (.*)\n$`).FindStringSubmatch(out.String())
		require.NotNil(t, m, out.String())
		assert.Equal(t, want.left, strings.Join(strings.Split(m[1], "|"), " "), which)
		assert.Equal(t, want.packages, m[2], which)
	}
}

// Functions that are asked before they start goroutines do start some: if the go statement moves to another one, many tests are wanted in vain.
func TestAsked(t *testing.T) {
	for n := range questions["race"].asked {
		folder, _ := strings.CutPrefix(strings.TrimSuffix(n.path, external), "dubbo-wire")
		files, err := filepath.Glob(filepath.Join(kit.Root(), folder, "*.go"))
		require.NoError(t, err)
		starts := false
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			require.NoError(t, err)
			for _, d := range f.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && d.Name.Name == n.name {
					ast.Inspect(d, func(n ast.Node) bool {
						starts = starts || startsGoroutine(n, "", false)
						return !starts
					})
				}
			}
		}
		assert.True(t, starts, "%s starts goroutines", n)
	}
}
