package record_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/record"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

const captures = "../../../testdata/captures"

type groups struct{ *sizes.Aggregator }

func (groups) Frame(*pipeline.Row) {}

func (g groups) Call(c *call.Call, selected bool) {
	if selected {
		g.Aggregator.Call(c)
	}
}

// analyzed is what analyze says of files: the groups as their JSON, and the totals.
type analyzed struct {
	groups string
	inputs []capture.Input
	*pipeline.Totals
}

// analyze runs the line over files, with a tap or without, by the method and by client and server.
func analyze(t testing.TB, tap pipeline.Tap, apart bool, paths ...string) analyzed {
	t.Helper()
	src, err := capture.Open(paths, capture.Options{})
	require.NoError(t, err)
	return analyzeSource(t, src, src, tap, apart)
}

// analyzeSource reads from in what comes from files.
func analyzeSource(t testing.TB, in capture.Source, src *capture.Files, tap pipeline.Tap, apart bool) analyzed {
	t.Helper()
	defer src.Close()
	by, err := sizes.ParseBy("service,method,serialization,client,server,status,time:10s")
	require.NoError(t, err)
	agg := sizes.New(by, 100_000, nil)
	opt := pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Envelope, Tap: tap}
	for i := range src.Inputs() {
		if apart {
			opt.Apart = append(opt.Apart, i)
		}
	}
	totals, err := pipeline.Run(in, opt, groups{agg})
	require.NoError(t, err)
	r := report.Build(src.Inputs(), totals, by, agg.Groups())
	r.SortBy("")
	var out bytes.Buffer
	require.NoError(t, r.WriteJSON(&out, true))
	var whole struct{ Groups json.RawMessage }
	require.NoError(t, json.Unmarshal(out.Bytes(), &whole))
	for _, err := range src.Problems() {
		if tap == nil {
			t.Error(err)
		}
	}
	return analyzed{fileOfLargest.ReplaceAllString(string(whole.Groups), ""), src.Inputs(), totals}
}

// fileOfLargest says where a group's largest call was.
var fileOfLargest = regexp.MustCompile(`"file": "[^"]*",`)

// rates are of the time from a capture's first packet to its last, and those may be of other connections; frames have
// numbers by their order in the file.
var rates = regexp.MustCompile(`"(callsPerSecond|frame|connection)": [0-9.e-]*,?`)

// startOf is when the first packet of a capture was.
func startOf(t testing.TB, path string) func() time.Time {
	t.Helper()
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	var p capture.Packet
	require.NoError(t, src.Next(&p))
	at := p.Time
	return func() time.Time { return time.Unix(0, at) }
}

// TestReplay records the committed captures while they are analysed, and analyses what was recorded.
func TestReplay(t *testing.T) {
	testkit.EachLeft(t, 16, func(t *testing.T, c *testkit.Capture) {
		path := c.Path()
		dir := t.TempDir()
		whole := filepath.Join(dir, "all.pcapng")
		plain, err := record.Open(record.Options{File: whole})
		require.NoError(t, err)
		want := analyze(t, plain, false, path)
		require.NoError(t, plain.Close())
		got := analyze(t, nil, false, whole)
		require.Equal(t, want.groups, got.groups)
		assert.Equal(t, want.Packets, got.Packets)
		assert.Equal(t, want.LinkBytes, got.LinkBytes)
		assert.Equal(t, want.Frames, got.Frames)
		assert.Equal(t, want.Packets, plain.Stats().Packets)
		assert.Equal(t, size(t, whole), plain.Stats().Bytes)

		for _, rotated := range []bool{false, true} {
			if rotated && !inOrder(t, path) {
				continue // several files are merged by time, one is read as it is
			}
			only := filepath.Join(dir, fmt.Sprint("rotated ", rotated))
			require.NoError(t, os.Mkdir(only, 0o777))
			o := record.Options{File: filepath.Join(only, "f"), OnlyRPC: true, Comment: "of a test", OS: "Linux"}
			if rotated {
				o.MaxBytes = 100_000
			}
			few, err := record.Open(o)
			require.NoError(t, err)
			analyze(t, few, false, path)
			require.NoError(t, few.Close())
			s := few.Stats()
			assert.Zero(t, s.Undecided)
			assert.Equal(t, want.Packets, s.Packets+s.LeftOut)
			got = analyze(t, nil, false, only)
			require.Equal(t, rates.ReplaceAllString(want.groups, ""), rates.ReplaceAllString(got.groups, ""))
			assert.Equal(t, want.Frames, got.Frames)
			assert.Empty(t, got.OtherTCP)
			assert.Equal(t, s.Packets, got.Packets)
			for _, in := range got.inputs {
				if rotated {
					assert.LessOrEqual(t, size(t, in.File), int64(100_000))
				}
			}
		}
	})
}

// inOrder reports whether the times of a capture's packets never step back.
func inOrder(t testing.TB, path string) bool {
	t.Helper()
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	var p capture.Packet
	for last := int64(0); src.Next(&p) == nil; last = p.Time {
		if p.Time < last {
			return false
		}
	}
	return true
}

func size(t testing.TB, name string) int64 {
	t.Helper()
	info, err := os.Stat(name)
	require.NoError(t, err)
	return info.Size()
}

// cutter is a capture of which less was kept.
type cutter struct {
	*capture.Files
	snapLen int
}

