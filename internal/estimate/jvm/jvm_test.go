package jvm_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/estimate"
	"dubbo-wire/internal/estimate/jvm"
	"dubbo-wire/internal/rpc"
)

var cache string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "be a parent" {
		parent()
		return
	}
	dir, err := os.MkdirTemp("", "jvm-test-")
	if err != nil {
		panic(err)
	}
	cache = dir
	code := m.Run()
	os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	os.Exit(code)
}

func needJDK(t *testing.T) {
	t.Helper()
	testkit.Needs(t, "a JDK")
	if testing.Short() {
		t.Skip("with -short: starts Java")
	}
	if _, err := exec.LookPath("javac"); err != nil {
		t.Skip("no JDK: javac is not in PATH")
	}
}

// record is a message without values.
func record(id int64, method string) []byte {
	r := estimate.Record{ID: id, Group: 5, Operation: &rpc.Operation{ProtocolVersion: "2.0.2", Service: "s", Version: "1", Method: method}, Values: []byte{0, 0, 0, 0, 0}}
	return r.Append(nil)
}

// standIn is the configuration of a child that does what methods say.
func standIn() jvm.Config {
	return jvm.Config{Source: os.DirFS("testdata/standin"), Cache: cache, Targets: []string{"kryo", "no such"}, Timeout: 20 * time.Second, HeapMiB: 64}
}

// answers collects results.
type answers struct {
	all  []jvm.Result
	busy sync.Mutex
}

func (a *answers) add(r jvm.Result) {
	if !a.busy.TryLock() {
		panic("two results at once")
	}
	a.all = append(a.all, r)
	a.busy.Unlock()
}

// text has the ids, with causes.
func (a *answers) text() string {
	var b strings.Builder
	for _, r := range a.all {
		fmt.Fprintf(&b, " %d", r.ID)
		if c := r.Targets[0].Cause; c != "" {
			fmt.Fprintf(&b, "(%s)", c)
		}
	}
	return strings.TrimSpace(b.String())
}

// run sends a message for each method.
func run(t *testing.T, c jvm.Config, methods ...string) (*answers, *jvm.Child, []jvm.Timing, error) {
	t.Helper()
	needJDK(t)
	a := &answers{}
	child, err := jvm.Start(t.Context(), c, a.add)
	require.NoError(t, err)
	for i, m := range methods {
		if err = child.Send(record(int64(i), m)); err != nil {
			break
		}
	}
	if err != nil {
		return a, child, nil, err
	}
	timings, err := child.Finish()
	return a, child, timings, err
}

func TestResults(t *testing.T) {
	c := standIn()
	c.TimingMillis = 10
	a, child, timings, err := run(t, c, "a", "bcd", "cause", "a", "e")
	require.NoError(t, err)
	require.Len(t, a.all, 5)
	assert.Equal(t, jvm.Result{ID: 1, Targets: []jvm.Encoded{{Bytes: 3, Hash: [8]byte{7: 1}}, {Bytes: 4, Hash: [8]byte{7: 1}}}}, a.all[1])
	cause := a.all[2].Targets[0].Cause
	assert.True(t, strings.HasPrefix(cause, "two lines  [31mxyyy"), cause)
	assert.Len(t, cause, 300)
	assert.Equal(t, []string{"", "no such here"}, child.Unavailable())
	assert.Contains(t, child.JVM(), " stand-in")
	assert.Equal(t, []jvm.Timing{{Target: 0, Group: 5, Kind: 1, EncodeLow: -1, DecodeLow: 1, DecodeHigh: 2}, {Target: 1, Group: 5, Kind: 1, EncodeLow: -1, DecodeLow: 1, DecodeHigh: 2}}, timings)
	assert.Zero(t, child.Deaths())
}

func TestManyMessages(t *testing.T) {
	methods := make([]string, 20_000)
	for i := range methods {
		methods[i] = "a"
	}
	methods[5000] = "crash"
	a, child, _, err := run(t, standIn(), methods...)
	require.NoError(t, err)
	require.Len(t, a.all, len(methods))
	for i, r := range a.all {
		require.EqualValues(t, i, r.ID)
		require.Equal(t, i == 5000, r.Targets[0].Cause != "", "%d: %s", i, r.Targets[0].Cause)
	}
	assert.Equal(t, 2, child.Deaths())
}

