package jvm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"dubbo-wire/internal/decode/protoschema"
)

// setup is what all processes of a child have in common.
type setup struct {
	java      string
	arguments []string
	built     []string // what the user's classes are in: no others are built from values
	work      string   // the folder that they run in
	classes   string   // compiled classes to remove; empty if they stay in the cache
}

// remove removes the files.
func (s *setup) remove() error {
	err := os.RemoveAll(s.work)
	if s.classes != "" {
		err = errors.Join(err, os.RemoveAll(s.classes))
	}
	return err
}

// prepare compiles the helper if that was not done before, and unpacks what a class path cannot have.
func prepare(ctx context.Context, c *Config) (*setup, error) {
	java, err := Find(c.Java)
	if err != nil {
		return nil, err
	}
	s := &setup{java: java}
	if s.work, err = os.MkdirTemp("", "dubbo-wire-jvm-"); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, c); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	return s, nil
}

func (s *setup) prepare(ctx context.Context, c *Config) error {
	classes, main, kept, err := compiled(ctx, s.java, c.Cache, c.Source)
	if err != nil {
		return err
	}
	if !kept {
		s.classes = classes
	}
	user, built, err := unpacked(c.UserPath, filepath.Join(s.work, "classes"))
	if err != nil {
		return err
	}
	s.built = built
	entries := []string{classes}
	for _, p := range c.ClassPath {
		if p, err = filepath.Abs(p); err != nil {
			return err
		}
		entries = append(entries, p)
	}
	entries = append(entries, user...)
	for _, e := range entries {
		if strings.ContainsRune(e, filepath.ListSeparator) {
			return fmt.Errorf("%s: a %q in its name, which a class path cannot have; rename it", e, filepath.ListSeparator)
		}
	}
	if s.work, err = filepath.Abs(s.work); err != nil {
		return err
	}
	options := options(c, s.work)
	if c.Schemas != nil {
		file := filepath.Join(s.work, "schemas")
		b, err := schemas(c.Schemas)
		if err == nil {
			err = os.WriteFile(file, b, 0o600)
		}
		if err != nil {
			return err
		}
		options = append(options, "-Ddubbowire.schemas="+file)
	}
	s.arguments = append(options, "-cp", strings.Join(entries, string(filepath.ListSeparator)), main)
	return nil
}

// schemas returns schemas as the child reads them: texts after their length. The first one is a FileDescriptorSet.
func schemas(g *protoschema.Generated) ([]byte, error) {
	set, err := proto.MarshalOptions{Deterministic: true}.Marshal(g.Files)
	if err != nil {
		return nil, err
	}
	text := func(b []byte, s string) []byte { return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...) }
	b := text(nil, string(set))
	for class, name := range g.Classes {
		b = text(text(text(b, "class"), class), name)
	}
	for method, types := range g.Methods {
		b = text(text(text(b, "takes"), method), types[0])
		b = text(text(text(b, "returns"), method), types[1])
	}
	return b, nil
}

// opened are the packages of the JDK that serializers reflect on.
var opened = map[string][]string{
	"java.base": {
		"java.lang", "java.lang.reflect", "java.lang.invoke", "java.util", "java.util.concurrent", "java.util.concurrent.atomic", "java.util.regex",
		"java.text", "java.net", "java.io", "java.nio", "java.math", "java.time", "java.time.chrono", "java.time.zone", "java.security",
		"sun.security.action", "sun.util.calendar",
	},
	"java.sql":     {"java.sql"},
	"java.desktop": {"java.awt", "java.awt.font", "java.awt.geom", "sun.font"}, // classes that FST registers
}

// moreOptions are what tests add.
var moreOptions []string

// options are those of the Java virtual machine.
func options(c *Config, work string) []string {
	o := []string{
		"-XX:+IgnoreUnrecognizedVMOptions", // Java 8 has no modules to open
		fmt.Sprintf("-Xmx%dm", c.HeapMiB), "-Xss16m", "-XX:MaxMetaspaceSize=256m", "-XX:MaxDirectMemorySize=64m", "-XX:ReservedCodeCacheSize=128m",
		"-Xlog:disable", "-Xlog:all=error:stderr", // warnings would go to standard output; Java 8 has no such log
		"-XX:+UseSerialGC", "-XX:-UsePerfData", "-XX:-CreateCoredumpOnCrash",
		"-XX:ErrorFile=" + filepath.Join(work, "crash.log"), "-Djava.io.tmpdir=" + work,
		"-Djava.awt.headless=true", "-Dfile.encoding=UTF-8",
		// What the bytes of dates and calendars depend on.
		"-Duser.timezone=UTC", "-Duser.language=en", "-Duser.country=",
		// Dubbo 3 would refuse classes that no list has, and writes nothing if it may not write nativejava. No configuration of the application's.
		"-Ddubbo.application.serialize-check-status=DISABLE", "-Ddubbo.application.check-serializable=false",
		"-Ddubbo.security.serialize.generic.native-java-enable=true", "-Ddubbo.properties.file=none.properties",
	}
	if c.TimingMillis == 0 {
		// Where no times are wanted, compiling is most of the work: each serialization has much code that runs a few times.
		o = append(o, "-XX:TieredStopAtLevel=1")
	}
	if len(c.Registered) > 0 {
		// Dubbo 3 keeps registered classes in the order of their identity hashes: numbers instead of random ones.
		o = append(o, "-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=3")
	}
	for _, module := range []string{"java.base", "java.sql", "java.desktop"} {
		for _, p := range opened[module] {
			o = append(o, "--add-opens="+module+"/"+p+"=ALL-UNNAMED")
		}
	}
	return append(o, moreOptions...)
}

