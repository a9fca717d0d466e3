package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
)

const module = "dubbo-wire/"

// source is a package: its folder below the root, and its files.
type source struct {
	dir         string
	files       []*ast.File // without tests
	tests       []*ast.File
	description string // package comment
}

// packages parses the module. By folder.
func packages(t *testing.T) map[string]*source {
	t.Helper()
	all := map[string]*source{}
	for _, top := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() && e.Name() == "testdata" {
				return skip(err)
			}
			if e.IsDir() || !strings.HasSuffix(path, ".go") {
				return nil
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, filepath.Dir(path))
			dir := filepath.ToSlash(rel)
			p := all[dir]
			if p == nil {
				p = &source{dir: dir}
				all[dir] = p
			}
			if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(dir, "/formattest") { // what tests share
				p.tests = append(p.tests, f)
				return err
			}
			p.files = append(p.files, f)
			if f.Doc != nil {
				p.description += f.Doc.Text()
			}
			return err
		})
		require.NoError(t, err)
	}
	return all
}

// skip passes over a folder, or reports why it could not be read.
func skip(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}

func imports(files []*ast.File) []string {
	var all []string
	for _, f := range files {
		for _, i := range f.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// below reports whether a package is the folder or lies in it; the path may have the module in front.
func below(path string, folders ...string) bool {
	path = strings.TrimPrefix(path, module)
	return slices.ContainsFunc(folders, func(f string) bool { return path == f || strings.HasPrefix(path, f+"/") })
}

// rules say what the packages of a folder may import of this module, and what of others they may not. Tests may import
// more.
var rules = []struct {
	folder string
	own    []string // folders of this module, beside the folder itself
	not    []string // import paths of others, and what lies below them
}{
	{"internal/capture", []string{"internal/term"}, []string{"github.com/spf13/cobra"}},
	{"internal/decode/formats", []string{"internal/decode"}, []string{"github.com", "golang.org"}},
	{"internal/decode", []string{"internal/rpc"}, []string{"github.com"}},
	{"internal/rpc", []string{"internal/decode"}, []string{"github.com", "golang.org"}},
	{"internal/call", []string{"internal/rpc", "internal/decode"}, []string{"github.com", "golang.org"}},
	{"internal/sizes", []string{"internal/call", "internal/rpc", "internal/decode"}, []string{"github.com", "golang.org"}},
	{"internal/pipeline", []string{"internal/capture", "internal/rpc", "internal/decode", "internal/call"}, []string{"github.com"}},
	{
		"internal/report",
		[]string{"internal/capture", "internal/pipeline", "internal/rpc", "internal/decode", "internal/call", "internal/sizes", "internal/term"},
		[]string{"github.com/gopacket", "github.com/spf13/cobra"},
	},
	{
		"internal/findings",
		[]string{"internal/pipeline", "internal/rpc", "internal/decode", "internal/call", "internal/sizes", "internal/report"},
		[]string{"github.com/gopacket", "github.com/spf13/cobra"},
	},
	{
		"internal/explain",
		[]string{"internal/pipeline", "internal/rpc", "internal/decode", "internal/call", "internal/report", "internal/term"},
		[]string{"github.com/gopacket", "github.com/spf13/cobra"},
	},
	{
		"internal/live",
		[]string{"internal/pipeline", "internal/rpc", "internal/decode", "internal/call", "internal/sizes", "internal/report", "internal/findings", "internal/explain"},
		[]string{"github.com", "charm.land"},
	},
	{
		"internal/screen",
		[]string{"internal/live", "internal/report", "internal/term"},
		[]string{"github.com/gopacket", "github.com/spf13/cobra"},
	},
	{
		"internal/metrics",
		[]string{"internal/pipeline", "internal/rpc", "internal/call", "internal/sizes"},
		[]string{"github.com/gopacket", "github.com/spf13/cobra"},
	},
	{"internal/term", nil, []string{"github.com/gopacket", "github.com/spf13/cobra"}},
	{everywhere, nil, []string{"github.com", "golang.org"}},
}

// everywhere is the folder that all others may import: what Go does not have of the processor.
const everywhere = "internal/prefetch"

// TestEveryTestKnowsUpdate: go test ./... -update is a flag of every package's tests.
func TestEveryTestKnowsUpdate(t *testing.T) {
	for dir, p := range packages(t) {
		if len(p.tests) == 0 || dir == "internal/dev/testkit" {
			continue
		}
		known := imports(p.tests)
		assert.True(t, slices.Contains(known, module+"internal/dev/testkit") || slices.Contains(known, module+"internal/decode/formats/formattest"),
			"no test of %s imports testkit, which defines -update; add: import _ \"dubbo-wire/internal/dev/testkit\"", dir)
	}
}

// neutral are the folders behind the protocol seam: they know no protocol, by import or by name.
var neutral = []string{
	"internal/rpc", "internal/pipeline", "internal/call", "internal/sizes", "internal/findings", "internal/live", "internal/report",
	"internal/explain", "internal/redact", "internal/screen", "internal/compare", "internal/check",
}

// TestNeutral: what a protocol is called, and what is special about it, is known in its folder.
func TestNeutral(t *testing.T) {
	all := packages(t)
	const list = "internal/decode/protocols"
	protocolFolders := []string{list}
	for _, path := range imports(all[list].files) {
		if below(path, "internal/decode") {
			protocolFolders = append(protocolFolders, strings.TrimPrefix(path, module))
		}
	}
	names := map[string]bool{}
	for _, p := range protocols.All() {
		names[p.Name] = true
	}
	for dir, p := range all {
		if !below(dir, neutral...) {
			continue
		}
		for _, path := range imports(p.files) {
			assert.False(t, below(path, protocolFolders...), "%s knows a protocol: %s", dir, path)
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, _ := strconv.Unquote(lit.Value)
					assert.False(t, names[text], "%s names the protocol %q", dir, text)
				}
				return true
			})
		}
	}
}

