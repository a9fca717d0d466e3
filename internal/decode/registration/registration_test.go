package registration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

func list(names ...string) []Class {
	var classes []Class
	for _, n := range names {
		classes = append(classes, Class{Name: n, ID: -1})
	}
	return classes
}

// TestKnown: numbers that were seen on the wire, or follow from the sources for Dubbox.
func TestKnown(t *testing.T) {
	for l, want := range map[Library]map[int]string{
		Kryo4: {0: "int", 1: "java.lang.String", 9: "void", 10: "java.util.Arrays$ArrayList", 33: "java.util.HashMap", 53: "[D", 54: "p.A", 55: "p.B"},
		Kryo5: {0: "int", 8: "double", 9: "java.util.Arrays$ArrayList", 32: "java.util.HashMap", 52: "[D", 53: "p.A", 54: "p.B"},
		FST1:  {3: "java.lang.String", 18: "java.awt.Color", 37: "java.lang.Object", 38: "[Ljava.lang.Object;", 45: "[B", 86: "[[[[[[[D", 87: "p.A", 88: "p.B"},
		FST2:  {3: "java.lang.String", 15: "java.util.HashMap", 32: "java.lang.Object", 36: "[B", 49: "[[J", 50: "p.A", 51: "[Lp.A;", 52: "p.B", 53: "[Lp.B;"},
	} {
		table, err := New(l, list("p.A", "p.B", "p.A"))
		require.NoError(t, err)
		for id, name := range want {
			assert.Equal(t, name, table.Name(id), "%d", id)
			got, ok := table.ID(name)
			assert.True(t, ok)
			assert.Equal(t, id, got, name)
		}
		ids := table.IDs()
		assert.Equal(t, len(ids), ids[len(ids)-1]-ids[0]+1, "holes")
		assert.Empty(t, table.Name(ids[len(ids)-1]+1))
		_, ok := table.ID("p.C")
		assert.False(t, ok)
	}
}

func TestGivenNumbers(t *testing.T) {
	table, err := New(Kryo4, []Class{{"p.A", 55}, {"p.B", -1}, {"p.C", -1}, {"java.lang.Integer", -1}, {"p.D", 54}, {"java.lang.String", 70}})
	require.NoError(t, err)
	for id, name := range map[int]string{55: "p.A", 54: "p.D", 56: "p.C", 70: "java.lang.String", 1: "", 57: ""} {
		assert.Equal(t, name, table.Name(id), "%d", id)
	}
	_, ok := table.ID("p.B")
	assert.False(t, ok, "p.D has its number")
	_, err = New(FST2, []Class{{"p.A", maxID}})
	assert.ErrorContains(t, err, "class p.A: numbers of 65536 and more are not supported")
}

func TestRead(t *testing.T) {
	classes, err := Read(strings.NewReader("# model\np.A\n\n  p.Outer$Inner 60 # with its number\np.A[]\nint[][]\n[Lp.B;\n"))
	require.NoError(t, err)
	assert.Equal(t, []Class{{"p.A", -1}, {"p.Outer$Inner", 60}, {"[Lp.A;", -1}, {"[[I", -1}, {"[Lp.B;", -1}}, classes)
	for text, want := range map[string]string{
		"p.A\np.A x":    `line 2: "x" is not a number from 0 to 65535`,
		"p.A 7\np.B 7":  `line 2: number 7 is that of class p.A in an earlier line; remove one of them`,
		"p.A 1 2":       `line 1: "1 2" is not a number`,
		"p.A -1":        `line 1: "-1" is not a number`,
		"p.A 65536":     `is not a number`,
		"p/A":           `line 1: "p/A" is not the name of a class; write one as Class.getName returns it: p.Outer$Inner`,
		"p..A":          `is not the name of a class`,
		"[]":            `is not the name of a class`,
		"A.class;x":     `is not the name of a class`,
		"p.A<p.B>":      `is not the name of a class`,
		"List<String>":  `is not the name of a class`,
		"[[":            `is not the name of a class`,
		"classes.add(A": `is not the name of a class`,
	} {
		_, err := Read(strings.NewReader(text))
		assert.ErrorContains(t, err, want)
	}
}