// environment is what a child sees of this process's environment: nothing that changes the options of Java or the configuration of Dubbo.
func environment() []string {
	var kept []string
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		switch name = strings.ToUpper(name); {
		case strings.HasPrefix(name, "LC_"), name == "LANG", name == "PATH", name == "HOME", name == "USER", name == "LD_LIBRARY_PATH",
			name == "TMPDIR", name == "TMP", name == "TEMP", name == "SYSTEMROOT", name == "WINDIR":
			kept = append(kept, e)
		}
	}
	return kept
}

// Find returns the absolute path of java: of PATH if the text is empty, a program, or that of the JDK in a folder.
func Find(java string) (string, error) {
	if java == "" {
		found, err := exec.LookPath("java")
		if err != nil {
			return "", errors.New("no java in PATH; install a JDK, or pass its home to --java")
		}
		return filepath.Abs(found)
	}
	if info, err := os.Stat(java); err == nil && info.IsDir() {
		java = filepath.Join(java, "bin", "java")
	}
	found, err := exec.LookPath(java)
	if err != nil {
		return "", fmt.Errorf("--java %s: not a program and not the home of a JDK", java)
	}
	return filepath.Abs(found)
}

// findJavac returns the javac in the folder of a java, or that of PATH.
func findJavac(java string) (string, error) {
	if real, err := filepath.EvalSymlinks(java); err == nil {
		name := "javac"
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		for _, folder := range []string{".", "../../bin"} { // of a JDK, of the JRE in a JDK 8
			if found, err := exec.LookPath(filepath.Join(filepath.Dir(real), folder, name)); err == nil {
				return found, nil
			}
		}
	}
	found, err := exec.LookPath("javac")
	if err != nil {
		return "", fmt.Errorf("no javac next to %s or in PATH; install a JDK (a JRE has no compiler), or pass its home to --java", java)
	}
	return found, nil
}

// Cache returns the folder for files that are worth keeping, which may not exist yet; empty if there is none.
func Cache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	dir = filepath.Join(dir, "dubbo-wire")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	return dir
}

var mainMethod = regexp.MustCompile(`(?m)^\s*public static void main\(`)

// compiled returns the folder with the classes of the helper and its main class. They are compiled the first time, and kept in the cache unless that
// cannot be written: kept is false then.
func compiled(ctx context.Context, java, cache string, source fs.FS) (folder, main string, kept bool, err error) {
	if cache == "" {
		cache = Cache()
	}
	files := map[string][]byte{}
	sum := sha256.New()
	err = fs.WalkDir(source, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Ext(name) != ".java" {
			return err
		}
		if files[name], err = fs.ReadFile(source, name); err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(files[name]), files[name])
		if mainMethod.Match(files[name]) {
			main = className(name, files[name])
		}
		return nil
	})
	if err != nil || main == "" {
		return "", "", false, errors.Join(err, errors.New("the source of the helper is not complete"))
	}
	folder = filepath.Join(cache, fmt.Sprintf("helper-%x", sum.Sum(nil)[:8]))
	if isDir(folder) && cache != "" {
		return folder, main, true, nil
	}
	javac, err := findJavac(java)
	if err != nil {
		return "", "", false, err
	}
	kept = cache != ""
	work := ""
	if kept {
		work, err = os.MkdirTemp(cache, "compile-")
	}
	if !kept || err != nil {
		kept = false
		if work, err = os.MkdirTemp("", "dubbo-wire-helper-"); err != nil {
			return "", "", false, err
		}
	}
	if err := compile(ctx, javac, work, files); err != nil {
		return "", "", false, errors.Join(err, os.RemoveAll(work))
	}
	if !kept {
		return work, main, false, nil
	}
	if err := os.Rename(work, folder); err != nil && !isDir(folder) { // another process may have been faster
		return work, main, false, nil //nolint:nilerr // it can be used, though not kept
	}
	return folder, main, true, os.RemoveAll(work)
}

var packageName = regexp.MustCompile(`(?m)^package ([a-zA-Z0-9_.]+);`)

func className(file string, text []byte) string {
	name := strings.TrimSuffix(path.Base(file), ".java")
	if m := packageName.FindSubmatch(text); m != nil {
		return string(m[1]) + "." + name
	}
	return name
}

// compile compiles Java files to a folder, for Java 8 and later if the compiler can.
func compile(ctx context.Context, javac, folder string, files map[string][]byte) error {
	source, err := os.MkdirTemp("", "dubbo-wire-source-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(source) //nolint:errcheck // a temporary folder
	arguments := []string{"-nowarn", "-encoding", "UTF-8", "-proc:none", "-d", folder}
	for name, text := range files {
		file := filepath.Join(source, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
		arguments = append(arguments, file)
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	var first error
	for _, release := range [][]string{{"--release", "8"}, {"-source", "8", "-target", "8"}, {}} { // Java 9 and later, Java 8, one that has forgotten Java 8
		var output bytes.Buffer
		cmd := exec.CommandContext(ctx, javac, append(release, arguments...)...) //nolint:gosec // the user's javac
		cmd.Stdout, cmd.Stderr, cmd.Env, cmd.WaitDelay = &output, &output, environment(), 2*time.Second
		err := cmd.Run()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if first == nil {
			first = fmt.Errorf("%s: %w: %s", javac, err, oneLine(output.String()))
		}
		if bytes.Contains(output.Bytes(), []byte(".java:")) { // not the options
			break
		}
	}
	return first
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
