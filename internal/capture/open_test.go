package capture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Errors name the file, what is wrong with it and what to do, and have a cause.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	empty := filepath.Join(dir, "folder")
	require.NoError(t, os.Mkdir(empty, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(empty, "notes.txt"), []byte("no capture here"), 0o644))
	badGzip := string(compressGzip(t, []byte("text, compressed"))[:12])
	window := func() []byte {
		var b bytes.Buffer
		z, err := zstd.NewWriter(&b, zstd.WithWindowSize(256<<20), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
		require.NoError(t, err)
		_, err = z.Write(make([]byte, 300<<10))
		require.NoError(t, err)
		require.NoError(t, z.Flush())
		return b.Bytes()
	}
	for _, c := range []struct {
		path  string
		cause Cause
		text  string
	}{
		{filepath.Join(dir, "nowhere.pcap"), Missing, ": no such file or folder; check the path"},
		{file("empty.pcap", ""), Empty, " is empty; record it again, or wait until the recorder has written the first packets"},
		{file("trace.txt", "hello world"), NotCapture, ` is not a pcap or pcapng file (it starts with "hell"); record one with: tcpdump -i any -s 0 -w trace.pcap`},
		{file("bytes.pcap", "\x00\x01\x02\x03\x04"), NotCapture, ` is not a pcap or pcapng file (it starts with bytes 00 01 02 03); record one with: tcpdump -i any -s 0 -w trace.pcap`},
		{file("a.snoop", "snoop\x00\x00\x00\x00\x00\x00\x02"), NotCapture, " is not a pcap or pcapng file (it is a snoop file); convert it: editcap -F pcap FILE trace.pcap"},
		{file("report.json", `{"schema": "other"}`), NotCapture, " is not a pcap or pcapng file (it starts like JSON); only a report saved with --buckets is read as JSON"},
		{file("header.pcap", string(plain()[:20])), CutHeader, " ends inside its pcap header (24 bytes); copy or record it again"},
		{file("header.pcapng", "\x0a\x0d\x0d\x0a\x1c\x00\x00"), CutHeader, " ends inside its pcapng header (28 bytes); copy or record it again"},
		{file("old.pcap", "\xd4\xc3\xb2\xa1\x01\x00"+strings.Repeat("\x00", 30)), NotCapture, " has a pcap magic but not version 2: it is damaged, or older than tcpdump 3; record it again"},
		{file("a.pcap.xz", "\xfd7zXZ\x00\x00\x04"), Compression, " is compressed with xz, which is not read; decompress it first: xz -d %s"},
		{file("a.pcap.gz", badGzip), Compression, ": its gzip compression cannot be read: unexpected EOF; copy it again, or decompress it first"},
		{file("window.pcap.zst", string(window())), Compression, " was compressed with a window of more than 128 MiB; decompress it first: zstd -d --long=31 %s"},
		{file("text.gz", string(compressGzip(t, []byte("text")))), NotCapture, ` is not a pcap or pcapng file (it starts with "text"); record one with: tcpdump -i any -s 0 -w trace.pcap`},
		{file("nothing.gz", string(compressGzip(t, nil))), Empty, " is empty inside its gzip compression; record again"},
		{empty, NoCaptures, "/: no pcap or pcapng file among the 1 entries of this folder; subfolders are not searched"},
	} {
		_, err := Open([]string{c.path}, Options{})
		require.Error(t, err, c.path)
		assert.Equal(t, c.cause, CauseOf(err), c.path)
		text := c.text
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, c.path)
		}
		assert.Equal(t, c.path+text, err.Error())
	}
}

func TestOpenPermission(t *testing.T) {
	if os.Getuid() == 0 {
		e := openError("a.pcap", &os.PathError{Op: "open", Path: "a.pcap", Err: os.ErrPermission})
		assert.Equal(t, Permission, e.Cause)
		return // root may read everything
	}
	path := write(t, "a.pcap", plain())
	require.NoError(t, os.Chmod(path, 0))
	_, err := Open([]string{path}, Options{})
	assert.Equal(t, Permission, CauseOf(err))
}

