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
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

const captures = "../../../testdata/captures"

var key = [32]byte{1, 2, 3}

// scrubbed scrubs every frame of a capture.
type scrubbed struct {
	t        *testing.T
	s        *Scrubber
	own      rpc.Decoders
	out      [][]byte // frames
	kept     []byte   // what stays: names, types
	texts    map[string]bool
	inFrame  []string
	notes    map[string]int
	frames   int
	gentler  int
	filled   int // by lack of another way
	left     int
	name     string
	stayed   int
	bodies   int             // copied without a tree
	leftHere int             // of the message at hand
	names    map[string]bool // of the message at hand
}

func newScrubbed(t *testing.T) *scrubbed {
	c := &scrubbed{
		t: t, s: New(formats.All(), key), own: rpc.Decoders{Formats: formats.All()}, texts: map[string]bool{},
		notes: map[string]int{},
	}
	c.s.Record(func(text string) {
		c.texts[text] = true
		c.inFrame = append(c.inFrame, text)
	})
	c.s.trace = func(m *rpc.Message, i int, strategy uint8, reason string) {
		n := &m.Tree.Nodes[i]
		c.gentler++
		if os.Getenv("TRACE") != "" {
			t.Logf("trace %s %s %s strategy %d %q %d %g %q %s", m.Serialization, m.Tree.Path(i), n.Kind, strategy, n.Text, n.Num, n.Float, c.s.original[n.Off:min(n.Off+min(n.Len, 60), int32(len(c.s.original)))], reason)
		}
	}
	return c
}

// eachMessage gives the messages of a capture to sink.
func eachMessage(tb testing.TB, file string, detail rpc.Detail, sink pipeline.Sink) {
	tb.Helper()
	src, err := capture.Open([]string{file}, capture.Options{})
	require.NoError(tb, err)
	defer src.Close()
	_, err = pipeline.Run(src, pipeline.Options{Detail: detail, WholeBodies: true, Rows: true, Jobs: 1, Protocols: protocols.All(), Formats: formats.All()}, sink)
	require.NoError(tb, err)
}

func (c *scrubbed) Call(*call.Call, bool) {}

func (c *scrubbed) Frame(r *pipeline.Row) {
	m := r.Msg
	c.frames++
	c.inFrame = c.inFrame[:0]
	out, note := c.s.Message(nil, m)
	for _, p := range note.Filled {
		c.notes[note.Format+": "+p.Cause] += p.Bytes
		if p.Cause == notReplaceable {
			c.filled += p.Bytes
		}
	}
	c.left += note.Left
	require.Len(c.t, out, len(m.Head)+len(m.Body))
	require.Empty(c.t, note.Refused)
	c.compareBody(m, out, note)
	c.out = append(c.out, out[len(m.Head):])
	again := *m
	if m.Body != nil {
		again.Body = append([]byte{}, out[len(m.Head):]...)
	}
	was := shape(m)
	now := c.own.Decode(&again, rpc.Values)
	given := slices.ContainsFunc(note.Filled, func(f Filled) bool { return f.Cause == notReplaceable })
	switch got := shape(now); {
	case given:
		assert.Equal(c.t, strings.SplitN(envelopeOf(m), "\n", 2), strings.SplitN(envelopeOf(now), "\n", 2))
	case os.Getenv("SHAPES") != "":
		assert.Equal(c.t, was, got, "frame %d", r.Number)
	case was != got:
		c.t.Errorf("frame %d: %s %v: another walk", r.Number, m.Serialization, m.Err)
	}
	c.leftHere = note.Left
	if m.Tree != nil {
		c.names = names(m)
		c.unchanged(r.Number, m, now)
		c.keep(m)
	}
}

// compareBody compares what Message has made of m with what is made without a tree, if that can be done.
func (c *scrubbed) compareBody(m *rpc.Message, out []byte, note Result) {
	fast, ok := c.s.Body(nil, m)
	if ok {
		c.bodies++
		require.Equal(c.t, out, fast)
		require.Empty(c.t, note.String())
	}
	was := bytes.Clone(m.Body)
	if may := c.s.MayBody(m); may {
		require.Nil(c.t, m.Err)
		decoded, _ := c.s.Decoded(nil, m)
		require.Equal(c.t, out, decoded, "what is known of the connection does not matter")
	} else {
		require.False(c.t, ok)
	}
	require.Equal(c.t, was, m.Body)
}

