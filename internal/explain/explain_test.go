package explain

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// each calls f with every frame of a committed capture, decoded for values. change, if set, may write into its body.
func each(t *testing.T, name string, change func(body []byte), f func(r *pipeline.Row)) {
	t.Helper()
	src, err := capture.Open([]string{filepath.Join("..", "..", "testdata", "captures", name)}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	s := &eachFrame{f: f, change: change, decoder: rpc.Decoders{Formats: formats.All()}}
	_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Rows: true, WholeBodies: true}, s)
	require.NoError(t, err)
	require.Positive(t, s.n)
}

type eachFrame struct {
	f       func(r *pipeline.Row)
	change  func(body []byte)
	decoder rpc.Decoders
	n       int
}

func (e *eachFrame) Frame(r *pipeline.Row) {
	m, row := r.Msg.Clone(true, false), *r
	if e.change != nil {
		e.change(m.Body)
	}
	row.Msg = e.decoder.Decode(m, rpc.Values)
	e.f(&row)
	e.n++
}

func (e *eachFrame) Call(*call.Call, bool) {}

func captures(t *testing.T) []string {
	names := []string{
		"edge-hessian2-3.3.6.pcap.zst", "protobuf-2.7.23.pcap.zst", "bid-plain.pcap", "own-3.3.6.pcap.zst", "edge-dubbo-2.5.3.pcap.zst",
		"edge-hessian2.pcap.zst", "edge-java.pcap.zst", "edge-compactedjava.pcap.zst",
		"edge-gson.pcap.zst", "edge-fastjson2-3.3.6.pcap.zst", "edge-msgpack.pcap.zst", "edge-smartbuf.pcap.zst",
		"edge-kryo.pcap.zst",
	}
	if testing.Short() {
		return names[:2]
	}
	return testkit.Some(names, 6)
}

type explained struct {
	Schema string
	Frame  struct {
		HeaderBytes, BodyBytes int
		Parts                  []struct {
			Path  string
			Bytes int
		}
	}
	Nodes []struct {
		Path, Class, Kind, Hex string
		Depth                  int
		Offset, Bytes          int
		TotalBytes             *int
	}
	Damage *struct {
		Offset                         int
		Cause, Expected, Found, Likely string
	}
}

// check takes a frame apart and holds what must be so for every frame.
func check(t *testing.T, r *pipeline.Row) *Frame {
	f := New(&Subject{Row: r, File: "x.pcap"})
	var out bytes.Buffer
	require.NoError(t, f.WriteJSON(&out))
	var e explained
	require.NoError(t, json.Unmarshal(out.Bytes(), &e), "%.2000s", out.String())
	require.Equal(t, Schema, e.Schema)

	// Every byte of the frame has one owner, and the hex is that of the frame.
	length := dubbo.HeaderLen + r.Msg.BodyLen
	owned := make([]byte, length)
	whole := append(bytes.Clone(f.header[:]), r.Msg.Body...)
	for _, n := range e.Nodes {
		for k := n.Offset; k < n.Offset+n.Bytes; k++ {
			owned[k]++
		}
		if n.Hex != "" {
			raw, err := hex.DecodeString(n.Hex)
			require.NoError(t, err)
			require.Equal(t, whole[n.Offset:n.Offset+len(raw)], raw)
		}
	}
	require.Equal(t, bytes.Repeat([]byte{1}, length), owned, "frame %d: owners of bytes", r.Number)
	sum := 0
	for _, p := range e.Frame.Parts {
		sum += p.Bytes
	}
	require.Equal(t, length, sum)

	for _, width := range []int{40, 80, 132} {
		var text bytes.Buffer
		require.NoError(t, f.WriteText(&text, &Style{Width: width, Color: width == 80}))
		for line := range strings.SplitSeq(text.String(), "\n") {
			if width >= 80 {
				require.LessOrEqual(t, ansi.StringWidth(line), width, "frame %d: %q", r.Number, line)
			}
			if width == 80 {
				line = testkit.WithoutColor(line)
			}
			require.NotContains(t, line, "\x1b")
		}
	}
	return f
}

func TestEveryFrame(t *testing.T) {
	for _, name := range captures(t) {
		n := 0
		each(t, name, nil, func(r *pipeline.Row) {
			if n++; r.Msg.BodyLen > 30000 && n%10 != 0 {
				return
			}
			check(t, r)
		})
	}
}