func TestOpenStdin(t *testing.T) {
	_, err := Open([]string{"-"}, Options{Stdin: strings.NewReader("")})
	assert.Equal(t, Empty, CauseOf(err))
	assert.Contains(t, err.Error(), "standard input is empty")

	f, err := Open([]string{"-", "-"}, Options{Stdin: bytes.NewReader(plain(rec{data: "x"}))})
	require.NoError(t, err)
	assert.Len(t, drain(t, f), 1)
	assert.Equal(t, StdinTwice, CauseOf(f.Problems()[0]))
}

// Nothing readable at all: one line for each.
func TestOpenAllUnreadable(t *testing.T) {
	_, err := Open([]string{"nowhere1", "nowhere2"}, Options{})
	assert.EqualError(t, err, "nowhere1: no such file or folder; check the path\nnowhere2: no such file or folder; check the path")
	assert.Equal(t, Missing, CauseOf(err))
}

// One unreadable file and one cut file do not keep the others from being read.
func TestProblemsAmongReadable(t *testing.T) {
	cut := plain(rec{ns: 1000, data: "cut before"}, rec{ns: 2000, data: "cut inside"})
	f, err := Open([]string{"nowhere.pcap", write(t, "cut.pcap", cut[:len(cut)-1]), write(t, "good.pcap", plain(rec{ns: 3000, data: "good"}))}, Options{})
	require.NoError(t, err)
	assert.Len(t, drain(t, f), 2)
	problems := f.Problems()
	require.Len(t, problems, 2)
	assert.Equal(t, Missing, CauseOf(problems[0]))
	damage, ok := errors.AsType[*DamageError](problems[1])
	require.True(t, ok)
	assert.EqualValues(t, 2, damage.Packet)
	assert.EqualValues(t, 24+16+10, damage.Offset)
	assert.True(t, strings.HasSuffix(damage.Error(), "cut.pcap: packet 2, byte offset 50: the file ends inside this packet (25 of 26 bytes); everything before it was read; copy the file again, or let the recorder finish"), damage.Error())
	require.Len(t, f.Inputs(), 3)
	assert.Error(t, f.Inputs()[0].Err)
	read, total := f.Progress()
	assert.Equal(t, total, read)
}

func TestCompressions(t *testing.T) {
	for _, form := range []string{"pcap", "pcapng"} {
		b := plain(rec{data: strings.Repeat("packet one ", 5000)}, rec{data: "two"})
		if form == "pcapng" {
			b = mixed(bothOrders[0], bothOrders[1])
		}
		want, _ := read(t, b)
		for name, compressed := range map[string][]byte{
			"gzip":          compressGzip(t, b),
			"gzip members":  append(compressGzip(t, b[:50]), compressGzip(t, b[50:])...),
			"zstd":          compressZstd(t, b),
			"zstd frames":   append(compressZstd(t, b[:50]), compressZstd(t, b[50:])...),
			"zstd skipping": append([]byte("\x5a\x2a\x4d\x18\x03\x00\x00\x00abc"), compressZstd(t, b)...),
		} {
			got, in := read(t, compressed)
			assert.Equal(t, want, got, name)
			assert.Equal(t, name[:4], in.Compression)
			assert.Equal(t, form, in.Format)
			assert.Empty(t, in.Damage)
		}
	}
}

