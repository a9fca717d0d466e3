package scrub

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/pipeline"
)

const captures = "../../../testdata/captures"

var key = [32]byte{1, 2, 3}

// scrubbed scrubs every frame of a capture.
type scrubbed struct {
	t       *testing.T
	s       *Scrubber
	own     *dubbo.Decoder
	out     [][]byte // frames
	kept    []byte   // what stays: names, types
	texts   map[string]bool
	inFrame []string
	notes   map[string]int
	values  int
	frames  int
	gentler int
	left    int
	names   map[string]bool // of the message at hand
}

func newScrubbed(t *testing.T) *scrubbed {
	c := &scrubbed{
		t: t, s: New(formats.All(), key), own: dubbo.NewDecoder(formats.All()), texts: map[string]bool{},
		notes: map[string]int{},
	}
	c.s.Record(func(text string) {
		c.texts[text] = true
		c.inFrame = append(c.inFrame, text)
	})
	c.s.trace = func(m *dubbo.Message, i int, way uint8, why string) {
		n := &m.Tree.Nodes[i]
		c.gentler++
		if os.Getenv("TRACE") != "" {
			t.Logf("trace %s %s %s way %d %q %d %g %q %s", m.Serialization, m.Tree.Path(i), n.Kind, way, n.Text, n.Num, n.Float, c.s.original[n.Off:min(n.Off+min(n.Len, 60), int32(len(c.s.original)))], why)
		}
	}
	return c
}

func (c *scrubbed) run(file string) {
	src, err := capture.Open([]string{file}, capture.Options{})
	require.NoError(c.t, err)
	defer src.Close()
	_, err = pipeline.Run(src, pipeline.Options{Detail: dubbo.Values, WholeBodies: true, Rows: true, Jobs: 1, Formats: formats.All()}, c)
	require.NoError(c.t, err)
}

func (c *scrubbed) Call(*call.Call, bool) {}

func (c *scrubbed) Frame(r *pipeline.Row) {
	f, m := r.Frame, r.Msg
	c.frames++
	c.inFrame = c.inFrame[:0]
	out, note := c.s.Frame(nil, f, m)
	for _, p := range note.Filled {
		c.notes[note.Format+": "+p.Cause] += p.Bytes
		if p.Cause == "not replaceable" {
			c.t.Errorf("frame %d: %s", r.Number, note)
		}
	}
	c.left += note.Left
	require.Len(c.t, out, dubbo.HeaderLen+len(f.Body))
	c.out = append(c.out, out)
	again := *f
	again.Body = out[dubbo.HeaderLen:]
	was := shape(m)
	dialects := r.Dialects
	now := c.own.Decode(&again, dubbo.Values, &dialects)
	if got := shape(now); got != was && os.Getenv("SHAPES") != "" {
		c.t.Errorf("frame %d: %s\nwas %s\nnow %s", r.Number, m.Serialization, was, got)
	} else if got != was {
		if os.Getenv("TRACE") == "" {
			c.t.Errorf("frame %d: %s %v: another walk", r.Number, m.Serialization, m.Err)
		}
	}
	if m.Tree != nil {
		c.names = names(m)
		c.unchanged(r.Number, m, now)
		c.keep(m, f)
	}
}

// unchanged looks for values of four bytes or more that are what they were.
func (c *scrubbed) unchanged(number int64, was, now *dubbo.Message) {
	if now.Tree == nil || len(now.Tree.Nodes) != len(was.Tree.Nodes) {
		return
	}
	for i := range was.Tree.Nodes {
		a, b := &was.Tree.Nodes[i], &now.Tree.Nodes[i]
		if a.Len < 4 {
			continue
		}
		same := false
		switch a.Kind {
		case decode.String, decode.Date, decode.Decimal, decode.Char:
			same = a.Text == b.Text && strings.Trim(a.Text, "-0.E+\ufffd\x00") != ""
		case decode.Int:
			same = a.Num == b.Num && !extreme(a.Num)
		case decode.Float64, decode.Float32:
			same = a.Float == b.Float && math.Abs(a.Float) > 1e-37 && math.Abs(a.Float) < 1e37
		case decode.Bytes:
			same = len(a.Raw) > 0 && bytes.Equal(a.Raw, b.Raw)
		}
		if same && !c.mayStay(was, i) {
			c.t.Errorf("frame %d: %s: %s %s %q %d %g stayed", number, was.Serialization, was.Tree.Path(i), a.Kind, a.Text, a.Num, a.Float)
		}
	}
}

