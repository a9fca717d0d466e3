package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// root is the repository's folder.
const root = "../../.."

// program builds dubbo-wire once and returns its path.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "dubbo-wire-docs")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "dubbo-wire")
	built = dir
	cmd := exec.Command("go", "build", "-o", path, "./cmd/dubbo-wire")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// built is the folder of the program, "" before it is built.
var built string

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// dubboWire runs the program in a folder where testdata lies as it does in the repository, on a terminal of 80 columns.
func dubboWire(t *testing.T, args ...string) string {
	t.Helper()
	require.Empty(t, writtenBelow("testdata", args), "%s: testdata is the repository's own", args)
	path, err := program()
	require.NoError(t, err)
	dir := t.TempDir()
	data, err := filepath.Abs(filepath.Join(root, "testdata"))
	require.NoError(t, err)
	require.NoError(t, os.Symlink(data, filepath.Join(dir, "testdata")))
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Env = []string{"COLUMNS=80"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	out := stdout.String() + stderr.String()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out + fmt.Sprintf("exit status %d\n", exit.ExitCode())
	}
	require.NoError(t, err)
	return out
}

// writtenBelow returns the path below a folder that a command would write to, or "".
func writtenBelow(folder string, args []string) string {
	below := func(name string) bool {
		return slices.Contains(strings.Split(filepath.ToSlash(filepath.Clean(name)), "/"), folder)
	}
	for i, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok && i+1 < len(args) {
			value = args[i+1]
		}
		switch {
		case arg == "--update": // of the golden file
			j := slices.Index(args, "--golden")
			if j >= 0 && j+1 < len(args) && below(args[j+1]) {
				return args[j+1]
			}
		case slices.Contains([]string{"-o", "--output", "-w", "--write", "--raw"}, name):
			if below(value) {
				return value
			}
		case len(arg) > 2 && (strings.HasPrefix(arg, "-o") || strings.HasPrefix(arg, "-w")) && below(arg[2:]):
			return arg[2:]
		}
	}
	return ""
}

func TestWrittenBelow(t *testing.T) {
	for line, want := range map[string]string{
		"analyze testdata/captures/mixed.pcap.zst":                    "",
		"analyze testdata/captures/mixed.pcap.zst -o sizes.json":      "",
		"analyze a.pcap -o testdata/captures/a.json":                  "testdata/captures/a.json",
		"redact a.pcap --output=./testdata/x.pcapng":                  "./testdata/x.pcapng",
		"capture eth0 -wtestdata/captures/a.pcapng":                   "testdata/captures/a.pcapng",
		"explain a.pcap --raw testdata/a.bin":                         "testdata/a.bin",
		"check a.pcap --golden testdata/golden/check/a.json":          "",
		"check a.pcap --golden testdata/golden/check/a.json --update": "testdata/golden/check/a.json",
	} {
		assert.Equal(t, want, writtenBelow("testdata", strings.Fields(line)), line)
	}
}

// pages returns README.md and docs/*.md, by path below the root. What others generate is not among them.
func pages(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	names := []string{"README.md"}
	for _, p := range all {
		names = append(names, "docs/"+filepath.Base(p))
	}
	return names
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(b)
}

// rewrite replaces a page, if that was asked for and it changed; else it compares.
func rewrite(t *testing.T, name, old, now string) {
	t.Helper()
	if *testkit.Update {
		if old != now {
			require.NoError(t, os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(now), 0o644))
		}
		return
	}
	was, is := strings.Split(old, "\n"), strings.Split(now, "\n")
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || was[i] != is[i] {
			t.Errorf("%s:%d is out of date: go test ./internal/dev/docs -update\n page %s\n now  %s", name, i+1, line(was, i), line(is, i))
			return
		}
	}
}

func line(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(end)"
}

// shown is how a command is written in a page; the rest of the line is its arguments.
var shown = []string{"$ dubbo-wire ", "$ go run ./cmd/dubbo-wire "}

func shownArgs(line string) (args string, ok bool) {
	for _, s := range shown {
		if args, ok := strings.CutPrefix(line, s); ok {
			return args, true
		}
	}
	return "", false
}

// more ends an output that is shown in part: it stands for one line or many.
const more = "…"

