package classfile

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// file is an entry of a jar that a test makes.
type file struct {
	name   string
	data   []byte
	method uint16
}

// stored and packed are entries without and with compression.
func stored(name string, data []byte) file { return file{name, data, zip.Store} }
func packed(name string, data []byte) file { return file{name, data, zip.Deflate} }

func jar(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: f.method})
		require.NoError(t, err)
		_, err = w.Write(f.data)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

// class is a class file of an empty class that extends another one, which tells several of the same name apart.
func class(name, super string) []byte {
	m := &made{}
	m.then(u2(1), u2(m.class(strings.ReplaceAll(name, ".", "/"))), u2(m.class(super)), u2(0), u2(0), u2(0), u2(0))
	return m.bytes()
}

// write writes a file into a folder of the test and returns its path.
func write(t testing.TB, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, data, 0o644))
	return path
}

func open(t testing.TB, o Options) *Types {
	t.Helper()
	types, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, types.Close()) })
	return types
}

// super returns what tells which of several classes with a name was found.
func super(t testing.TB, types *Types, name string) string {
	c, err := types.Class(name)
	if err != nil {
		return err.Error()
	}
	assert.Equal(t, name, c.Name)
	return c.Super
}

// bootJar is a Spring Boot jar: the application's classes, stored or compressed libraries, their order.
func bootJar(t testing.TB, method uint16, more ...file) []byte {
	library := func(classes ...string) []byte {
		var files []file
		for _, c := range classes {
			name, super, _ := strings.Cut(c, "<")
			files = append(files, packed(strings.ReplaceAll(name, ".", "/")+".class", class(name, super)))
		}
		return jar(t, files...)
	}
	files := []file{
		packed("META-INF/MANIFEST.MF", []byte("Manifest-Version: 1.0\r\nStart-Class: p.Main\r\n\r\n")),
		packed("org/springframework/boot/loader/Launcher.class", class("org.springframework.boot.loader.Launcher", "root")),
		packed("BOOT-INF/classes/p/Main.class", class("p.Main", "app")),
		packed("BOOT-INF/classes/p/Both.class", class("p.Both", "app")),
		packed("BOOT-INF/classes/config.yml", []byte("a: b")),
		{"resources/other.jar", library("p.Twice<other", "p.Other<other"), method},
		{"BOOT-INF/lib/a-1.0.jar", library("p.Twice<a", "p.A<a", "p.Both<a"), method},
		{"BOOT-INF/lib/b-1.0.jar", library("p.Twice<b", "p.B<b"), method},
		packed("BOOT-INF/classpath.idx", []byte("- \"BOOT-INF/lib/b-1.0.jar\"\n- \"BOOT-INF/lib/a-1.0.jar\"\n")),
	}
	return jar(t, append(files, more...)...)
}

// TestSpringBootJar: libraries come in the order of classpath.idx, after the application's own classes.
func TestSpringBootJar(t *testing.T) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		path := write(t, t.TempDir(), "app.jar", bootJar(t, method))
		types := open(t, Options{Paths: []string{path}})
		for name, want := range map[string]string{
			"p.Main": "app", "p.Both": "app", "p.A": "a", "p.B": "b", "p.Twice": "b", "p.Other": "other", "p.Missing": ErrMissing.Error(),
			"org.springframework.boot.loader.Launcher": "root",
		} {
			assert.Equal(t, want, super(t, types, name), name)
		}
		c, err := types.Class("p.B")
		require.NoError(t, err)
		assert.Equal(t, path+"!/BOOT-INF/lib/b-1.0.jar!/p/B.class", c.Place)
		assert.Empty(t, types.Warnings())
		assert.Equal(t, 7, types.Len())
		assert.Equal(t, []Source{{Path: path, Classes: 10, Jars: 3}}, types.Sources())
		assert.Equal(t, []Duplicate{
			{Used: path, Ignored: path + "!/BOOT-INF/lib/a-1.0.jar", Classes: 1, Differ: 1, Names: []string{"p.Both"}},
			{Used: path + "!/BOOT-INF/lib/b-1.0.jar", Ignored: path + "!/BOOT-INF/lib/a-1.0.jar", Classes: 1, Differ: 1, Names: []string{"p.Twice"}},
			{Used: path + "!/BOOT-INF/lib/b-1.0.jar", Ignored: path + "!/resources/other.jar", Classes: 1, Differ: 1, Names: []string{"p.Twice"}},
		}, types.Duplicates())
	}
}

