package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/exit"
)

func walk(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, c := range cmd.Commands() {
		walk(c, f)
	}
}

// examples are the command lines that help shows of all commands, in the order of help, with their command's name.
func examples() (lines, commands []string) {
	root := newRoot(&streams{})
	all := append([]*cobra.Command{root}, commandsOf(root, func(*cobra.Command) bool { return true })...)
	for _, c := range all {
		for line := range strings.Lines(c.Example) {
			if line = strings.TrimSpace(line); line != "" {
				lines, commands = append(lines, line), append(commands, c.Name())
			}
		}
	}
	return lines, commands
}

// exampleFolder is a folder with real captures under every name that the examples read, with programs in front of the
// search path that stand for those which send packets.
func exampleFolder(t *testing.T, lines []string) (dir string, shell func(line string) (out, stderr string, code int)) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	dir = t.TempDir()
	stubs := filepath.Join(t.TempDir(), "bin")
	require.NoError(t, os.Mkdir(stubs, 0o777))
	shell = func(line string) (string, string, int) {
		c := exec.Command("sh", "-c", line)
		c.Dir = dir
		c.Env = append(os.Environ(), "PATH="+stubs+":"+os.Getenv("PATH"), "COLUMNS=80", "USER=nobody")
		var out, stderr strings.Builder
		c.Stdout, c.Stderr = &out, &stderr
		if err := c.Run(); err != nil && c.ProcessState == nil {
			t.Fatalf("%s: %v", line, err)
		}
		return out.String(), stderr.String(), c.ProcessState.ExitCode()
	}
	captures := map[string][]byte{}
	for name, of := range map[string]string{"": "mixed", "before": "hessian2", "after": "kryo"} {
		data := testkit.Get(t, of).Bytes(t)
		captures[name] = data
	}
	write := func(name string) {
		data := captures[strings.SplitN(filepath.Base(name), ".", 2)[0]]
		if data == nil {
			data = captures[""]
		}
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, data, 0o666))
	}
	write("trace.pcap")
	write("team.key") // of any bytes
	model, err := os.ReadFile(filepath.Join(filepath.Dir(testkit.Dir()), "models", "rig.jar"))
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "lib"), 0o777))
	for _, name := range []string{"app.jar", "web.war", "lib/app.jar"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), model, 0o666))
	}
	script := "#!/bin/sh\nexec cat '" + filepath.Join(dir, "trace.pcap") + "'\n"
	for _, name := range []string{"tcpdump", "ssh", "kubectl", "docker"} {
		require.NoError(t, os.WriteFile(filepath.Join(stubs, name), []byte(script), 0o777))
	}
	reports := map[string]bool{}
	for _, line := range lines {
		words := strings.Fields(line)
		for i, w := range words {
			if i > 0 && slices.Contains([]string{"-o", "--output", "-w", ">", "--raw"}, words[i-1]) || strings.HasPrefix(w, "-") {
				continue
			}
			if _, file, ok := strings.Cut(w, "="); ok {
				w = file
			}
			switch name := strings.ReplaceAll(w, "*", "1"); {
			case strings.HasSuffix(w, "/"):
				write(w + "trace.pcap0")
			case strings.HasSuffix(w, ".json"):
				reports[w] = true
			case strings.Contains(w, ".pcap") && !strings.ContainsAny(w, "|<>/"):
				write(name)
			}
		}
	}
	for name := range reports {
		buckets := ""
		if c, _, err := newRoot(&streams{}).Find([]string{"analyze"}); err == nil && c.Flags().Lookup("buckets") != nil {
			buckets = " --buckets"
		}
		from := "trace.pcap"
		for of := range captures {
			if of != "" && strings.HasPrefix(name, of) {
				from = of + ".pcap"
				write(from)
			}
		}
		_, stderr, code := shell("dubbo-wire analyze " + from + buckets + " -o " + name)
		require.Equal(t, exit.Done, code, stderr)
	}
	return dir, shell
}

// liveExample matches what needs an interface, or a right.
var liveExample = regexp.MustCompile(`^(?:sudo )?dubbo-wire capture (?:-i )?(\S+)(.*)$`)

// javaExample matches what needs a JDK and the jars of Dubbo.
var javaExample = regexp.MustCompile(`--maven|--jars`)