// unchanged looks for values of four bytes or more that are what they were.
func (c *scrubbed) unchanged(number int64, was, now *rpc.Message) {
	if now.Tree == nil || len(now.Tree.Nodes) != len(was.Tree.Nodes) {
		return
	}
	for i := range was.Tree.Nodes {
		a, b := &was.Tree.Nodes[i], &now.Tree.Nodes[i]
		if a.Label == decode.ByMember && decode.IsMemberName(a.Text) && a.Text != b.Text {
			c.t.Errorf("frame %d: %s: a name became %q", number, was.Tree.Path(i), b.Text)
		}
		if a.Len < 4 {
			continue
		}
		same := false
		switch a.Kind {
		case decode.String, decode.Date, decode.Decimal, decode.Char:
			same = a.Text == b.Text && len(a.Text) > 1 && strings.Trim(a.Text, "-0.E+\ufffd\x00/\b") != ""
			if d, ok := parseDecimal([]byte(a.Text)); ok && d.n == 0 {
				same = false
			}
		case decode.Int:
			same = a.Num == b.Num && !isExtreme(a.Num) && a.Num != 1 && a.Num != -1 // the sign of a number, in five bytes
		case decode.Float64, decode.Float32:
			same = a.Float == b.Float && a.Float != 1 && math.Abs(a.Float) > 1e-37 && math.Abs(a.Float) < 1e37
		case decode.Bytes:
			same = len(a.Raw) > 0 && bytes.Equal(a.Raw, b.Raw)
		}
		if a.Kind != decode.String && (c.leftHere > 0 || a.Float == 0.75) {
			continue
		}
		if same && !c.mayStay(was, i) {
			if c.stayed++; a.Kind == decode.Decimal && c.stayed <= stay[c.name] {
				continue
			}
			c.t.Errorf("frame %d: %s: %s %s %q %d %g stayed", number, was.Serialization, was.Tree.Path(i), a.Kind, a.Text, a.Num, a.Float)
		}
	}
}