// FuzzRead: every list is read or refused, and what was read can be numbered.
func FuzzRead(f *testing.F) {
	f.Add("p.A\np.B 60\n# c\nint[][]\n[Lp.B;")
	f.Fuzz(func(t *testing.T, text string) {
		classes, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, c := range classes {
			if c.Name == "" {
				t.Fatal("no name")
			}
		}
		for _, l := range []Library{Kryo4, FST2} {
			if _, err := New(l, classes); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestDubboSaysTheSame compares the numbers with those that the factories of Dubbo give, with classes of an application.
func TestDubboSaysTheSame(t *testing.T) {
	testkit.Needs(t, "Java")
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("no java")
	}
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	names := []string{
		"java.util.LinkedHashMap", "java.lang.String", "java.lang.Integer", "[J", "[[Ljava.lang.String;", "java.util.concurrent.TimeUnit",
		"java.util.HashMap", "java.time.LocalDate", "java.lang.Long",
	}
	const kryo4, kryo5 = "com/esotericsoftware/kryo/4.0.2 de/javakaffee/kryo-serializers/0.42 com/esotericsoftware/reflectasm/1.11.3 org/objenesis/objenesis/2.5.1",
		"com/esotericsoftware/kryo/5.4.0 de/javakaffee/kryo-serializers/0.45 com/esotericsoftware/reflectasm/1.11.9 org/objenesis/objenesis/2.5.1"
	const shared = " com/esotericsoftware/minlog/1.3.1 org/ow2/asm/asm/7.3.1 de/ruedigermoeller/fst/2.48-jdk-6 com/fasterxml/jackson/core/jackson-core/2.15.3 org/javassist/javassist/*"
	for _, c := range []struct {
		name, common, jars string
		kryo               Library
		unordered          bool // the application's classes are in a HashMap
	}{
		{"2.6.12", "com.alibaba.dubbo.common", kryo4 + shared + " com/alibaba/dubbo/2.6.12", Kryo4, false},
		{"2.7.23", "org.apache.dubbo.common", kryo4 + shared + " org/apache/dubbo/dubbo/2.7.23", Kryo4, false},
		{"extensions", "org.apache.dubbo.common", kryo5 + shared + " org/apache/dubbo/extensions/dubbo-serialization-kryo/3.2.0 " +
			"org/apache/dubbo/extensions/dubbo-serialization-fst/3.2.0 org/apache/dubbo/dubbo/3.2.5 org/apache/dubbo/extensions/dubbo-common-extensions/1.0.1", Kryo5, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var path []string
			for _, dir := range strings.Fields(c.jars) {
				jars, _ := filepath.Glob(filepath.Join(home, ".m2", "repository", filepath.FromSlash(dir), "*.jar"))
				if len(jars) == 0 {
					t.Skip("not downloaded: " + dir)
				}
				path = append(path, jars...)
			}
			logging, _ := filepath.Glob(filepath.Join(home, ".m2", "repository", "org", "slf4j", "slf4j-api", "*", "*.jar"))
			path = append(path, logging...)
			args := append([]string{
				"--add-opens", "java.base/java.util=ALL-UNNAMED", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "--add-opens", "java.base/java.text=ALL-UNNAMED",
				"--add-opens", "java.base/java.math=ALL-UNNAMED", "--add-opens", "java.base/java.net=ALL-UNNAMED", "--add-opens", "java.base/java.util.concurrent=ALL-UNNAMED",
				"--add-opens", "java.base/java.time=ALL-UNNAMED", "--add-opens", "java.sql/java.sql=ALL-UNNAMED", "--add-opens", "java.base/java.util.regex=ALL-UNNAMED",
				"-cp", strings.Join(path, string(filepath.ListSeparator)), "testdata/Registrations.java", c.common,
			}, names...)
			out, err := exec.Command(java, args...).CombinedOutput()
			require.NoError(t, err, "%s", out)
			var own []string
			for _, l := range []struct {
				name    string
				library Library
			}{{"kryo", c.kryo}, {"fst", FST2}} {
				table, err := New(l.library, list(names...))
				require.NoError(t, err)
				for _, id := range table.IDs() {
					own = append(own, fmt.Sprintf("%s %d %s", l.name, id, table.Name(id)))
				}
			}
			var said []string
			for line := range strings.Lines(string(out)) {
				if strings.HasPrefix(line, "kryo ") || strings.HasPrefix(line, "fst ") {
					said = append(said, strings.TrimSpace(line))
				}
			}
			if c.unordered {
				numbers := func(list []string) (known, names []string) {
					for _, s := range list {
						words := strings.Fields(s)
						if id, _ := strconv.Atoi(words[1]); words[0] == "kryo" && id >= 53 || words[0] == "fst" && id >= 50 {
							s = words[0] + " " + words[2]
							names = append(names, s)
						} else {
							known = append(known, s)
						}
					}
					return known, names
				}
				known, names := numbers(own)
				saidKnown, saidNames := numbers(said)
				assert.Equal(t, known, saidKnown)
				assert.ElementsMatch(t, names, saidNames)
				return
			}
			assert.Equal(t, own, said)
			t.Logf("%d numbers", len(said))
		})
	}
}