// TestExamplesOfHelp runs every example that help prints in a shell, on committed captures under the names that stand
// there. What an example selects may not be in that capture: then nothing else may be said. Live ones are run on an
// interface that does not exist: they must get as far as to say so.
func TestExamplesOfHelp(t *testing.T) {
	if testing.Short() {
		t.Skip("with the race detector every start of the program takes long")
	}
	lines, commands := examples()
	dir, shell := exampleFolder(t, lines)
	live := func(line string) string {
		m := liveExample.FindStringSubmatch(line)
		_, stderr, code := shell("dubbo-wire capture nosuch0" + m[2])
		if code != exit.Usage && code != exit.Nothing || !regexp.MustCompile(`nosuch0|right to capture|not supported`).MatchString(stderr) || strings.Count(stderr, "\n") != 1 {
			return fmt.Sprintf("exit code %d: %s", code, stderr)
		}
		return ""
	}
	for i, line := range lines {
		if liveExample.MatchString(line) {
			assert.Empty(t, live(line), "%s of %s", line, commands[i])
			continue
		}
		assert.Regexp(t, `(^|\| )dubbo-wire `, line, "an example of %s", commands[i])
		if javaExample.MatchString(line) { // Maven would download jars; it must get as far as to look for a Java
			_, stderr, code := shell(line + " --java nothing-here")
			assert.Equal(t, exit.Usage, code, line)
			assert.Regexp(t, "^dubbo-wire: --java nothing-here: .*\n$", stderr, line)
			continue
		}
		_, stderr, code := shell(line)
		switch {
		case code == exit.Done:
			assert.NotContains(t, stderr, "dubbo-wire: ", line)
		case code == exit.Nothing:
			assert.Regexp(t, "no call matches the filters|no such frame", stderr, line)
		case code == exit.Coverage && commands[i] == "check": // the captures under these names differ
		default:
			t.Errorf("%s of %s: exit code %d: %s", line, commands[i], code, stderr)
		}
	}
	require.Greater(t, len(lines), 20)
	require.FileExists(t, filepath.Join(dir, "sizes.json"))
	for _, wrong := range []string{"sudo dubbo-wire capture eth0 --nonsense", "sudo dubbo-wire capture eth0 prot 20880", "dubbo-wire capture eth0 --format yaml"} {
		assert.NotEmpty(t, live(wrong), wrong)
	}
}

// TestEveryCommandHasHelp: a sentence, a group and an example, and none of them by chance.
func TestEveryCommandHasHelp(t *testing.T) {
	root := newRoot(&streams{})
	for _, c := range root.Commands() {
		if c.Hidden || c.IsAdditionalHelpTopicCommand() {
			assert.NotEmpty(t, c.Short, c.Name())
			continue
		}
		assert.NotEmpty(t, c.GroupID, c.Name())
		assert.NotEmpty(t, c.Example, c.Name())
		assert.Regexp(t, `^[A-Z][^.]*$`, c.Short, c.Name())
		assert.NotEmpty(t, c.Annotations[orderAnnotation], c.Name())
		assert.Less(t, len(c.Name()), 12)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			assert.Greater(t, len(strings.Fields(f.Usage)), 2, "--%s of %s", f.Name, c.Name())
			assert.NotRegexp(t, `\.$`, f.Usage, "--%s of %s", f.Name, c.Name())
			if value, _ := pflag.UnquoteUsage(f); !f.Hidden && f.NoOptDefVal == "" {
				assert.Regexp(t, `^[A-Z=]+$`, value, "--%s of %s: put the name of its value in backquotes", f.Name, c.Name())
			}
		})
	}
	titles := []string{}
	for _, g := range root.Groups() {
		titles = append(titles, g.Title)
	}
	assert.Equal(t, []string{"Measure:", "Look inside:", "Share:", "About:"}, titles)
}

// TestFlagsMeanTheSameEverywhere: flags may stand before the command, where it must be known whether they take a value.
func TestFlagsMeanTheSameEverywhere(t *testing.T) {
	type meaning struct{ kind, shorthand string }
	known := make(map[string]meaning)
	letters := make(map[string]string)
	walk(newRoot(&streams{}), func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			m := meaning{f.Value.Type(), f.Shorthand}
			if f.Name == "output" { // redact has one, the others may have several: both take a value
				m.kind = "stringArray"
			}
			if have, ok := known[f.Name]; ok {
				require.Equal(t, have, m, "--%s of %s", f.Name, cmd.Name())
			}
			known[f.Name] = m
			if f.Shorthand != "" {
				if have, ok := letters[f.Shorthand]; ok {
					require.Equal(t, have, f.Name, "-%s of %s", f.Shorthand, cmd.Name())
				}
				letters[f.Shorthand] = f.Name
			}
		})
	})
}