func TestDeaths(t *testing.T) {
	died := "(the Java process died: "
	for _, c := range []struct{ methods, want string }{
		{"a exit a", "0 1" + died + "exit status 7: java.lang.IllegalStateException: it is over) 2"},
		{"a crash b", "0 1" + died + "exit status 3) 2"},
		{"junk", "0" + died + "exit status"},
		{"a long b", "0 1" + died + "it wrote a text of 2147483647 bytes) 2"},
		{"a other b", "0 1" + died + "an answer to message 1001, which was not asked) 2"},
		{"crash", "0" + died + "exit status 3)"},
		{"a exit a crash", "0 1" + died + "exit status 7: java.lang.IllegalStateException: it is over) 2 3" + died + "exit status 3)"},
		{"a memory b", "0 1" + died + "exit status 1: java.lang.OutOfMemoryError: Java heap space) 2"},
		{"a endless", "0 1" + died + "times of what was not asked)"},
	} {
		t.Run(c.methods, func(t *testing.T) {
			a, _, _, err := run(t, standIn(), strings.Fields(c.methods)...)
			if c.methods == "junk" { // an answer to message 0 could be read into it
				return
			}
			require.NoError(t, err)
			got := a.text()
			if i := strings.Index(got, "OutOfMemoryError"); i >= 0 {
				assert.Contains(t, got, "0 1"+died+"exit status 1")
				return
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestHang(t *testing.T) {
	c := standIn()
	c.Timeout = 2 * time.Second
	a, _, _, err := run(t, c, "a", "hang", "a")
	require.NoError(t, err)
	assert.Equal(t, "0 1(the Java process died: it did not answer within 2s) 2", a.text())
}

func TestTooManyDeaths(t *testing.T) {
	needJDK(t)
	child, err := jvm.Start(t.Context(), standIn(), func(jvm.Result) {})
	require.NoError(t, err)
	for i := range byte(13) {
		crash := record(int64(i), "crash")
		crash[12] = i // its group
		if err = child.Send(crash); err != nil {
			break
		}
	}
	if err == nil {
		_, err = child.Finish()
	}
	assert.ErrorContains(t, err, "the Java process died 11 times; the last time: exit status 3")
}

// Messages of a group at which processes die are not sent any more.
func TestDeadlyGroup(t *testing.T) {
	needJDK(t)
	a := &answers{}
	child, err := jvm.Start(t.Context(), standIn(), a.add)
	require.NoError(t, err)
	for i := range byte(40) {
		m := record(int64(i), "a")
		if i%2 == 1 {
			m = record(int64(i), "crash")
			m[12] = 6
		}
		require.NoError(t, child.Send(m))
	}
	_, err = child.Finish()
	require.NoError(t, err)
	require.Len(t, a.all, 40)
	for i, r := range a.all {
		assert.EqualValues(t, i, r.ID)
		assert.Equal(t, i%2 == 1, r.Targets[0].Cause == "the Java process died: exit status 3", i)
	}
	assert.LessOrEqual(t, child.Deaths(), 6)
}

func TestStandardError(t *testing.T) {
	a, _, _, err := run(t, standIn(), "stderr", "exit")
	require.NoError(t, err)
	assert.Equal(t, "0 1(the Java process died: exit status 7: java.lang.IllegalStateException: it is over)", a.text())
}

func TestCancel(t *testing.T) {
	needJDK(t)
	ctx, cancel := context.WithCancel(t.Context())
	a := &answers{}
	child, err := jvm.Start(ctx, standIn(), a.add)
	require.NoError(t, err)
	require.NoError(t, child.Send(record(1, "a")))
	require.NoError(t, child.Send(record(2, "hang")))
	time.AfterFunc(500*time.Millisecond, cancel)
	_, err = child.Finish()
	require.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, child.Send(record(3, "a")), context.Canceled)
	require.NoError(t, child.Close())
	_, err = jvm.Start(ctx, standIn(), a.add)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestGrandchild(t *testing.T) {
	start := time.Now()
	a, _, _, err := run(t, standIn(), "grandchild", "exit", "a")
	require.NoError(t, err)
	assert.Equal(t, "0 1(the Java process died: exit status 7: java.lang.IllegalStateException: it is over) 2", a.text())
	assert.Less(t, time.Since(start), 60*time.Second)
}

func TestClassPath(t *testing.T) {
	needJDK(t)
	dir := t.TempDir()
	build := func(file, text string) []byte {
		source := filepath.Join(dir, "src", file)
		require.NoError(t, os.MkdirAll(filepath.Dir(source), 0o700))
		require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
		out, err := exec.Command("javac", "-nowarn", "-d", dir, source).CombinedOutput()
		require.NoError(t, err, "%s", out)
		class, err := os.ReadFile(filepath.Join(dir, strings.TrimSuffix(file, ".java")+".class"))
		require.NoError(t, err)
		return class
	}
	order := build("model/Order.java", "package model; public class Order {}")
	library := build("model/Library.java", "package model; public class Library {}")
	inner := zipped(t, map[string][]byte{"model/Library.class": library})
	boot := filepath.Join(dir, "boot.jar")
	require.NoError(t, os.WriteFile(boot, zipped(t, map[string][]byte{"BOOT-INF/classes/model/Order.class": order, "BOOT-INF/lib/l:1.jar": inner}), 0o600))
	c := standIn()
	c.UserPath = []string{boot}
	a, _, _, err := run(t, c, "load", "path", "options")
	require.NoError(t, err)
	assert.Equal(t, "model.Order model.Library", a.all[0].Targets[0].Cause)
	assert.Contains(t, a.all[1].Targets[0].Cause, "/classes/1/classes,"+boot+",")
	c.UserPath = []string{filepath.Join(dir, "missing.jar")}
	_, err = jvm.Start(t.Context(), c, nil)
	assert.ErrorContains(t, err, "missing.jar: no such file")
	bad := filepath.Join(dir, "bad.war")
	require.NoError(t, os.WriteFile(bad, zipped(t, map[string][]byte{"WEB-INF/classes/../../../../x": nil, "WEB-INF/classes/C.class": order}), 0o600))
	c.UserPath = []string{bad}
	a, _, _, err = run(t, c, "path")
	require.NoError(t, err)
	assert.NoFileExists(t, filepath.Join(os.TempDir(), "x"))
	assert.Contains(t, a.text(), "bad.war")
}

func zipped(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range files {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write(data)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

func TestOptions(t *testing.T) {
	t.Setenv("JAVA_TOOL_OPTIONS", "-Dx=y")
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	c := standIn()
	c.Registered = []string{"a.B"}
	a, _, _, err := run(t, c, "options")
	require.NoError(t, err)
	assert.Contains(t, a.text(), "[-XX:+IgnoreUnrecognizedVMOptions, -Xmx64m, -Xss16m")
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	assert.Empty(t, left, "files are left")
}

// TestCompile: several processes may compile at the same time; without a cache nothing is left.
func TestCompile(t *testing.T) {
	needJDK(t)
	c := standIn()
	c.Cache = t.TempDir()
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			child, err := jvm.Start(t.Context(), c, func(jvm.Result) {})
			if assert.NoError(t, err) {
				_, err = child.Finish()
				assert.NoError(t, err)
			}
		})
	}
	wait.Wait()
	left, err := os.ReadDir(c.Cache)
	require.NoError(t, err)
	require.Len(t, left, 1)
	assert.True(t, strings.HasPrefix(left[0].Name(), "helper-"))
	info, err := left[0].Info()
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o700), info.Mode().Perm())

	c.Cache = filepath.Join(t.TempDir(), "missing")
	a, _, _, err := run(t, c, "a")
	require.NoError(t, err)
	assert.Equal(t, "0", a.text())

	c.Java = t.TempDir()
	_, err = jvm.Start(t.Context(), c, nil)
	assert.ErrorContains(t, err, "not a program and not the home of a JDK")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Main.java"), []byte("public class Main {\n  public static void main(String[] a) { nothing; }\n}\n"), 0o600))
	c = standIn()
	c.Source = os.DirFS(dir)
	_, err = jvm.Start(t.Context(), c, nil)
	assert.ErrorContains(t, err, "Main.java:2: error: not a statement")
}