func (c *scrubbed) mayStay(m *rpc.Message, i int) bool {
	path := m.Tree.Path(i)
	top, _, _ := strings.Cut(path, ".")
	switch top {
	case "dubboVersion", "path", "serviceVersion", "method", "parameterTypes", "argumentCount", "flag", "group", "serializeType", "argTypes", "type", "messageType",
		"sequenceId", "errorType":
		return true
	}
	n := &m.Tree.Nodes[i]
	if n.Text != "" && n.Text == m.ExceptionClass || n.Name == "$ref" && strings.HasPrefix(n.Text, "$") {
		return true
	}
	if n.Text != "" && (c.names[n.Text] || isClass(n.Text)) {
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
	if m.Operation != nil && m.Operation.Generic && (strings.HasPrefix(path, "args[0]") || strings.HasPrefix(path, "args[1]")) {
		return true
	}
	return n.Label == decode.ByMember && decode.IsMemberName(n.Text) || n.Name == "class" || n.Label == decode.ByKey
}

// names returns the constants of enums and the names of attachments and fields of a message.
func names(m *rpc.Message) map[string]bool {
	all := map[string]bool{}
	for i := range m.Tree.Nodes {
		switch n := &m.Tree.Nodes[i]; {
		case n.Kind == decode.Enum:
			all[n.Text], all[n.Class] = true, true
		case n.Class != "":
			all[n.Class], all[n.Name] = true, n.Label != decode.ByKey && n.Label != decode.ByEntry
		case n.Label == decode.ByField || n.Label == decode.ByMember:
			all[n.Name] = true
		case n.Label == decode.ByKey && n.Parent >= 0 && m.Tree.Nodes[n.Parent].Name == "attachments":
			all[n.Text] = true
		}
	}
	return all
}

// keep collects what stays as it is.
func (c *scrubbed) keep(m *rpc.Message) {
	at := -1
	for i := range m.Tree.Nodes {
		n := &m.Tree.Nodes[i]
		stays := n.Kind == decode.Overhead && n.Name != "text" || n.Kind == decode.Enum || n.Kind == decode.Ref || c.mayStay(m, i) || n.Kind == decode.Bool || n.Kind == decode.Null
		if end := int(n.Off + n.Len); stays && end <= len(m.Body) {
			if int(n.Off) != at {
				c.kept = append(c.kept, 0)
			}
			c.kept = append(c.kept, m.Body[n.Off:end]...)
			at = end
		}
	}
}

func envelopeOf(m *rpc.Message) string {
	names := ""
	if m.Operation != nil {
		names = fmt.Sprint(m.Operation.ProtocolVersion, m.Operation.Service, m.Operation.Version, m.Operation.Method, m.Operation.Types)
	}
	return fmt.Sprintln(m.Kind, m.Serialization, m.ResultKind, m.ExceptionClass, m.Group, m.GenericMethod, names)
}

// shape is what must not change of a message.
func shape(m *rpc.Message) string {
	var b strings.Builder
	fmt.Fprintln(&b, m.Kind, m.Serialization, m.ResultKind, m.Decoded, m.ExceptionClass, m.Group, m.GenericMethod, m.Parts)
	if m.HeaderFormat != nil {
		fmt.Fprintln(&b, m.HeaderFormat.Name)
	}
	if m.Err != nil {
		fmt.Fprintln(&b, m.Err.Cause, m.Err.At)
	}
	if m.Operation != nil {
		fmt.Fprintln(&b, m.Operation.ProtocolVersion, m.Operation.Service, m.Operation.Version, m.Operation.Method, m.Operation.Types)
	}
	if m.Tree == nil {
		return b.String()
	}
	for i := range m.Tree.Nodes {
		n := &m.Tree.Nodes[i]
		fmt.Fprint(&b, n.Kind, n.Label, n.Index, n.Off, n.Len, n.End, n.Parent, n.Class)
		if n.Label != decode.ByKey && n.Label != decode.ByEntry && n.Label != decode.ByMember {
			b.WriteString(n.Name)
		}
		if n.Kind == decode.Enum {
			b.WriteString(n.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// found returns the texts that occur in any of the frames and in nothing that stays, which is looked for last: few texts occur at all.
func (c *scrubbed) found() (all []string) {
	heads := map[string][]string{}
	for text := range c.texts {
		if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || r >= '1' && r <= '9' }) {
			heads[text[:4]] = append(heads[text[:4]], text)
		}
	}
	found := map[string]bool{} // whether it stays nowhere
	for k, frame := range c.out {
		for i := 0; i+4 <= len(frame); i++ {
			for _, text := range heads[string(frame[i:i+4])] {
				if !bytes.HasPrefix(frame[i:], []byte(text)) {
					continue
				}
				leak, known := found[text]
				if !known {
					leak = !bytes.Contains(c.kept, []byte(text))
					found[text] = leak
				}
				if leak && os.Getenv("WHERE") != "" {
					c.t.Logf("%q in frame %d: %q", text, k+1, frame[max(0, i-40):min(len(frame), i+60)])
				}
			}
		}
	}
	for text, leak := range found {
		if leak {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return all
}

// notReplaced are the bytes of values that no way was found for: streams of Java inside Dubbo's own serialization that end
// where nobody can read on.
var notReplaced = map[string]int{}

// stay is how many numbers stay, since their digits are an array that something else brought.
var stay = map[string]int{"zoo-java": 8, "zoo-nativejava": 8}

// Of every committed capture: each frame is as long as it was and has the same walk; its values are others, and the texts that
// were replaced are nowhere in what came out, unless they are part of a name that stays.
func TestCaptures(t *testing.T) {
	testkit.EachLeft(t, 8, func(t *testing.T, file *testkit.Capture) {
		c := newScrubbed(t)
		c.name = file.Name
		eachMessage(t, file.Path(), rpc.Values, c)
		assert.Empty(t, c.found())
		assert.LessOrEqual(t, c.filled, notReplaced[file.Name], "bytes that could not be replaced")
		assert.LessOrEqual(t, c.left, 1<<10, "bytes that stay")
		if testing.Verbose() {
			t.Log(c.frames, "frames", len(c.texts), "texts", c.notes, c.gentler, "gentler", c.left, "left")
		}
	})
}

// Most bodies of Hessian2 are copied without a tree, over Triple as well, and JSON over HTTP.
func TestBody(t *testing.T) {
	for _, name := range []string{"hessian2", "triple-3.3.6", "rest-jetty-json-2.7.23", "fastjson2-3.3.6"} {
		c := newScrubbed(t)
		eachMessage(t, filepath.Join(captures, name+".pcap.zst"), rpc.Values, c)
		assert.Greater(t, 2*c.bodies, c.frames, name)
		t.Log(name, c.bodies, "of", c.frames)
	}
}

// otherMagic compares what Body and Message make of messages if their protocol had another magic.
type otherMagic struct {
	t       *testing.T
	s       *Scrubber
	magic   string
	changed int // bodies copied without a tree that were other ones with the protocol's own magic
}

func (*otherMagic) Call(*call.Call, bool) {}

func (c *otherMagic) Frame(r *pipeline.Row) {
	m := *r.Msg
	own, ok := c.s.Body(nil, &m)
	if !ok {
		return
	}
	m.Protocol = withMagic(m.Protocol, c.magic)
	if fast, ok := c.s.Body(nil, &m); ok {
		out, note := c.s.Message(nil, &m)
		require.Equal(c.t, out, fast, "frame %d", r.Number)
		require.Empty(c.t, note.String())
		if !bytes.Equal(own, fast) {
			c.changed++
		}
	}
	require.Equal(c.t, r.Msg.Body, m.Body)
}

// Values that make the magic of the protocol are replaced by the same others without a tree as with one.
func TestBodyWithoutMagic(t *testing.T) {
	for _, magic := range []string{"7", "K", "\xbb", "\xe9", "\x40", "\x00\x03"} {
		c := &otherMagic{t: t, s: New(formats.All(), key), magic: magic}
		for _, name := range []string{"hessian2", "zoo-hessian2", "edge-hessian2-3.3.6", "triple-3.3.6", "fastjson2-3.3.6", "zoo-fastjson2-3.3.6"} {
			eachMessage(t, filepath.Join(captures, name+".pcap.zst"), rpc.Values, c)
		}
		assert.Greater(t, c.changed, 20, "%q", magic)
		t.Logf("%q: %d", magic, c.changed)
	}
}