// Every command in a code block that starts with $ is run; what follows it in the block is what it prints.
func TestCommands(t *testing.T) {
	sources(t)
	for _, name := range pages(t) {
		old := read(t, name)
		var now strings.Builder
		lines := strings.SplitAfter(old, "\n")
		for i := 0; i < len(lines); {
			now.WriteString(lines[i])
			line := strings.TrimSuffix(lines[i], "\n")
			i++
			text, ok := shownArgs(line)
			if !ok {
				continue
			}
			var had []string
			for i < len(lines) && !strings.HasPrefix(lines[i], "$ ") && !strings.HasPrefix(lines[i], "```") {
				had = append(had, lines[i])
				i++
			}
			require.Less(t, i, len(lines), "%s: the block of %q has no end", name, line)
			var out string
			t.Run(line, func(t *testing.T) { out = dubboWire(t, split(t, text)...) })
			if n := len(had) - 1; n > 0 && had[n] == more+"\n" {
				all := strings.SplitAfter(out, "\n")
				if len(all) > n+1 {
					out = strings.Join(all[:n], "") + more + "\n"
				}
			}
			now.WriteString(out)
		}
		rewrite(t, name, old, now.String())
	}
}

// sources reads the program's source, so that a changed one makes the cached result of this test void.
func sources(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				_, err = os.Stat(path)
			}
			return err
		})
		require.NoError(t, err)
	}
}

// split cuts a command line into words; single quotes keep a word together.
func split(t *testing.T, text string) []string {
	t.Helper()
	var words []string
	for i, quoted := range strings.Split(text, "'") {
		if i%2 == 1 {
			words = append(words, quoted)
		} else {
			require.NotRegexp(t, "[|><&;$`\"\\\\]", quoted, "only plain words and single quotes are understood")
			words = append(words, strings.Fields(quoted)...)
		}
	}
	return words
}

// A table between these lines is generated.
var generated = map[string]func(*testing.T) string{
	"protocols": protocolsTable,
	"formats":   formatsTable,
	"captures":  capturesTable,

	"estimateMatrix":  func(t *testing.T) string { return read(t, "testdata/golden/estimated/matrix.md") },
	"estimateSources": func(t *testing.T) string { return read(t, "testdata/golden/estimated/sources.md") },
	"estimateErrors":  func(t *testing.T) string { return read(t, "testdata/golden/estimated/errors.md") },
}

var marker = regexp.MustCompile(`(?s)(<!-- (\w+): generated -->\n).*?(<!-- end of \w+ -->\n)`)

func TestTablesOfPages(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range pages(t) {
		old := read(t, name)
		now := marker.ReplaceAllStringFunc(old, func(s string) string {
			m := marker.FindStringSubmatch(s)
			table := generated[m[2]]
			require.NotNil(t, table, "%s: no table %q is generated", name, m[2])
			seen[m[2]] = true
			return m[1] + "\n" + table(t) + "\n" + m[3]
		})
		rewrite(t, name, old, now)
	}
	for name := range generated {
		assert.True(t, seen[name], "table %q is in no page", name)
	}
}

// formatsTable and protocolsTable are the tables that the program prints, without their headings and notes.
func formatsTable(t *testing.T) string { return printedTable(t, "## SERIALIZATIONS") }

func protocolsTable(t *testing.T) string { return printedTable(t, "## PROTOCOLS") }

func printedTable(t *testing.T, heading string) string {
	var b strings.Builder
	_, out, ok := strings.Cut(dubboWire(t, "formats", "--format", "markdown"), heading+"\n")
	require.True(t, ok, heading)
	out, _, _ = strings.Cut(out, "\n## ")
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "|") {
			b.WriteString(line)
		}
	}
	require.NotEmpty(t, b.String())
	return b.String()
}

// capturesTable lists the committed captures with what provenance.json knows of them.
func capturesTable(t *testing.T) string {
	var captures []struct {
		File, Dubbo, LinkType, Note string
		Serializations, Workloads   []string
		Optimizer, Complete         bool
		Packets                     int
		FramesSent                  map[string]int
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, "testdata/captures/provenance.json")), &captures))
	var b strings.Builder
	b.WriteString("| capture | Dubbo | serialization | workload | link type | packets | frames sent | what differs |\n")
	b.WriteString("| --- | --- | --- | --- | --- | ---: | ---: | --- |\n")
	for _, c := range captures {
		serialization := strings.Join(c.Serializations, ", ")
		if len(c.Serializations) > 3 {
			serialization = fmt.Sprintf("%d on one connection", len(c.Serializations))
		}
		frames := 0
		for _, n := range c.FramesSent {
			frames += n
		}
		var notes []string
		if c.Optimizer {
			notes = append(notes, "with a SerializationOptimizer")
		}
		if c.Note != "" {
			notes = append(notes, strings.ReplaceAll(c.Note, "|", "\\|"))
		}
		if !c.Complete {
			notes = append(notes, "incomplete on purpose")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %d | %d | %s |\n", c.File, c.Dubbo, serialization,
			strings.Join(c.Workloads, ", "), c.LinkType, c.Packets, frames, strings.Join(notes, "; "))
	}
	return b.String()
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Links within the repository lead to a file, and to a heading where they name one.
func TestLinks(t *testing.T) {
	for _, name := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, name), -1) {
			target, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := name
			if target != "" {
				path = filepath.ToSlash(filepath.Join(filepath.Dir(name), target))
			}
			_, err := os.Stat(filepath.Join(root, path))
			if assert.NoError(t, err, "%s links to %s", name, m[1]) && heading != "" {
				assert.Contains(t, headings(read(t, path)), heading, "%s links to %s", name, m[1])
			}
		}
	}
}