func (c *scrubbed) mayStay(m *dubbo.Message, i int) bool {
	path := m.Tree.Path(i)
	top, _, _ := strings.Cut(path, ".")
	switch top {
	case "dubboVersion", "path", "serviceVersion", "method", "parameterTypes", "flag", "group":
		return true
	}
	n := &m.Tree.Nodes[i]
	if n.Text != "" && n.Text == m.ExceptionClass || n.Name == "$ref" && strings.HasPrefix(n.Text, "$") {
		return true
	}
	if n.Text != "" && c.names[n.Text] {
		return true // a name that is a reference to a value, or the other way round
	}
	for up := n.Parent; up >= 0; up = m.Tree.Nodes[up].Parent {
		if m.Tree.Nodes[up].Kind == decode.Enum || m.Tree.Nodes[up].Class == "java.lang.Class" {
			return true
		}
	}
	if strings.HasPrefix(path, "attachments") && (n.Label == decode.ByKey || n.Name == "group" || n.Name == "version" || n.Name == "path" || n.Name == "interface" || n.Name == "dubbo") {
		return true
	}
	if m.Names != nil && m.Names.Generic() && (strings.HasPrefix(path, "args[0]") || strings.HasPrefix(path, "args[1]")) {
		return true
	}
	return n.Label == decode.ByMember || n.Name == "class" || n.Label == decode.ByKey
}

// names returns the constants of enums and the names of attachments and fields of a message.
func names(m *dubbo.Message) map[string]bool {
	all := map[string]bool{}
	for i := range m.Tree.Nodes {
		switch n := &m.Tree.Nodes[i]; {
		case n.Kind == decode.Enum:
			all[n.Text] = true
		case n.Label == decode.ByField || n.Label == decode.ByMember:
			all[n.Name] = true
		case n.Label == decode.ByKey && n.Parent >= 0 && m.Tree.Nodes[n.Parent].Name == "attachments":
			all[n.Text] = true
		}
	}
	return all
}

// keep collects what stays as it is.
func (c *scrubbed) keep(m *dubbo.Message, f *dubbo.Frame) {
	for i := range m.Tree.Nodes {
		n := &m.Tree.Nodes[i]
		stays := n.Kind == decode.Overhead || n.Kind == decode.Enum || n.Kind == decode.Ref || c.mayStay(m, i) || n.Kind == decode.Bool || n.Kind == decode.Null
		if end := int(n.Off + n.Len); stays && end <= len(f.Body) {
			c.kept = append(append(c.kept, f.Body[n.Off:end]...), 0)
		}
	}
}

// shape is what must not change of a message.
func shape(m *dubbo.Message) string {
	var b strings.Builder
	fmt.Fprintln(&b, m.Kind, m.Serialization, m.ResultKind, m.Decoded, m.ExceptionClass, m.Group, m.GenericMethod, m.Parts)
	if m.Header != nil {
		fmt.Fprintln(&b, m.Header.Name)
	}
	if m.Err != nil {
		fmt.Fprintln(&b, m.Err.Cause, m.Err.At)
	}
	if m.Names != nil {
		fmt.Fprintln(&b, m.Names.DubboVersion, m.Names.Path, m.Names.Version, m.Names.Method, m.Names.Types)
	}
	if m.Tree == nil {
		return b.String()
	}
	for i := range m.Tree.Nodes {
		n := &m.Tree.Nodes[i]
		fmt.Fprint(&b, n.Kind, n.Label, n.Index, n.Off, n.Len, n.End, n.Parent, n.Class)
		if n.Label != decode.ByKey && n.Label != decode.ByEntry {
			b.WriteString(n.Name)
		}
		if n.Kind == decode.Enum {
			b.WriteString(n.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// found returns the texts that occur in any of the frames and in nothing that stays.
func (c *scrubbed) found() []string {
	heads := map[string][]string{}
	for text := range c.texts {
		if !bytes.Contains(c.kept, []byte(text)) {
			heads[text[:4]] = append(heads[text[:4]], text)
		}
	}
	found := map[string]bool{}
	for _, frame := range c.out {
		for i := dubbo.HeaderLen; i+4 <= len(frame); i++ {
			for _, text := range heads[string(frame[i:i+4])] {
				if bytes.HasPrefix(frame[i:], []byte(text)) {
					found[text] = true
				}
			}
		}
	}
	var all []string
	for text := range found {
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

func TestCaptures(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(captures, "*.pcap*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for i, file := range files {
		name := strings.SplitN(filepath.Base(file), ".pcap", 2)[0]
		if only := os.Getenv("CAPTURE"); only != "" && !strings.HasPrefix(name, only) || testing.Short() && i%20 != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c := newScrubbed(t)
			c.run(file)
			assert.Empty(t, c.found())
			if testing.Verbose() {
				t.Log(c.frames, "frames", len(c.texts), "texts", c.notes, c.gentler, "gentler", c.left, "left")
			}
		})
	}
}