// Compressed files that end early or are damaged give what came before.
func TestCompressedDamage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var recs []rec
	for range 200 {
		data := make([]byte, 1000)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		recs = append(recs, rec{data: string(data)})
	}
	b := plain(recs...)
	for name, compressed := range map[string][]byte{
		"gzip": compressGzip(t, b),
		"zstd": compressZstd(t, b, zstd.WithWindowSize(32<<10)),
	} {
		packets, in := read(t, compressed[:len(compressed)*3/4])
		assert.Greater(t, len(packets), 50, name)
		assert.Less(t, len(packets), 200, name)
		require.Len(t, in.Damage, 1, name)
		assert.Contains(t, in.Damage[0].Text, "the compressed data ends early", name)

		flipped := bytes.Clone(compressed)
		flipped[len(flipped)-2] ^= 0x55 // the checksum
		packets, in = read(t, flipped)
		assert.NotEmpty(t, packets, name)
		require.Len(t, in.Damage, 1, name)
		assert.Contains(t, in.Damage[0].Text, "reading stopped here", name)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	for name, b := range map[string][]byte{
		"b.pcap":      plain(rec{ns: 1000, data: "b"}),
		"a.cap.gz":    compressGzip(t, plain(rec{ns: 2000, data: "a"})),
		"c":           mixed(bothOrders[0], bothOrders[0]),
		"notes.txt":   []byte("text"),
		"truth.gz":    compressGzip(t, []byte("{}")),
		"truth.xz":    []byte("\xfd7zXZ\x00\x00\x04"),
		"nothing":     nil,
		"missed.pcap": nil,
		"lost.cap.xz": []byte("\xfd7zXZ\x00\x00\x04"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o644))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "within.pcap"), 0o755))
	f, err := Open([]string{dir}, Options{})
	require.NoError(t, err)
	packets := drain(t, f)
	assert.Len(t, packets, 8)
	var names []string
	for _, in := range f.Inputs() {
		name, _ := filepath.Rel(filepath.ToSlash(dir), in.File)
		names = append(names, name)
	}
	assert.Equal(t, []string{"a.cap.gz", "b.pcap", "c", "lost.cap.xz", "missed.pcap"}, names)
	assert.Equal(t, "b", packets[0].data)
	assert.Equal(t, 1, packets[0].file)
	assert.Len(t, f.Problems(), 2)
}

// Packets of overlapping files come in order of time, those of one time in order
// of the inputs, those of one file in its order.
func TestMerge(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var paths []string
	want := []got{}
	first := make(map[int]int64) // time of a file's first packet
	for file := range 20 {
		var recs []rec
		at := int64(random.IntN(1000)) * 1000
		for i := range random.IntN(100) {
			at += int64(random.IntN(20)) * 1000
			data := fmt.Sprint(file, " ", i)
			recs = append(recs, rec{ns: at, data: data})
			want = append(want, got{file, int64(i + 1), at, LinkEthernet, len(data), data})
			if i == 0 {
				first[file] = at
			}
		}
		b := plain(recs...)
		if file%3 == 0 {
			b = compressGzip(t, b)
		}
		paths = append(paths, write(t, "a.pcap", b))
	}
	// Of equally early packets that of the file that began first, then that of the earlier argument.
	slices.SortStableFunc(want, func(a, b got) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(first[a.file], first[b.file]), cmp.Compare(a.file, b.file))
	})
	f, err := Open(paths, Options{})
	require.NoError(t, err)
	assert.Equal(t, want, drain(t, f))
	f, err = Open(paths, Options{})
	require.NoError(t, err)
	assert.Equal(t, want, drainBatches(t, f))

	// The same with one of them from standard input.
	b, err := os.ReadFile(paths[7])
	require.NoError(t, err)
	paths[7] = "-"
	f, err = Open(paths, Options{Stdin: bytes.NewReader(b)})
	require.NoError(t, err)
	assert.Equal(t, want, drain(t, f))
	assert.Empty(t, f.Problems())
}

// Packets that are read together have no interface of the packets that were in their place before.
func TestBatchAfterOtherFile(t *testing.T) {
	n := (&ng{}).section(bothOrders[0]).iface(1, 0).iface(1, 0)
	recs := []rec{}
	for i := range 10 {
		n.packet(1, uint64(i), "pcapng", 6)
		recs = append(recs, rec{ns: int64(1+i) * 1e9, data: "pcap"})
	}
	f, err := Open([]string{write(t, "a.pcapng", n.b), write(t, "b.pcap", plain(recs...))}, Options{})
	require.NoError(t, err)
	var ps [8]Packet
	var interfaces []int
	for {
		n, err := f.NextBatch(ps[:])
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		for _, p := range ps[:n] {
			interfaces = append(interfaces, p.Interface)
		}
	}
	assert.Equal(t, append(slices.Repeat([]int{1}, 10), slices.Repeat([]int{0}, 10)...), interfaces)
}