// headings are the anchors of a page, as GitHub makes them.
func headings(page string) []string {
	var all []string
	for line := range strings.Lines(page) {
		if text := strings.TrimLeft(line, "#"); text != line && strings.HasPrefix(text, " ") {
			slug := strings.ToLower(strings.TrimSpace(text))
			slug = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(slug, "")
			all = append(all, strings.ReplaceAll(slug, " ", "-"))
		}
	}
	return all
}

// The README is short: what is longer belongs to docs. Every page of docs is in its index, and begins with a heading and a paragraph
// that says what it answers.
func TestPagesAreListed(t *testing.T) {
	assert.LessOrEqual(t, strings.Count(read(t, "README.md"), "\n"), 200, "README.md")
	index := read(t, "docs/README.md")
	for _, name := range pages(t) {
		page := read(t, name)
		assert.Regexp(t, `\A# .+\n\n[A-Za-z\x60].+`, page, name)
		if base := filepath.Base(name); base != "README.md" {
			assert.Contains(t, index, "]("+base+")", "docs/README.md")
		}
	}
}

var (
	// invocation is the program with its arguments; in the title of a screen two spaces follow it.
	invocation = regexp.MustCompile(`(?:^|\$ |\| |sudo |\./cmd/)dubbo-wire((?: [^| ][^|]*)?)$`)
	option     = regexp.MustCompile(`(?:^| )(--?[a-z][a-z-]*)`)
	span       = regexp.MustCompile("`([^`]+)`")
)

// commandLines are the lines of a page's code blocks, and what is marked as code in its sentences.
func commandLines(page string) []string {
	var all []string
	block := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			block = !block
		case block:
			all = append(all, line)
		default:
			for _, m := range span.FindAllStringSubmatch(line, -1) {
				all = append(all, m[1])
			}
		}
	}
	return all
}

// No page names a command or a flag that does not exist.
func TestFlags(t *testing.T) {
	flags := helpFlags(t)
	for _, name := range pages(t) {
		for _, line := range commandLines(read(t, name)) {
			if o, _, _ := strings.Cut(line, " "); strings.HasPrefix(o, "--") && o != "--" {
				assert.True(t, anyHas(flags, o), "%s: no command has %s", name, o)
			}
			m := invocation.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			checkInvocation(t, flags, name, m[1])
		}
	}
}

// checkInvocation checks the command and the flags in the arguments of dubbo-wire on a page.
func checkInvocation(t *testing.T, flags map[string][]string, page, args string) {
	t.Helper()
	words := strings.Fields(args)
	command := ""
	if len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		command = words[0]
	}
	known, ok := flags[command]
	assert.True(t, ok, "%s: %s is not a command: %s", page, command, args)
	for _, o := range option.FindAllStringSubmatch(args, -1) {
		assert.Contains(t, known, o[1], "%s: %s has no such flag: %s", page, command, args)
	}
}

func anyHas(flags map[string][]string, flag string) bool {
	for _, known := range flags {
		if slices.Contains(known, flag) {
			return true
		}
	}
	return false
}

// helpFlags asks every command for its flags. "" is the program itself.
func helpFlags(t *testing.T) map[string][]string {
	help := dubboWire(t, "--help")
	flags := map[string][]string{"": flagsOf(help)}
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z]+)  +[A-Z]`).FindAllStringSubmatch(help, -1) {
		flags[m[1]] = flagsOf(dubboWire(t, m[1], "--help"))
	}
	require.Contains(t, flags, "analyze")
	return flags
}

func flagsOf(help string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^ {2,6}(?:(-[a-z]), )?(--[a-z-]+)`).FindAllStringSubmatch(help, -1) {
		all = append(all, m[1:]...)
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}
