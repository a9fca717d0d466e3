package classfile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// imageFile is a file of an image that a test makes: its path is /module/parent/base.extension.
type imageFile struct {
	module, parent, base, extension string
	data                            []byte
	size                            int // unpacked; 0 if it is not packed
}

// imageMaker makes lib/modules: its tables are so large that no two hashes are the same.
type imageMaker struct {
	order interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}
	strings []byte
	files   []imageFile
}

func newImageMaker(order interface {
	binary.ByteOrder
	binary.AppendByteOrder
},
) *imageMaker {
	return &imageMaker{order: order, strings: []byte{0}}
}

func (m *imageMaker) text(s string) int {
	if s == "" {
		return 0
	}
	m.strings = append(append(m.strings, s...), 0)
	return len(m.strings) - len(s) - 1
}

func (m *imageMaker) u4(n int) []byte    { return m.order.AppendUint32(nil, uint32(n)) }
func (m *imageMaker) u8(n int) []byte    { return m.order.AppendUint64(nil, uint64(n)) }
func (m *imageMaker) add(f ...imageFile) { m.files = append(m.files, f...) }

// class adds a class file, and its package if it is the first one.
func (m *imageMaker) class(module, name string, data []byte, size int) {
	slash := strings.LastIndexByte(name, '/')
	pkg := strings.ReplaceAll(name[:slash], "/", ".")
	dot := strings.LastIndexByte(pkg, '.')
	list := imageFile{module: "packages", base: pkg[:max(dot, 0)], extension: pkg[dot+1:]}
	if dot < 0 {
		list.base, list.extension = pkg, ""
	}
	list.data = slices.Concat(m.u4(1), m.u4(m.text("elsewhere")), m.u4(0), m.u4(m.text(module)))
	if !slices.ContainsFunc(m.files, func(f imageFile) bool {
		return f.module == "packages" && f.base == list.base && f.extension == list.extension
	}) {
		m.add(list)
	}
	m.add(imageFile{module, name[:slash], name[slash+1:], "class", data, size})
}

// pack puts the header of a compression in front of data.
func (m *imageMaker) pack(method string, data []byte, size int) []byte {
	return slices.Concat(m.u4(packedMagic), m.u8(len(data)), m.u8(size), m.u4(m.text(method)), m.u4(0), []byte{1}, data)
}

func (m *imageMaker) bytes() []byte {
	var locations, content []byte
	offsets := make([]int, len(m.files))
	paths := make([]string, len(m.files))
	image := image{order: m.order}
	for i, f := range m.files {
		offsets[i] = len(locations)
		packedLen, size := 0, len(f.data)
		if f.size > 0 {
			packedLen, size = len(f.data), f.size
		}
		for kind, v := range []int{0, m.text(f.module), m.text(f.parent), m.text(f.base), m.text(f.extension), len(content), packedLen, size} {
			if v > 0 {
				locations = append(append(locations, byte(kind<<3|3)), u4(v)...)
			}
		}
		locations = append(locations, 0)
		content = append(content, f.data...)
		paths[i] = "/" + f.module + "/"
		if f.parent != "" {
			paths[i] += f.parent + "/"
		}
		paths[i] += f.base
		if f.extension != "" {
			paths[i] += "." + f.extension
		}
	}
	n := len(m.files)
	for ; ; n++ {
		seen := map[uint32]bool{}
		for _, p := range paths {
			seen[image.hash(p, imageSeed)%uint32(n)] = true
		}
		if len(seen) == len(paths) {
			break
		}
	}
	redirect, table := make([]byte, 4*n), make([]byte, 4*n)
	for i, p := range paths {
		h := image.hash(p, imageSeed) % uint32(n)
		m.order.PutUint32(redirect[4*h:], uint32(-1-i))
		m.order.PutUint32(table[4*i:], uint32(offsets[i]))
	}
	return slices.Concat(m.u4(imageMagic), m.u4(1<<16), m.u4(0), m.u4(len(m.files)), m.u4(n), m.u4(len(locations)), m.u4(len(m.strings)),
		redirect, table, locations, m.strings, content)
}