// helpOf is the help of a command, at a width.
func helpOf(t *testing.T, width string, args ...string) string {
	t.Setenv("COLUMNS", width)
	var out, stderr strings.Builder
	require.Equal(t, exit.Done, run(args, strings.NewReader(""), &out, &stderr), args)
	require.Empty(t, stderr.String())
	return out.String()
}

// Help fits the terminal, also a narrow one; of a wide one it takes a hundred columns. Where there is none it has 80.
func TestHelpFits(t *testing.T) {
	for _, c := range append([]*cobra.Command{{Use: ""}}, newRoot(&streams{}).Commands()...) {
		for width, most := range map[string]int{"": 80, "80": 80, "60": 60, "300": 100} {
			args := []string{c.Name(), "--help"}
			if c.Name() == "" {
				args = args[1:]
			}
			for line := range strings.Lines(helpOf(t, width, args...)) {
				line = strings.TrimRight(line, "\n")
				whole := strings.HasPrefix(line, "  ") && strings.Contains(line, "dubbo-wire ") // to be copied
				if whole && most < 80 {
					continue
				}
				assert.LessOrEqual(t, len([]rune(line)), most, "%s at %q: %s", c.Name(), width, line)
			}
		}
		if c.Name() != "" {
			assert.Equal(t, helpOf(t, "80", c.Name(), "--help"), helpOf(t, "80", "help", c.Name()))
			assert.Equal(t, helpOf(t, "80", c.Name(), "--help"), helpOf(t, "80", "-h", c.Name()))
		}
	}
	assert.Contains(t, helpOf(t, "80"), "\n  help        ")
}

// Help names every flag of a command once, under the title of its group.
func TestHelpGroupsFlags(t *testing.T) {
	root := newRoot(&streams{})
	for _, c := range root.Commands() {
		if c.Hidden || c.IsAdditionalHelpTopicCommand() {
			continue
		}
		help := helpOf(t, "80", c.Name(), "--help")
		all := 0
		for _, name := range flagNames(c) {
			all++
			assert.Len(t, regexp.MustCompile(`(?m)^  (?:-., |    )--`+name+`\b(?:[^-]|$)`).FindAllString(help, -1), 1, "--%s of %s", name, c.Name())
		}
		for _, g := range groupedFlags(c) {
			n := 0
			g.Flags.VisitAll(func(f *pflag.Flag) {
				if !f.Hidden {
					n++
				}
			})
			if g.Title == ownGroup {
				assert.LessOrEqual(t, n, 10, "%s has a long list without a group", c.Name())
			}
			all -= n
		}
		assert.Zero(t, all, c.Name())
	}
	analyze := helpOf(t, "80", "analyze", "--help")
	for _, title := range []string{chooseGroup, outputGroup, filterGroup, limitGroup, runGroup} {
		assert.Contains(t, analyze, "\n"+title+":\n")
	}
	_, filters, _ := strings.Cut(analyze, filterGroup)
	filters, _, _ = strings.Cut(filters, limitGroup)
	assert.Contains(t, filters, "--method GLOB")
}

// TestEnvironment: of the environment only what help names is read.
func TestEnvironment(t *testing.T) {
	var named []string
	for _, e := range environment {
		named = append(named, e.name)
	}
	require.Equal(t, []string{"NO_COLOR", "COLUMNS", "TMPDIR"}, named)
	// All of it goes to the program itself when it starts again, and to the library that draws the screen, which asks what
	// the terminal can. A Java virtual machine gets a part of it.
	whole := []string{"internal/capture/restart_linux.go", "internal/screen/screen.go", "internal/estimate/jvm/setup.go"}
	reads := regexp.MustCompile(`os\.(?:Getenv|LookupEnv|ExpandEnv|Environ)\(([^)]*)\)|syscall\.(?:Getenv|Environ)\(([^)]*)\)`)
	found := 0
	for _, dir := range []string{"cmd", "internal"} {
		require.NoError(t, filepath.WalkDir(filepath.Join("..", "..", dir), func(path string, d os.DirEntry, err error) error {
			rel := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
			switch {
			case err != nil:
				return err
			case d.IsDir() && rel == "internal/dev":
				return filepath.SkipDir // tools of the project
			case !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") || slices.Contains(whole, rel):
				return nil
			}
			source, err := os.ReadFile(path)
			for _, m := range reads.FindAllStringSubmatch(string(source), -1) {
				found++
				assert.Contains(t, append(named, "TERM"), strings.Trim(m[1]+m[2], `"`), rel)
			}
			return err
		}))
	}
	require.Greater(t, found, 2)
}