// bothEnds are the only folders that may import capture as well as decoders of bodies.
var bothEnds = []string{"cmd", "internal/pipeline", "internal/measure", "internal/session", "internal/dev"}

// allowed are packages of others that one folder alone may import, whatever the rules say.
var allowed = map[string][]string{
	"internal/decode/compress":  {"github.com/klauspost/compress", "github.com/andybalholm/brotli"},
	"internal/decode/protofile": {"github.com/bufbuild/protocompile"},
	// what the processor has for the assembly
	"internal/decode/formats/hessian2": {"golang.org/x/sys/cpu"},
}

func TestImports(t *testing.T) {
	all := packages(t)
	for _, rule := range rules {
		require.Contains(t, all, rule.folder)
	}
	for dir, p := range all {
		for _, path := range imports(p.files) {
			for _, rule := range rules {
				if !below(dir, rule.folder) {
					continue
				}
				if own, ok := strings.CutPrefix(path, module); ok {
					assert.True(t, below(own, append(rule.own, rule.folder, everywhere)...), "%s may not import %s", dir, path)
				}
				assert.False(t, below(path, rule.not...) && !below(path, allowed[dir]...), "%s may not import %s", dir, path)
			}
			if !below(dir, append([]string{"internal/decode/formats"}, bothEnds...)...) || dir == "internal/pipeline" {
				assert.False(t, below(path, "internal/decode/formats"), "%s knows a format: %s", dir, path)
			}
		}
		for _, path := range imports(append(slices.Clone(p.files), p.tests...)) {
			assert.NotEqual(t, "C", path, "%s: pure Go only", dir)
			assert.False(t, strings.HasPrefix(path, "github.com/google/gopacket"), "%s: use github.com/gopacket/gopacket", dir)
		}
		own := imports(p.files)
		seesCapture := slices.ContainsFunc(own, func(s string) bool { return below(s, "internal/capture") })
		seesFormats := slices.ContainsFunc(own, func(s string) bool { return below(s, "internal/decode/formats") })
		if seesCapture && seesFormats {
			assert.True(t, below(dir, bothEnds...), "%s sees both ends of the line", dir)
		}
	}
}

// Decoders have no state of their own: no init, and tables that nothing writes to.
func TestFormatsHaveNoState(t *testing.T) {
	for dir, p := range packages(t) {
		if !below(dir, "internal/decode") {
			continue
		}
		maps := map[string]bool{}
		for _, f := range p.files {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					assert.False(t, d.Recv == nil && d.Name.Name == "init", "%s has an init function", dir)
				case *ast.GenDecl:
					for _, s := range d.Specs {
						if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR && isMap(v) {
							for _, n := range v.Names {
								maps[n.Name] = true
								assert.False(t, n.IsExported(), "%s exports the map %s, so that anybody can change it", dir, n.Name)
							}
						}
					}
				}
			}
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				for _, name := range written(n) {
					assert.False(t, maps[name], "%s changes its package's map %s", dir, name)
				}
				return true
			})
		}
	}
}