// TestLayouts: a war, an executable jar that begins with a shell script, one with a comment, folders of all of them.
func TestLayouts(t *testing.T) {
	dir := t.TempDir()
	lib := jar(t, stored("p/Lib.class", class("p.Lib", "lib")))
	war := jar(t, packed("WEB-INF/classes/p/Web.class", class("p.Web", "web")), stored("WEB-INF/lib/l.jar", lib), packed("WEB-INF/lib-provided/n.txt", nil))
	script := append([]byte("#!/bin/sh\nexec java -jar \"$0\"\n"), bootJar(t, zip.Store)...)
	comment := bytes.Clone(jar(t, stored("p/Commented.class", class("p.Commented", "comment"))))
	comment = append(comment[:len(comment)-2], append(u2(0)[:0], append([]byte{9, 0}, "PK\x05\x06 hello"[:9]...)...)...)
	ear := jar(t, stored("web.war", war), stored("p/Ear.class", class("p.Ear", "ear")))
	for name, c := range map[string]struct {
		data []byte
		want map[string]string
	}{
		"war":     {war, map[string]string{"p.Web": "web", "p.Lib": "lib"}},
		"script":  {script, map[string]string{"p.Main": "app", "p.A": "a"}},
		"comment": {comment, map[string]string{"p.Commented": "comment"}},
		"ear":     {ear, map[string]string{"p.Web": "web", "p.Lib": "lib", "p.Ear": "ear"}},
	} {
		types := open(t, Options{Paths: []string{write(t, dir, name+".jar", c.data)}})
		for class, want := range c.want {
			assert.Equal(t, want, super(t, types, class), "%s: %s", name, class)
		}
		assert.Empty(t, types.Warnings(), name)
	}
	empty := write(t, dir, "empty.jar", jar(t))
	assert.EqualError(t, open(t, Options{Paths: []string{empty}}).Warnings()[0], empty+": no classes in it; pass a jar, or the folder that has the folders of the packages")
	exploded := filepath.Join(dir, "exploded")
	write(t, exploded, "BOOT-INF/classes/p/Main.class", class("p.Main", "app"))
	write(t, exploded, "BOOT-INF/lib/l.jar", lib)
	write(t, exploded, "a/first.jar", jar(t, stored("p/Lib.class", class("p.Lib", "not a library"))))
	write(t, exploded, ".git/p/Hidden.class", nil)
	types := open(t, Options{Paths: []string{exploded}})
	assert.Equal(t, "app", super(t, types, "p.Main"))
	assert.Equal(t, "lib", super(t, types, "p.Lib"))
	assert.Equal(t, []Source{{Path: exploded, Classes: 3, Jars: 2}}, types.Sources())
}

// TestMultiRelease: classes of the newest release that is asked for, if the manifest says so.
func TestMultiRelease(t *testing.T) {
	dir := t.TempDir()
	files := []file{
		packed("p/A.class", class("p.A", "base")),
		packed("META-INF/versions/9/p/A.class", class("p.A", "nine")),
		packed("META-INF/versions/17/p/A.class", class("p.A", "seventeen")),
		packed("META-INF/versions/17/p/Only.class", class("p.Only", "seventeen")),
		packed("META-INF/versions/8/p/A.class", class("p.A", "eight")),
		packed("META-INF/versions/x/p/A.class", class("p.A", "x")),
		packed("META-INF/versions/9/module-info.class", class("module-info", "")),
	}
	manifest := func(text string) file { return packed("META-INF/MANIFEST.MF", []byte(text)) }
	yes := write(t, dir, "yes.jar", jar(t, append(files, manifest("Manifest-Version: 1.0\nmulti-release: True\n\n"))...))
	no := write(t, dir, "no.jar", jar(t, append(files, manifest("Manifest-Version: 1.0\n\nName: p/\nMulti-Release: true\n"))...))
	for _, c := range []struct {
		path       string
		release    int
		want, only string
	}{
		{yes, 0, "seventeen", "seventeen"},
		{yes, 21, "seventeen", "seventeen"},
		{yes, 16, "nine", ErrMissing.Error()},
		{yes, 8, "base", ErrMissing.Error()},
		{no, 0, "base", ErrMissing.Error()},
	} {
		types := open(t, Options{Paths: []string{c.path}, Release: c.release})
		assert.Equal(t, c.want, super(t, types, "p.A"), c)
		assert.Equal(t, c.only, super(t, types, "p.Only"), c)
		assert.Empty(t, types.Duplicates())
		assert.Empty(t, types.Warnings())
	}
}