// The row of a class name has the whole name, as Java logged it: kryo marks its last character. Java logged no classes
// of the JDK, and none within exceptions.
func TestClassNames(t *testing.T) {
	for _, name := range testkit.Some([]string{"kryo", "edge-kryo-3.2.16", "edge-kryo", "kryo-3.2.16", "kryo-2.6.0", "edge-kryo2", "fst", "edge-fst"}, 4) {
		logged := make(map[string]bool)
		for text := range strings.SplitSeq(testkit.Get(t, name).TruthLog(t), `"`) {
			logged[text] = true
		}
		n := 0
		each(t, name+".pcap.zst", nil, func(r *pipeline.Row) {
			for _, row := range New(&Subject{Row: r, File: "x.pcap"}).rows {
				ours := strings.HasPrefix(row.value, "com.") || strings.HasPrefix(row.value, "org.")
				if row.name == "#class" && ours && row.value != "org.dubbowire.rig.edge.Op$2" && !strings.HasPrefix(row.path, "exception") {
					n++
					assert.True(t, logged[row.value], "%s, frame %d: %s %q", name, r.Number, row.path, row.value)
				}
			}
		})
		assert.Positive(t, n, name)
	}
}

// A page needs nothing but itself, is of bounded size, and marks what the tree has.
func TestPages(t *testing.T) {
	largest := 0
	for _, name := range captures(t) {
		n := 0
		each(t, name, nil, func(r *pipeline.Row) {
			if n++; n%7 != 0 && r.Msg.BodyLen < 60000 {
				return
			}
			f := New(&Subject{Row: r, File: "x.pcap"})
			var page bytes.Buffer
			require.NoError(t, f.WritePage(&page, &Style{}))
			largest = max(largest, page.Len())
			text := page.String()
			for _, outside := range []string{"http://", "https://", "src=", "@import", "url("} {
				head, _, _ := strings.Cut(text, `<pre id="hex"`)
				require.NotContains(t, head, outside)
			}
			require.Contains(t, text, `content="default-src 'none';`)
			require.NotContains(t, text, "ZgotmplZ")
			require.Contains(t, text, `data-r="1"`)
		})
	}
	assert.Less(t, largest, 1<<20, "bytes of a page")
	assert.Greater(t, largest, 50_000)
}

// Damage: the report says where reading stopped, marks the row, and what stands before it is still there.
func TestDamage(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for _, name := range captures(t) {
		stopped, n := 0, 0
		each(t, name, func(body []byte) {
			if len(body) > 0 {
				body[random.IntN(len(body))] ^= byte(1 + random.IntN(255))
			}
		}, func(r *pipeline.Row) {
			if n++; n%3 != 0 && !testing.Short() || r.Msg.BodyLen > 10000 {
				return
			}
			f := check(t, r)
			if r.Msg.Err == nil || r.Msg.Err.Cause != decode.Malformed {
				return
			}
			stopped++
			require.NotNil(t, f.damage)
			var text bytes.Buffer
			require.NoError(t, f.WriteText(&text, &Style{}))
			assert.Contains(t, text.String(), "malformed at ")
			assert.Contains(t, text.String(), "\n> ", "frame %d of %s: %v", r.Number, name, r.Msg.Err)
		})
		if !strings.HasPrefix(name, "own") {
			assert.Positive(t, stopped, name)
		}
	}
}

// Redacted, nothing of a value is to be seen: neither its text nor its bytes.
func TestRedacted(t *testing.T) {
	for _, secret := range []Secret{Redacted, Hidden} {
		found := 0
		each(t, "edge-hessian2.pcap.zst", nil, func(r *pipeline.Row) {
			if r.Msg.Kind != rpc.Request || r.Msg.Operation == nil || r.Msg.Operation.Method != "echoTexts" && r.Msg.Operation.Method != "echoMaps" {
				return
			}
			f := New(&Subject{Row: r, File: "x.pcap", Secret: secret})
			var text, js, page bytes.Buffer
			require.NoError(t, f.WriteText(&text, &Style{Full: true}))
			require.NoError(t, f.WriteJSON(&js))
			require.NoError(t, f.WritePage(&page, &Style{Full: true}))
			for _, word := range []string{"中文", "空 格", "rig-consumer", "in a list in a map", "by date", "<a href="} {
				for _, out := range []string{text.String(), js.String(), page.String()} {
					assert.False(t, strings.Contains(out, word), word)
					assert.False(t, strings.Contains(strings.ReplaceAll(out, " ", ""), hex.EncodeToString([]byte(word))), "the bytes of "+word)
				}
			}
			assert.Contains(t, text.String(), "org.dubbowire.rig.edge")
			assert.Contains(t, text.String(), "··")
			found++
		})
		assert.Positive(t, found)
	}
}

// A body whose tree would print without end is cut, and says so.
func TestLongTrees(t *testing.T) {
	each(t, "edge-hessian2.pcap.zst", nil, func(r *pipeline.Row) {
		f := New(&Subject{Row: r, File: "x.pcap"})
		var short, full bytes.Buffer
		require.NoError(t, f.WriteText(&short, &Style{}))
		require.LessOrEqual(t, strings.Count(short.String(), "\n"), maxLines+20)
		if strings.Contains(short.String(), "more") && len(f.rows) < 5000 {
			require.NoError(t, f.WriteText(&full, &Style{Full: true}))
			require.GreaterOrEqual(t, strings.Count(full.String(), "\n"), len(f.rows))
		}
	})
}