func (c cutter) Next(p *capture.Packet) error {
	err := c.Files.Next(p)
	p.Data = p.Data[:min(len(p.Data), c.snapLen)]
	return err
}

func (c cutter) NextBatch(ps []capture.Packet) (int, error) {
	n, err := c.Files.NextBatch(ps)
	for i := range ps[:n] {
		ps[i].Data = ps[i].Data[:min(len(ps[i].Data), c.snapLen)]
	}
	return n, err
}

// TestCut records less of each packet than there was, and compares that with the capture cut while it is read.
func TestCut(t *testing.T) {
	path := filepath.Join(captures, "edge-hessian2-3.3.6.pcap.zst")
	name := filepath.Join(t.TempDir(), "cut.pcapng")
	r, err := record.Open(record.Options{File: name, SnapLen: 200})
	require.NoError(t, err)
	want := analyze(t, r, false, path)
	require.NoError(t, r.Close())
	got := analyze(t, nil, false, name)
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	cut := analyzeSource(t, cutter{src, 200}, src, nil, false)
	assert.Equal(t, cut.groups, got.groups)
	assert.Equal(t, cut.RPCBytes, got.RPCBytes)
	assert.Equal(t, cut.Calls, got.Calls)
	assert.Equal(t, want.LinkBytes, got.LinkBytes)
	assert.Equal(t, want.Packets, got.Packets)
	assert.Equal(t, 200, got.inputs[0].SnapLen)
	assert.Positive(t, got.inputs[0].TruncatedPackets)
	assert.Less(t, size(t, name), want.LinkBytes)
}

// TestRotatedByTime makes files of one second each out of a capture of several.
func TestRotatedByTime(t *testing.T) {
	path := filepath.Join(captures, "fleet.pcap.zst")
	dir := t.TempDir()
	r, err := record.Open(record.Options{File: filepath.Join(dir, "f-%Y%m%d-%H%M%S"), Every: time.Second, Now: startOf(t, path)})
	require.NoError(t, err)
	want := analyze(t, r, false, path)
	require.NoError(t, r.Close())
	got := analyze(t, nil, false, dir)
	require.Equal(t, want.groups, got.groups)
	require.Greater(t, r.Stats().Files, 1)
	require.Len(t, got.inputs, r.Stats().Files)
	assert.Zero(t, r.Stats().Overwritten)
	for _, in := range got.inputs {
		assert.LessOrEqual(t, in.LastTime-in.FirstTime, int64(time.Second))
	}
}

// TestOthersRead lets Wireshark's tools and tcpdump read what was recorded.
func TestOthersRead(t *testing.T) {
	testkit.Needs(t, "tshark and tcpdump")
	path := filepath.Join(captures, "edge-hessian2-3.3.6.pcap.zst")
	dir := t.TempDir()
	r, err := record.Open(record.Options{
		File: filepath.Join(dir, "f.pcapng"), MaxBytes: 400_000, Comment: "a comment", Application: "dubbo-wire test", OS: "Linux 6",
		Filter: "tcp port 20880", Names: func(int) string { return "veth0" },
		Machine: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/24"), netip.MustParsePrefix("2001:db8::1/64")},
	})
	require.NoError(t, err)
	r.Dropped(0, 0)
	want := analyze(t, r, false, path)
	r.Dropped(want.Packets+7, 7)
	require.NoError(t, r.Close())
	empty, err := record.Open(record.Options{File: filepath.Join(dir, "empty.pcapng")})
	require.NoError(t, err)
	empty.Dropped(5, 5)
	require.NoError(t, empty.Close())

	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Greater(t, len(files), 2)
	for _, tool := range [][]string{{"tshark", "-n", "-r"}, {"capinfos"}, {"tcpdump", "-nn", "-r"}} {
		t.Run(tool[0], func(t *testing.T) {
			if _, err := exec.LookPath(tool[0]); err != nil {
				t.Skip(tool[0] + " is missing")
			}
			lines := int64(0)
			for _, f := range files {
				var errs bytes.Buffer
				cmd := exec.Command(tool[0], append(tool[1:len(tool):len(tool)], f)...)
				cmd.Stderr = &errs
				out, err := cmd.Output()
				require.NoError(t, err, "%s: %s", f, errs.String())
				for line := range strings.Lines(errs.String()) {
					switch {
					case strings.HasPrefix(line, "reading from file"), strings.HasPrefix(line, "Running as user"):
					default:
						t.Errorf("%s: %s", f, line)
					}
				}
				if tool[0] == "tshark" {
					lines += int64(bytes.Count(out, []byte("\n")))
				}
				if tool[0] == "capinfos" && !strings.HasSuffix(f, "empty.pcapng") {
					for _, word := range []string{"veth0", "tcp port 20880", "nanosecond", "dubbo-wire test", "a comment", "Number of stat entries = 1"} {
						assert.Contains(t, string(out), word)
					}
				}
			}
			if tool[0] == "tshark" {
				assert.Equal(t, want.Packets, lines)
			}
		})
	}

	dropped := int64(0)
	for _, in := range analyze(t, nil, false, dir).inputs {
		require.GreaterOrEqual(t, in.Dropped, int64(0))
		dropped += in.Dropped
	}
	assert.Equal(t, int64(7+5), dropped, "what was dropped is said once, also in a file without a packet")
}