// TestSeveralPaths: the first one wins; those that have the same class in the same version are told apart.
func TestSeveralPaths(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "classes")
	write(t, folder, "p/Same.class", class("p.Same", "same"))
	write(t, folder, "p/Other.class", class("p.Other", "folder"))
	one := write(t, dir, "one.jar", jar(t, stored("p/Same.class", class("p.Same", "same")), packed("p/Other.class", class("p.Other", "one")), packed("p/One.class", class("p.One", "one"))))
	two := write(t, dir, "two.jar", jar(t, packed("p/Same.class", class("p.Same", "same")), packed("p/One.class", class("p.One", "one"))))
	types := open(t, Options{Paths: []string{folder, one, two}})
	assert.Equal(t, "folder", super(t, types, "p.Other"))
	assert.Equal(t, []Duplicate{
		{Used: folder, Ignored: one, Classes: 2, Differ: 1, Names: []string{"p.Other"}},
		{Used: folder, Ignored: two, Classes: 1, Names: []string{"p.Same"}},
		{Used: one, Ignored: two, Classes: 1, Names: []string{"p.One"}},
	}, types.Duplicates())
	types = open(t, Options{Paths: []string{one, folder}})
	assert.Equal(t, "one", super(t, types, "p.Other"))
}

// TestConcurrent: several goroutines ask for classes of compressed jars, of which few are kept.
func TestConcurrent(t *testing.T) {
	types := open(t, Options{Paths: []string{write(t, t.TempDir(), "app.jar", bootJar(t, zip.Deflate))}, CacheSize: 2000})
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 50 {
				for name, want := range map[string]string{"p.Main": "app", "p.A": "a", "p.B": "b", "p.Other": "other"} {
					assert.Equal(t, want, super(t, types, name))
				}
			}
		})
	}
	wait.Wait()
}

// TestBudget: what a class path may have in all ends the scan of a jar, not that of those before it.
func TestBudget(t *testing.T) {
	for what, take := range map[string]func(b *budget){
		"more than 20,000 jars":                                    func(b *budget) { b.archives.Store(2) },
		"more than 4,000,000 classes":                              func(b *budget) { b.classes.Store(4) },
		"more than 4,294,967,296 bytes in compressed jars in jars": func(b *budget) { b.unpacked.Store(1000) },
	} {
		b := newBudget()
		take(b)
		data := bootJar(t, zip.Deflate)
		s := &scanner{unpacker: newUnpacker(b), release: 17, hash: func([]byte) uint64 { return 0 }}
		found, err := s.jar(&archive{place: "a.jar"}, bytes.NewReader(data), int64(len(data)), 0)
		require.NoError(t, err)
		refused := 0
		for _, n := range found.nested {
			for _, w := range n.warnings {
				assert.ErrorContains(t, w, ".jar: the class path has "+what+"; pass the jars that have the classes of calls")
				refused++
			}
		}
		assert.Positive(t, refused, what)
		assert.Len(t, found.classes, 3)
	}
}

// at replaces bytes of a jar that come a number of bytes after the n-th place of some text.
func at(data []byte, text string, n, offset int, with ...byte) []byte {
	data = bytes.Clone(data)
	i := 0
	for range n {
		i += bytes.Index(data[i:], []byte(text)) + 1
	}
	copy(data[i-1+offset:], with)
	return data
}

