package classfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// TestJavaSaysTheSame compares what is read from the class files of JDKs, and of the newest jar of every artifact that Maven
// has downloaded, with what reflection and ObjectStreamClass say of the same classes: see testdata/Describe.java. It takes every
// second class of the first JDK and a few of others, since Java is slow to tell; all 59,035 classes of a Java 17 and
// 59,493 of a Java 25 were compared.
func TestJavaSaysTheSame(t *testing.T) {
	testkit.Needs(t, "Java")
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("no java")
	}
	jars := libraries(t)
	for i, home := range javaHomes(t, java) {
		step, least := 2, 10_000
		if i > 0 {
			step, least = 32, 500
		}
		t.Run(filepath.Base(home), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "classes.txt")
			args := []string{
				"-Dstep=" + strconv.Itoa(step), "-Xmx3g", "-Xshare:off", "-Djava.awt.headless=true", "--add-opens", "java.base/java.lang=ALL-UNNAMED",
				"--add-opens", "java.base/java.io=ALL-UNNAMED", "--add-modules", "ALL-SYSTEM", "testdata/Describe.java", file,
			}
			out, err := exec.Command(filepath.Join(home, "bin", "java"), append(args, jars...)...).CombinedOutput()
			require.NoError(t, err, "%s", out)
			types, err := Open(Options{Paths: jars, JDK: home})
			require.NoError(t, err)
			defer types.Close()
			compareWithJava(t, types, file, least)
		})
	}
}

// javaHomes returns the homes of the java command and of JDKs beside it, of release 17 and later.
func javaHomes(t *testing.T, java string) []string {
	path, err := filepath.EvalSymlinks(java)
	require.NoError(t, err)
	homes := []string{filepath.Dir(filepath.Dir(path))}
	others, _ := filepath.Glob("/usr/lib/jvm/*/bin/java")
	for _, path := range others {
		home := filepath.Dir(filepath.Dir(path))
		real, err := filepath.EvalSymlinks(home)
		require.NoError(t, err)
		if releaseOf(real) >= 17 && !slices.Contains(homes, real) {
			homes = append(homes, real)
		}
	}
	return homes
}

// libraries returns the newest jar of every artifact in Maven's local repository.
func libraries(t *testing.T) []string {
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	newest := map[string]string{}
	_ = filepath.WalkDir(filepath.Join(home, ".m2", "repository"), func(path string, e os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".jar") && !strings.HasSuffix(path, "-sources.jar") {
			if artifact := filepath.Dir(filepath.Dir(path)); laterVersion(path, newest[artifact]) {
				newest[artifact] = path
			}
		}
		return nil
	})
	var jars []string
	for _, jar := range newest {
		jars = append(jars, jar)
	}
	slices.Sort(jars)
	return jars
}

func laterVersion(a, b string) bool {
	numbers := func(path string) []int {
		var n []int
		for _, s := range strings.FieldsFunc(filepath.Base(filepath.Dir(path)), func(c rune) bool { return c < '0' || c > '9' }) {
			v, _ := strconv.Atoi(s)
			n = append(n, v)
		}
		return n
	}
	return b == "" || slices.Compare(numbers(a), numbers(b)) > 0
}
