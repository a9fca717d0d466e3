package truth

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

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

// bodies collects the first requests and results of a capture, with their headers.
type bodies struct{ frames []dubbo.Frame }

func (b *bodies) Frame(r *pipeline.Row) {
	if r.Msg.Kind > rpc.Response || len(b.frames) == 40 || r.Msg.BodyLen < 8 || r.Msg.Kind == rpc.Response && r.Msg.Status != dubbo.StatusOK {
		return
	}
	f := dubbo.FrameOf(r.Msg)
	f.Body = bytes.Clone(f.Body)
	b.frames = append(b.frames, f)
}

func (*bodies) Call(*call.Call, bool) {}

// alike are serializations of which a body need not say which one it is in: those of a row read each other's.
var alike = [][]string{
	{"hessian2", "native-hessian"},
	{"java", "compactedjava", "nativejava"},
	{"json", "fastjson", "gson", "jackson", "protobuf-json"},
	{"kryo", "kryo2"},
}

func isAlike(a, b string) bool {
	for _, row := range alike {
		in := 0
		for _, name := range row {
			if name == a || name == b {
				in++
			}
		}
		if in == 2 {
			return true
		}
	}
	return a == b
}

// Where the header names another serialization than the body is in, the bytes decide: real bodies of every serialization
// under the id of every other one. None is taken for a third one, and requests are always told.
func TestBodyAgainstHeader(t *testing.T) {
	testkit.Once(t)
	all := formats.All()
	told, kept, wrong := 0, 0, 0
	for _, from := range all {
		if from.Depth < decode.DepthFull && from.Name != "compactedjava" || from.Capture == "" {
			continue
		}
		frames := firstFrames(t, from.Capture)
		for _, to := range append(slices.Clone(all), decode.Format{ID: 0, Depth: decode.DepthFull}, decode.Format{ID: 30, Depth: decode.DepthFull}, decode.Format{ID: 31, Depth: decode.DepthFull}) {
			if to.ID == 31 && from.Depth < decode.DepthFull {
				continue // a user's own is only another one where that reads all of it
			}
			if to.ID == from.ID || to.Depth == decode.DepthNone {
				continue
			}
			for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Parts, rpc.Values} {
				d := dubbo.NewDecoder(all)
				var dialects dubbo.Dialects
				for _, f := range frames {
					f.Flags = f.Flags&^0x1f | to.ID
					m := d.Decode(&f, detail, &dialects)
					what := fmt.Sprintf("%s under %d, detail %d, request %v", from.FullName(), to.ID, detail, f.Request())
					switch {
					case m.HeaderFormat == nil:
						kept++
						if to.Name == "" {
							assert.False(t, f.Request(), what)
							continue
						}
						assert.Equal(t, to.ID, m.Format.ID, what)
						if f.Request() && m.Err != nil && m.Names == nil {
							t.Errorf("%s: not told: %v", what, m.Err)
						}
					case isAlike(m.Format.Name, from.Name):
						told++
						if detail == rpc.Values && from.Depth == decode.DepthFull {
							assert.Equal(t, "full", m.Decoded, what)
						}
					default:
						wrong++
						t.Errorf("%s: taken for %s", what, m.Serialization)
					}
				}
			}
		}
	}
	t.Logf("%d told, %d read as their header says, %d wrong", told, kept, wrong)
	assert.Greater(t, told, 10000)
}

// Damage is not another serialization: of bodies with a byte changed, next to none is taken for one.
func TestDamageIsNoOtherSerialization(t *testing.T) {
	testkit.Once(t)
	if testing.Short() {
		t.Skip("one goroutine: the race detector finds nothing")
	}
	all := formats.All()
	random := rand.New(rand.NewPCG(1, 2))
	damaged, taken := 0, 0
	for _, format := range all {
		if format.Depth < decode.DepthFull || format.Capture == "" {
			continue
		}
		frames := firstFrames(t, format.Capture)
		for range 50 {
			d := dubbo.NewDecoder(all)
			var dialects dubbo.Dialects
			d.Decode(&frames[0], rpc.Values, &dialects)
			for _, f := range frames {
				f.Body = bytes.Clone(f.Body)
				f.Body[random.IntN(min(len(f.Body), 200))] ^= byte(1 + random.IntN(255))
				m := d.Decode(&f, rpc.Values, &dialects)
				damaged++
				if m.HeaderFormat != nil && !isAlike(m.Format.Name, m.HeaderFormat.Name) {
					taken++
					t.Logf("%s taken for %s", m.HeaderFormat.Name, m.Serialization)
				}
			}
		}
	}
	t.Logf("%d of %d damaged bodies taken for another serialization", taken, damaged)
	assert.Less(t, taken, damaged/2000)
}

// firstFrames returns the first requests and results of a capture.
func firstFrames(t *testing.T, name string) []dubbo.Frame {
	b := new(bodies)
	src, err := capture.Open([]string{"../../../testdata/captures/" + name}, capture.Options{})
	require.NoError(t, err)
	_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Rows: true, WholeBodies: true}, b)
	require.NoError(t, err)
	require.NoError(t, src.Close())
	require.Len(t, b.frames, 40, name)
	return b.frames
}