// TestJarHostile: what is wrong with a jar is one line with the place and what to do; the class path cannot be opened.
func TestJarHostile(t *testing.T) {
	dir := t.TempDir()
	good := jar(t, stored("p/A.class", class("p.A", "a")), stored("p/B.class", class("p.B", "b")))
	const entry, end = "PK\x01\x02", "PK\x05\x06"
	folder := filepath.Join(dir, "target")
	write(t, folder, "classes/p/A.class", class("p.A", "a"))
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":      {nil, "the end of the jar is missing; the file is damaged: copy or build it again"},
		"text":       {bytes.Repeat([]byte("text "), 50_000), "is not a jar; pass a jar, a war or a folder of class files"},
		"cut":        {good[:len(good)/2], "the end of the jar is missing; the file is damaged: copy or build it again"},
		"start cut":  {good[10:], "does not fit into the file"},
		"directory":  {at(good, end, 1, 12, 0xff, 0xff, 0xff, 0x7f), "the directory does not fit into the file: 2147483647 bytes at offset"},
		"count":      {at(good, end, 1, 10, 5, 0), "the directory has 2 entries and should have 5"},
		"entry":      {at(good, entry, 2, 0, 'X'), "entry 2 of the directory is not one"},
		"name":       {at(good, entry, 2, 28, 0xff, 0xff), "entry 2 of the directory is cut off"},
		"offset":     {at(good, entry, 2, 42, 0xff, 0xff, 0xff, 0x0f), "entry p/B.class does not fit into the file"},
		"size":       {at(good, entry, 2, 20, 0xff, 0xff, 0xff, 0x0f), "entry p/B.class does not fit into the file"},
		"overlap":    {at(good, entry, 2, 42, 0, 0, 0, 0), "entries p/A.class and p/A.class overlap, as in a zip bomb"},
		"overlap 2":  {at(good, entry, 1, 20, 0x90), "entries p/A.class and p/B.class overlap, as in a zip bomb; the file is damaged: copy or build it again"},
		"zip64":      {at(good, end, 1, 10, 0xff, 0xff), "the directory has 2 entries and should have 65535"},
		"zip64 size": {at(good, end, 1, 12, 0xff, 0xff, 0xff, 0xff), "the directory does not fit into the file: 4294967295 bytes"},
	} {
		path := write(t, dir, "bad.jar", c.data)
		types, err := Open(Options{Paths: []string{path}})
		assert.Nil(t, types, name)
		assert.ErrorContains(t, err, c.want, name)
		if err != nil {
			assert.True(t, strings.HasPrefix(err.Error(), path+": "), err)
			assert.NotContains(t, err.Error(), "\n")
			assert.NotContains(t, err.Error(), "\x1b")
		}
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "missing.jar"): "missing.jar: no such file or directory",
		folder:                            "classes/p/A.class is the class p.A; pass " + filepath.Join(folder, "classes"),
		os.DevNull:                        "neither a jar nor a folder",
	} {
		_, err := Open(Options{Paths: []string{path}})
		assert.ErrorContains(t, err, want)
	}
}