// A rotated set, given in any order, needs one file and one buffer at a time.
func TestRotatedSet(t *testing.T) {
	const files = 300
	dir := t.TempDir()
	var paths []string
	for i := range files {
		path := filepath.Join(dir, fmt.Sprintf("trace.pcap%03d", i))
		require.NoError(t, os.WriteFile(path, plain(rec{ns: int64(i) * 1e9, data: fmt.Sprint(i)}, rec{ns: int64(i)*1e9 + 5e8, data: "second"}), 0o644))
		paths = append(paths, path)
	}
	rand.New(rand.NewPCG(5, 6)).Shuffle(files, func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := Open(paths, Options{})
	require.NoError(t, err)
	var p Packet
	for i := 0; ; i++ {
		err := f.Next(&p)
		if err == io.EOF {
			assert.Equal(t, 2*files, i)
			break
		}
		require.NoError(t, err)
		assert.Equal(t, int64(i)*5e8, p.Time)
		assert.LessOrEqual(t, len(f.open), 2)
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "buffers are used again")
	read, total := f.Progress()
	assert.Equal(t, total, read)
	require.NoError(t, f.Close())
	assert.Equal(t, ErrClosed, f.Next(&p))
}

func TestProgress(t *testing.T) {
	path := write(t, "a.pcap", plain(rec{data: strings.Repeat("x", 200_000)}, rec{data: strings.Repeat("y", 2_000_000)}))
	f, err := Open([]string{path}, Options{})
	require.NoError(t, err)
	read, total := f.Progress()
	assert.Zero(t, read)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, info.Size(), total)
	require.NoError(t, f.Next(new(Packet)))
	read, _ = f.Progress()
	assert.Positive(t, read)
	assert.LessOrEqual(t, read, total)
	_ = drain(t, f)
	read, _ = f.Progress()
	assert.Equal(t, total, read)

	f, err = Open([]string{"-"}, Options{Stdin: bytes.NewReader(plain(rec{data: "x"}))})
	require.NoError(t, err)
	_, total = f.Progress()
	assert.EqualValues(t, -1, total)
}

// A file that vanishes between Open and its turn is a problem, not the end.
func TestVanishedFile(t *testing.T) {
	first, second := write(t, "a.pcap", plain(rec{ns: 1000, data: "a"})), write(t, "b.pcap", plain(rec{ns: 2000, data: "b"}))
	f, err := Open([]string{first, second}, Options{})
	require.NoError(t, err)
	require.NoError(t, os.Remove(first))
	packets := drain(t, f)
	require.Len(t, packets, 1)
	assert.Equal(t, "b", packets[0].data)
	require.Len(t, f.Problems(), 1)
	assert.Equal(t, Missing, CauseOf(f.Problems()[0]))
}

// A capture without packets is an input like any other.
func TestNoPackets(t *testing.T) {
	packets, in := read(t, plain())
	assert.Empty(t, packets)
	assert.Equal(t, []LinkType{LinkEthernet}, in.LinkTypes)
	assert.Empty(t, in.Damage)
}

// failing is a disk that breaks.
type failing struct{ b []byte }

func (f *failing) Read(b []byte) (int, error) {
	if len(f.b) == 0 {
		return 0, errors.New("input/output error")
	}
	n := copy(b, f.b)
	f.b = f.b[n:]
	return n, nil
}

func TestReadError(t *testing.T) {
	f, err := Open([]string{"-"}, Options{Stdin: &failing{plain(rec{data: "a"}, rec{data: "b"})}})
	require.NoError(t, err)
	assert.Len(t, drain(t, f), 2)
	require.Len(t, f.Problems(), 1)
	assert.EqualError(t, f.Problems()[0], "-: packet 3, byte offset 58: reading stopped here: input/output error; everything before this packet was read")
}