func deflate(t testing.TB, data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err := z.Write(data)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// madeImage has a class in each way that an image can have it.
func madeImage(t testing.TB, m *imageMaker) []byte {
	plain, zipped, shared := class("java.lang.Plain", "plain"), class("java.lang.Zipped", "zipped"), class("java.util.Shared", "shared")
	m.class("java.base", "java/lang/Plain", plain, 0)
	m.class("java.base", "java/lang/Zipped", m.pack("zip", deflate(t, zipped), len(zipped)), len(zipped))
	// Instead of texts: where they are in the image's strings.
	index := func(n int) []byte { return []byte{0x80 | 3<<5, byte(n >> 8), byte(n)} }
	// The entries of the pool: a text, a class, the text of the superclass, its class.
	rest := shared[10+3+len("java/util/Shared")+3+3+len("shared"):]
	compact := slices.Concat(shared[:10],
		[]byte{sharedText}, index(m.text("java/util/Shared")), []byte{tagClass, 0, 1},
		[]byte{sharedText}, m.bigIndex(m.text("shared")), rest)
	twice := m.pack("compact-cp", compact, len(shared))
	m.class("java.more", "java/util/Shared", m.pack("zip", deflate(t, twice), len(twice)), len(shared))
	return m.bytes()
}

// bigIndex is a number in four bytes.
func (m *imageMaker) bigIndex(n int) []byte { return u4(n) }

func TestImage(t *testing.T) {
	for _, m := range []*imageMaker{newImageMaker(binary.LittleEndian), newImageMaker(binary.BigEndian)} {
		home := t.TempDir()
		write(t, home, "lib/modules", madeImage(t, m))
		write(t, home, "release", []byte("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.15\"\n"))
		types := open(t, Options{JDK: home})
		assert.Equal(t, "plain", super(t, types, "java.lang.Plain"))
		assert.Equal(t, "zipped", super(t, types, "java.lang.Zipped"))
		assert.Equal(t, "shared", super(t, types, "java.util.Shared"))
		assert.Equal(t, ErrMissing.Error(), super(t, types, "java.util.Other"))
		assert.Equal(t, ErrMissing.Error(), super(t, types, "java.other.Other"))
		assert.Equal(t, ErrMissing.Error(), super(t, types, "NoPackage"))
		assert.Equal(t, 17, types.boot.release)
		c, err := types.Class("java.util.Shared")
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(types.boot.image.place)+"!/java.more/java/util/Shared.class", c.Place)
		assert.Equal(t, 0, types.Len())
	}
}

// TestOldJDK: rt.jar and the jars beside it, which come before the class path.
func TestOldJDK(t *testing.T) {
	home := t.TempDir()
	write(t, home, "jre/lib/rt.jar", jar(t, stored("java/lang/A.class", class("java.lang.A", "rt"))))
	write(t, home, "jre/lib/jce.jar", jar(t, stored("java/lang/A.class", class("java.lang.A", "jce")), stored("javax/crypto/B.class", class("javax.crypto.B", "jce"))))
	write(t, home, "jre/lib/ext/c.jar", jar(t, stored("p/C.class", class("p.C", "ext"))))
	write(t, home, "release", []byte("JAVA_VERSION=\"1.8.0_402\"\n"))
	own := write(t, home, "own.jar", jar(t, stored("java/lang/A.class", class("java.lang.A", "own")), stored("p/D.class", class("p.D", "own"))))
	types := open(t, Options{Paths: []string{own}, JDK: home})
	for name, want := range map[string]string{"java.lang.A": "rt", "javax.crypto.B": "jce", "p.C": "ext", "p.D": "own"} {
		assert.Equal(t, want, super(t, types, name))
	}
	assert.Equal(t, 8, types.boot.release)
	assert.Equal(t, 2, types.Len())
}