// TestNestedHostile: what is wrong with one jar in a jar, or one class, becomes a warning or the error of that class; others can
// be read.
func TestNestedHostile(t *testing.T) {
	dir := t.TempDir()
	zeros := make([]byte, 4<<20)
	deep := jar(t, stored("p/Deep.class", class("p.Deep", "deep")))
	for range maxJarDepth + 1 {
		deep = jar(t, stored("inner.jar", deep))
	}
	lying := at(jar(t, packed("l.jar", zeros)), "PK\x01\x02", 1, 24, 0xff, 0xff, 0x0f, 0)
	for name, c := range map[string]struct {
		data    []byte
		warning string
	}{
		"not a jar":          {bootJar(t, zip.Store, stored("BOOT-INF/lib/bad.jar", []byte("nothing"))), "!/BOOT-INF/lib/bad.jar: is not a jar"},
		"compressed":         {bootJar(t, zip.Store, packed("BOOT-INF/lib/bad.jar", []byte("nothing"))), "!/BOOT-INF/lib/bad.jar: is not a jar"},
		"bomb":               {bootJar(t, zip.Store, packed("BOOT-INF/lib/bomb.jar", zeros)), "!/BOOT-INF/lib/bomb.jar: its bytes unpack to more than 100 times as many, as in a zip bomb; unpack it and pass the folder to --classpath"},
		"too deep":           {bootJar(t, zip.Store, stored("deep.jar", deep)), ": 1 jar is in 4 jars in each other, such as inner.jar; not read; unpack it"},
		"lying":              {bootJar(t, zip.Store, stored("lying.jar", lying)), "lying.jar!/l.jar: its bytes unpack to more than"},
		"traversal":          {bootJar(t, zip.Store, packed("../../etc/A.class", nil), packed("/abs.class", nil)), ": 2 entries have a path that leaves the jar or is not a class's, such as ../../etc/A.class; not read; do not unpack this file"},
		"screen":             {bootJar(t, zip.Store, packed("p\\\x1b[2J.class", nil)), `: 1 entry has a path that leaves the jar or is not a class's, such as "p\\\x1b[2J.class"`},
		"traversal of a jar": {bootJar(t, zip.Store, stored("../x.jar", nil)), "such as ../x.jar"},
		"other method":       {at(bootJar(t, zip.Store, stored("zz/Z.class", class("zz.Z", "z"))), "zz/Z.class", 2, -36, 99), ": 1 class or jar is encrypted, too large or not compressed as in a jar, such as zz/Z.class"},
		"encrypted":          {at(bootJar(t, zip.Store, stored("zz/Z.class", class("zz.Z", "z"))), "zz/Z.class", 2, -38, 1), "1 class or jar is encrypted"},
		"no header":          {at(bootJar(t, zip.Store, stored("zz.jar", deep)), "zz.jar", 1, -30, 0), "!/zz.jar: offset "},
	} {
		path := write(t, dir, "app.jar", c.data)
		types, err := Open(Options{Paths: []string{path}})
		if !assert.NoError(t, err, name) {
			continue
		}
		if assert.Len(t, types.Warnings(), 1, name) {
			assert.ErrorContains(t, types.Warnings()[0], c.warning, name)
			assert.True(t, strings.HasPrefix(types.Warnings()[0].Error(), path))
			assert.NotContains(t, types.Warnings()[0].Error(), "\x1b")
		}
		assert.Equal(t, "a", super(t, types, "p.A"), name)
		assert.NoError(t, types.Close())
	}
	a := class("p.A", "a")
	good := jar(t, stored("p/A.class", a), packed("p/B.class", bytes.Repeat(class("p.B", "b"), 20)))
	for name, c := range map[string]struct {
		data  []byte
		class string
		want  string
	}{
		"checksum":   {at(good, "PK\x01\x02", 1, 16, 1, 2, 3, 4), "p.A", "!/p/A.class: its checksum is "},
		"other name": {jar(t, stored("p/C.class", a)), "p.C", "!/p/C.class: it has the class p.A and should have p.C; the file is damaged: copy or build it again"},
		"no class":   {jar(t, stored("p/C.class", []byte("text"))), "p.C", "!/p/C.class: offset 0: not a class file: it starts with 74657874"},
		"no header":  {at(good, "PK\x03\x04", 1, 0, 'X'), "p.A", "!/p/A.class: offset 0: the header of the entry is missing"},
		"stored":     {at(good, "PK\x01\x02", 1, 24, 1, 0, 0, 0), "p.A", "a stored entry of 40 bytes should have 1"},
		"longer":     {at(good, "PK\x01\x02", 2, 24, 1, 0, 0, 0), "p.B", "the entry has more than the 1 bytes that its directory says"},
		"shorter":    {at(good, "PK\x01\x02", 2, 24, 0xff, 0xff, 0, 0), "p.B", "the data end too early"},
		"too large":  {at(good, "PK\x01\x02", 2, 24, 0xff, 0xff, 0xff, 0x7f), "p.B", "it has 2,048 MiB unpacked, the limit is 16 MiB; unpack it and pass the folder to --classpath"},
	} {
		types := open(t, Options{Paths: []string{write(t, dir, "one.jar", c.data)}})
		assert.Contains(t, super(t, types, c.class), c.want, name)
		assert.Contains(t, super(t, types, c.class), c.want, "%s, again", name)
	}
}

