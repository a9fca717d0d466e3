package truth

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/truth/javalog"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// captures is where the captures are; CAPTURES names another folder of the rig's, for trials.
var captures = cmp.Or(os.Getenv("CAPTURES"), "../../../testdata/captures")

// provenance is what the rig says of a capture.
type provenance struct {
	Name, File, Truth, Dubbo, LinkType, Note string
	Serializations                           []string
	Protocols                                []string // where there are others than Dubbo's own
	Complete, Optimizer                      bool
	Packets                                  int64
}

// foreign reports whether nothing in the capture is the Dubbo protocol.
func (p *provenance) foreign() bool {
	return len(p.Protocols) > 0 && !slices.Contains(p.Protocols, "dubbo")
}

func allCaptures(t *testing.T) []provenance {
	b, err := os.ReadFile(filepath.Join(captures, "provenance.json"))
	require.NoError(t, err)
	var all []provenance
	require.NoError(t, json.Unmarshal(b, &all))
	require.NotEmpty(t, all)
	return all
}

// someCaptures is all of them, or with -short one of every other set of serializations: the race detector finds nothing more in the others.
func someCaptures(t *testing.T) []provenance {
	all := allCaptures(t)
	if !testing.Short() {
		return all
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(p provenance) bool {
		key := strings.Join(p.Serializations, " ")
		again := seen[key]
		seen[key] = true
		return again || len(seen)%2 == 0
	})
}

// logged is one frame as the Java side saw it.
type logged = javalog.Frame

// way is a direction: from an address to another.
type way struct{ src, dst string }

// readTruth returns what was sent and what was received, by direction, in order, and the bytes that are not frames: telnet
// text, and the rubbish that a provider of 2.5 sends after an answer that replaces another.
func readTruth(t *testing.T, name string) (sent, received map[way][]logged, telnet, rubbish int64) {
	f, err := os.Open(filepath.Join(captures, name))
	require.NoError(t, err)
	defer f.Close()
	z, err := zstd.NewReader(f)
	require.NoError(t, err)
	defer z.Close()
	sent, received = map[way][]logged{}, map[way][]logged{}
	require.NoError(t, javalog.Read(z, func(l *logged) {
		switch {
		case l.Kind == "http2", l.Kind == "message", l.Kind == "thrift", l.Kind == "http1", l.Kind == "http1message", l.Kind == "tls": // of another protocol
		case l.Kind == "telnet":
			if l.Side == "provider" {
				telnet += l.Bytes
			}
		case l.Kind == "qos": // text, which only the administrator's end has logged
			telnet += l.Bytes
		case l.Kind == "rubbish":
			rubbish += l.Bytes
		case l.Dir == "out":
			w := way{l.Local, l.Remote}
			sent[w] = append(sent[w], *l)
		case l.Dir == "in":
			w := way{l.Remote, l.Local}
			received[w] = append(received[w], *l)
		}
	}))
	return sent, received, telnet, rubbish
}

// frame is a record of `frames --format jsonl`.
type frame struct {
	Frame                      int64
	Connection                 int
	Src, Dst, Kind, ID         string
	Protocol                   string
	TwoWay                     bool
	Serialization              string
	SerializationID            int
	Status                     *int
	HeaderBytes, BodyBytes     int
	Complete                   bool
	DubboVersion               string
	Service, Version           *string
	Group, Method              string
	ParameterTypes             []string
	ResultKind, ExceptionClass string
	ErrorMessage               *string
	Parts                      []struct {
		Path  string
		Bytes int
	}
	Decoded, Cause, Error string
	UndecodedAt           *int
}

// callRecord is a record of `calls --format jsonl`.
type callRecord struct {
	RequestFrame, ResponseFrame      int64
	Protocol                         string
	State                            string
	Generic                          bool
	Method                           string
	Arguments                        []any
	Attachments, ResponseAttachments any
	Result                           any
	Exception                        *struct{ Class, Message *string }
}

// run is what dubbo-wire says of a capture.
type run struct {
	frames []frame        // of the dubbo protocol
	others map[string]int // calls of other protocols
	byNum  map[int64]*frame
	calls  []callRecord
	totals *pipeline.Totals
	report *report.Report
}

type collector struct {
	t      *testing.T
	frames report.Frames
	calls  report.Calls
	agg    *sizes.Aggregator
	out    *run
}

func (c *collector) Frame(r *pipeline.Row) {
	var f frame
	b := c.frames.AppendJSON(nil, r)
	require.NoError(c.t, json.Unmarshal(b, &f), "%s", b)
	if f.Protocol == "dubbo" {
		c.out.frames = append(c.out.frames, f)
	}
}

func (c *collector) Call(k *call.Call, _ bool) {
	b := c.calls.AppendJSON(nil, k)
	var r callRecord
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	require.NoError(c.t, d.Decode(&r), "%s", b)
	if r.Protocol == "dubbo" {
		c.out.calls = append(c.out.calls, r)
	} else {
		c.out.others[r.Protocol]++
	}
	c.agg.Call(k)
}

// analyze reads a capture with everything wanted.
func analyze(t *testing.T, file string) *run { return analyzeWith(t, file, formats.All()) }

// analyzeWith reads a capture with everything wanted, and the formats given.
func analyzeWith(t *testing.T, file string, known []decode.Format) *run {
	src, err := capture.Open([]string{filepath.Join(captures, file)}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	c := &collector{t: t, agg: sizes.New(sizes.DefaultBy(), 0, []string{file}), out: &run{byNum: map[int64]*frame{}, others: map[string]int{}}}
	c.out.totals, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: known, Detail: rpc.Values, RenderValues: true, Rows: true}, c)
	require.NoError(t, err)
	c.out.report = report.Build(src.Inputs(), c.out.totals, sizes.DefaultBy(), c.agg.Groups())
	for i := range c.out.frames {
		c.out.byNum[c.out.frames[i].Frame] = &c.out.frames[i]
	}
	return c.out
}