func TestImageHostile(t *testing.T) {
	home := t.TempDir()
	m := newImageMaker(binary.LittleEndian)
	good := madeImage(t, m)
	set := func(at int, v uint32) []byte {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":   {nil, "too short for the modules of a JDK"},
		"text":    {bytes.Repeat([]byte("text"), 10), "not the modules of a JDK: they start with 74657874"},
		"version": {set(4, 2<<16|1), "modules of version 2.1; only 1 is known; pass another JDK"},
		"table":   {set(16, 0xffffffff), "its tables should have 34359738"},
		"none":    {set(16, 0), "its tables should have"},
		"cut":     {good[:100], "its tables should have"},
	} {
		path := write(t, home, "lib/modules", c.data)
		_, err := Open(Options{JDK: home})
		assert.ErrorContains(t, err, path+": ", name)
		assert.ErrorContains(t, err, c.want, name)
	}
	_, err := Open(Options{JDK: t.TempDir()})
	assert.ErrorContains(t, err, ": no JDK: lib/modules, lib/rt.jar and jre/lib/rt.jar are missing; pass the home of a JDK, as java.home names it")

	for name, c := range map[string]struct {
		make func(m *imageMaker) ([]byte, int)
		want string
	}{
		"method":   {func(m *imageMaker) ([]byte, int) { return m.pack("lzma", nil, 10), 10 }, "unknown compression lzma; pass a JDK that jlink did not make"},
		"bomb":     {func(m *imageMaker) ([]byte, int) { return m.pack("zip", deflate(t, make([]byte, 1<<20)), 10), 10 }, "11 bytes unpacked, 10 were expected"},
		"no zip":   {func(m *imageMaker) ([]byte, int) { return m.pack("zip", []byte("text"), 10), 10 }, "invalid header"},
		"too long": {func(m *imageMaker) ([]byte, int) { return m.pack("zip", nil, 1<<30), 1 << 30 }, "it has 1,024 MiB, the limit is 16 MiB"},
		"lying":    {func(m *imageMaker) ([]byte, int) { return m.pack("zip", nil, 1<<30), 10 }, "a compressed file of 0 bytes, 1073741824 unpacked, does not fit"},
		"short cp": {func(m *imageMaker) ([]byte, int) { return m.pack("compact-cp", []byte{1}, 10), 10 }, "the file ends"},
		"tag cp": {func(m *imageMaker) ([]byte, int) {
			return m.pack("compact-cp", slices.Concat(make([]byte, 8), u2(2), []byte{99}), 10), 10
		}, "constant pool entry 1 has the unknown tag 99"},
		"plain": {func(*imageMaker) ([]byte, int) { return []byte("text"), 10 }, "4 bytes unpacked, 10 were expected"},
	} {
		m := newImageMaker(binary.LittleEndian)
		data, size := c.make(m)
		m.class("java.base", "p/A", data, size)
		write(t, home, "lib/modules", m.bytes())
		types := open(t, Options{JDK: home})
		assert.Contains(t, super(t, types, "p.A"), "lib/modules!/java.base/p/A.class: ", name)
		assert.Contains(t, super(t, types, "p.A"), c.want, name)
	}
}

// FuzzImage: every image is read or refused, and what it says of classes as well.
func FuzzImage(f *testing.F) {
	f.Add(madeImage(f, newImageMaker(binary.LittleEndian)))
	f.Add(madeImage(f, newImageMaker(binary.BigEndian)))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := newImage(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for _, name := range []string{"java.lang.Plain", "java.lang.Zipped", "java.util.Shared", "java.util.Other"} {
			if data, _, err := m.class(name); err == nil {
				checkParsed(t, data)
			} else if strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("more than a line: %q", err)
			}
		}
	})
}

// TestJlink: the classes of runtimes that jlink has compressed are those of the JDK.
func TestJlink(t *testing.T) {
	testkit.Needs(t, "jlink")
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("no java")
	}
	for _, home := range javaHomes(t, java) {
		jlink := filepath.Join(home, "bin", "jlink")
		if _, err := os.Stat(jlink); err != nil {
			continue
		}
		levels := []string{"1", "2"} // texts shared, zip
		if releaseOf(home) >= 21 {
			levels = []string{"zip-9"}
		}
		jdk, err := openImage(filepath.Join(home, "lib", "modules"))
		require.NoError(t, err)
		defer jdk.close()
		for _, level := range levels {
			to := filepath.Join(t.TempDir(), "jre")
			out, err := exec.Command(jlink, "--compress", level, "--add-modules", "java.sql", "--output", to).CombinedOutput()
			require.NoError(t, err, "%s", out)
			small, err := openImage(filepath.Join(to, "lib", "modules"))
			require.NoError(t, err)
			defer small.close()
			compared, packed := 0, 0
			for i := range uint32(len(small.offsets) / 4) {
				l, ok := small.location(i)
				path := small.path(&l)
				if !ok || small.text(l.extension) != "class" || strings.HasSuffix(path, "module-info.class") || strings.Contains(path, "$Holder") || strings.Contains(path, "SystemModules") {
					continue
				}
				if l.packed > 0 {
					packed++
				}
				found, ok := small.find(path)
				require.True(t, ok, path)
				got, err := small.read(&found)
				require.NoError(t, err, path)
				other, ok := jdk.find(path)
				require.True(t, ok, path)
				want, err := jdk.read(&other)
				require.NoError(t, err, path)
				if !bytes.Equal(want, got) && !strings.HasSuffix(path, "VersionProps.class") {
					assert.Fail(t, "another class file", path)
				}
				compared++
			}
			t.Logf("%s, level %s: %d classes, %d of them compressed", filepath.Base(home), level, compared, packed)
			assert.Greater(t, compared, 5000)
			assert.Greater(t, packed, 5000)
		}
	}
}