// TestHierarchyHostile: classes that extend themselves, or a very long line of others.
func TestHierarchyHostile(t *testing.T) {
	files := []file{stored("p/A.class", class("p.A", "p/B")), stored("p/B.class", class("p.B", "p/C")), stored("p/C.class", class("p.C", "p/A"))}
	for i := range 2 * maxHierarchy {
		name := fmt.Sprintf("p/L%d", i)
		files = append(files, stored(name+".class", class(name, fmt.Sprintf("p/L%d", i+1))))
	}
	types := open(t, Options{Paths: []string{write(t, t.TempDir(), "a.jar", jar(t, files...))}})
	for name, want := range map[string]string{
		"p.A":  "!/p/A.class: class p.A extends itself: p.A > p.B > p.C > p.A; the file is damaged",
		"p.L0": "!/p/L0.class: class p.L0 has more than 255 superclasses",
	} {
		_, _, err := types.Chain(name)
		assert.ErrorContains(t, err, want)
		_, _, err = types.Members(name)
		assert.ErrorContains(t, err, want)
		_, err = types.ObjectStream(name)
		assert.ErrorContains(t, err, want)
	}
	is, err := types.Is("p.A", "p.C")
	assert.True(t, is)
	assert.NoError(t, err)
	is, err = types.Is("p.A", "p.D")
	assert.False(t, is)
	assert.NoError(t, err)
}

// TestIndexMemory: a class takes some 40 bytes, and a stored jar in a jar is not copied.
func TestIndexMemory(t *testing.T) {
	jars := 40
	if testkit.All { // 500 MB
		jars = 500
	}
	path := filepath.Join(t.TempDir(), "large.jar")
	classes := largeJar(t, path, jars, 450)
	before := allocated()
	types := open(t, Options{Paths: []string{path}})
	took := allocated() - before
	assert.Equal(t, classes, types.Len())
	t.Logf("%d classes: %d bytes allocated", classes, took)
	assert.Less(t, took, uint64(2<<20+classes*230), "64 MiB for 280,000 classes")
	assert.Equal(t, "super", super(t, types, "p7.C3"))
	runtime.KeepAlive(types)
}

// largeJar writes a Spring Boot jar with stored jars of a MB each, most of it a resource.
func largeJar(t testing.TB, path string, jars, classes int) int {
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	z := zip.NewWriter(f)
	resource := stored("large.bin", make([]byte, 900<<10))
	for i := range jars {
		files := []file{resource}
		for k := range classes {
			name := fmt.Sprintf("p%d.C%d", i, k)
			files = append(files, stored(strings.ReplaceAll(name, ".", "/")+".class", class(name, "super")))
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("BOOT-INF/lib/l%d.jar", i), Method: zip.Store})
		require.NoError(t, err)
		_, err = w.Write(jar(t, files...))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return jars * classes
}

// BenchmarkIndex: a Spring Boot jar with 50 stored jars; bytes are those of the jar.
func BenchmarkIndex(b *testing.B) {
	path := filepath.Join(b.TempDir(), "large.jar")
	classes := largeJar(b, path, 50, 450)
	info, err := os.Stat(path)
	require.NoError(b, err)
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		types, err := Open(Options{Paths: []string{path}})
		require.NoError(b, err)
		require.Equal(b, classes, types.Len())
		types.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*classes), "ns/class")
}

// FuzzJar: every jar is indexed or refused with a line, in memory that grows no faster than it; what both archive/zip and the
// index have read is the same.
func FuzzJar(f *testing.F) {
	f.Add(bootJar(f, zip.Store))
	f.Add(bootJar(f, zip.Deflate))
	f.Add(jar(f, stored("p/A.class", class("p.A", "a")), packed("META-INF/versions/9/p/A.class", class("p.A", "b"))))
	f.Add(jar(f))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := &index{seed: maphash.MakeSeed(), unpacker: newUnpacker(nil)}
		s := &scanner{unpacker: newUnpacker(newBudget()), release: 17}
		s.hash = func(path []byte) uint64 { return maphash.Bytes(x.seed, path) }
		a := &archive{place: "a.jar", src: bytes.NewReader(data), size: int64(len(data))}
		found, err := s.jar(a, a.src, a.size, 0)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Fatalf("more than a line: %q", err)
			}
			return
		}
		x.add(found, &Source{})
		x.sort()
		for _, e := range x.entries {
			if data, err := x.load(e); err == nil {
				checkParsed(t, data)
			}
		}
		sameAsZip(t, data)
	})
}