func isMap(v *ast.ValueSpec) bool {
	if _, ok := v.Type.(*ast.MapType); ok {
		return true
	}
	for _, e := range v.Values {
		switch e := e.(type) {
		case *ast.CompositeLit:
			if _, ok := e.Type.(*ast.MapType); ok {
				return true
			}
		case *ast.CallExpr:
			if len(e.Args) > 0 {
				if _, ok := e.Args[0].(*ast.MapType); ok {
					return true
				}
			}
		}
	}
	return false
}

// written are the names of what a statement assigns to: x = …, x[k] = …, delete(x, …), clear(x).
func written(n ast.Node) []string {
	var names []string
	add := func(e ast.Expr) {
		if i, ok := e.(*ast.IndexExpr); ok {
			e = i.X
		}
		if id, ok := e.(*ast.Ident); ok {
			names = append(names, id.Name)
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			for _, e := range n.Lhs {
				add(e)
			}
		}
	case *ast.IncDecStmt:
		add(n.X)
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "delete" || f.Name == "clear") && len(n.Args) > 0 {
			add(n.Args[0])
		}
	}
	return names
}

// fromSource is how a package comment says what it follows.
var fromSource = regexp.MustCompile(`(?i)\bsources?:|\bfollows\b|https?://|\b[A-Z]\w+Output(Stream|2)?\b`)

// Every folder that has a Format is in the list, and brings along what shows that it works.
func TestFormats(t *testing.T) {
	all := packages(t)
	listed := imports(all["internal/decode/formats"].files)
	count := 0
	for dir, p := range all {
		if filepath.ToSlash(filepath.Dir(dir)) != "internal/decode/formats" || !hasFormat(p.files) {
			continue
		}
		count++
		t.Run(filepath.Base(dir), func(t *testing.T) {
			assert.Contains(t, listed, module+dir, "the folder is not in formats.All")
			assert.Regexp(t, fromSource, p.description, "the package comment names no source")
			assert.True(t, hasTest(p, `^Fuzz`), "no fuzz target")
			assert.True(t, hasTest(p, `^Benchmark`), "no benchmark")
			hostile := hasTest(p, `Hostile|Stops`)
			for _, path := range imports(p.files) { // a dialect of another format's reader is tested there
				if q := all[strings.TrimPrefix(path, module)]; q != nil && below(q.dir, "internal/decode/formats") {
					hostile = hostile || hasTest(q, `Hostile|Stops`)
				}
			}
			assert.True(t, hostile, "no hostile bodies: no test with Hostile or Stops in its name")
		})
	}
	list := formats.All()
	names, folders := map[string]bool{}, map[string]bool{}
	for i, f := range list {
		name := fmt.Sprintf("%d %s", f.ID, f.FullName())
		folders[f.Name] = true
		assert.False(t, names[name], "%s is listed twice", name)
		names[name] = true
		assert.LessOrEqual(t, f.ID, uint8(31), "%s: an id has five bits", name)
		assert.NotNil(t, f.New, name)
		assert.NotEmpty(t, f.Releases, name)
		if f.Depth > decode.DepthNone {
			assert.True(t, f.Starts.Request != nil && f.Starts.Result != nil, "%s does not say how its bodies start", name)
		}
		_, err := os.Stat(filepath.Join(root, "testdata", "captures", f.Capture))
		assert.NoError(t, err, "%s has no capture", name)
		if i == 0 {
			continue
		}
		if list[i-1].ID == f.ID {
			assert.NotEmpty(t, f.Dialect, "%s: another format has that id, what tells them apart?", name)
			assert.False(t, f.Tell == nil && f.TellWhole == nil, "%s: no bytes tell it from others with its id", name)
			continue
		}
		assert.Less(t, list[i-1].ID, f.ID, "formats.All is sorted by id")
	}
	assert.GreaterOrEqual(t, len(list), count, "a folder has a Format that is not in formats.All")
	assert.GreaterOrEqual(t, count, len(folders), "formats.All has names without a folder")
}

func hasFormat(files []*ast.File) bool {
	for _, f := range files {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, s := range g.Specs {
					if v, ok := s.(*ast.ValueSpec); ok && v.Names[0].Name == "Format" {
						return true
					}
				}
			}
		}
	}
	return false
}

func hasTest(p *source, pattern string) bool {
	re := regexp.MustCompile(pattern)
	for _, f := range p.tests {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && re.MatchString(fn.Name.Name) {
				return true
			}
		}
	}
	return false
}