// sameAsZip compares the directory of a zip file with what archive/zip says of it, if it reads it.
func sameAsZip(t *testing.T, data []byte) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && err != zip.ErrInsecurePath {
		return
	}
	var own []string
	err = readDirectory(bytes.NewReader(data), int64(len(data)), bufio.NewReader(nil), func(e *zipEntry) error {
		own = append(own, fmt.Sprint(string(e.name), e.packed, e.size, e.crc, e.method))
		return nil
	})
	if err != nil {
		return // archive/zip does not look at everything
	}
	if len(own) != len(z.File) {
		return // it does not compare the number of entries
	}
	for i, f := range z.File {
		if other := fmt.Sprint(f.Name, f.CompressedSize64, f.UncompressedSize64, f.CRC32, f.Method); other != own[i] {
			t.Fatalf("entry %d: %s, archive/zip has %s", i, own[i], other)
		}
	}
}

// TestLikeZip: the directories of jars of the module cache of Maven, and of those here, are what archive/zip says.
func TestLikeZip(t *testing.T) {
	sameAsZip(t, bootJar(t, zip.Store))
	sameAsZip(t, zip64(t))
	if !testkit.All {
		return
	}
	for _, path := range libraries(t) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		sameAsZip(t, data)
	}
}

// zip64 is a jar whose directory has the numbers of a class in 64 bits.
func zip64(t testing.TB) []byte {
	data := class("p.Large", "large")
	name := []byte("p/Large.class")
	sum := [4]byte{}
	z, err := zip.NewReader(bytes.NewReader(jar(t, stored(string(name), data))), int64(len(jar(t, stored(string(name), data)))))
	require.NoError(t, err)
	binary.LittleEndian.PutUint32(sum[:], z.File[0].CRC32)
	le := func(parts ...any) []byte {
		var b bytes.Buffer
		for _, p := range parts {
			require.NoError(t, binary.Write(&b, binary.LittleEndian, p))
		}
		return b.Bytes()
	}
	size := uint64(len(data))
	local := le([]byte("PK\x03\x04"), uint16(45), uint16(0), uint16(0), uint32(0), sum[:], uint32(size), uint32(size), uint16(len(name)), uint16(0), name, data)
	extra := le(uint16(1), uint16(24), size, size, uint64(0))
	entry := le([]byte("PK\x01\x02"), uint16(45), uint16(45), uint16(0), uint16(0), uint32(0), sum[:], ^uint32(0), ^uint32(0), uint16(len(name)),
		uint16(len(extra)), uint16(0), uint16(0), uint16(0), uint32(0), ^uint32(0), name, extra)
	record := le([]byte("PK\x06\x06"), uint64(44), uint16(45), uint16(45), uint32(0), uint32(0), uint64(1), uint64(1), uint64(len(entry)), uint64(len(local)))
	locator := le([]byte("PK\x06\x07"), uint32(0), uint64(len(local)+len(entry)), uint32(1))
	end := le([]byte("PK\x05\x06"), uint16(0), uint16(0), ^uint16(0), ^uint16(0), ^uint32(0), ^uint32(0), uint16(0))
	return slices.Concat(local, entry, record, locator, end)
}

func TestZip64(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string][]byte{"zip64.jar": zip64(t), "script.jar": append([]byte("#!/bin/sh\n"), zip64(t)...)} {
		types := open(t, Options{Paths: []string{write(t, dir, name, data)}})
		assert.Equal(t, "large", super(t, types, "p.Large"))
	}
	bad := write(t, dir, "bad.jar", at(zip64(t), "PK\x06\x06", 1, 0, 'X'))
	_, err := Open(Options{Paths: []string{bad}})
	assert.ErrorContains(t, err, "the zip64 record is not at offset")
}

// TestReadFolders: classes that were read before need no files.
func TestReadFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"p.Model", "p.Model$Base"} {
		write(t, dir, strings.ReplaceAll(name, ".", "/")+".class", classFile(t, name))
	}
	types := open(t, Options{Paths: []string{dir}})
	require.NoError(t, types.ReadFolders())
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "p")))
	for _, name := range []string{"p.Model", "p.Model$Base"} {
		c, err := types.Class(name)
		require.NoError(t, err)
		assert.Equal(t, name, c.Name)
	}
	_, err := types.Class("p.Model$Color")
	assert.ErrorIs(t, err, ErrMissing)
}
