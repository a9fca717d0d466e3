package truth

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/dev/truth/javalog"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
)

// thriftLine is a line of the log about a message that an end wrote or read, with the values that libthrift found in it, or about a call.
type thriftLine struct {
	Side, Dir, Kind, Local, Remote string
	Encoding, Type, Name           string
	Framed                         bool
	FrameBytes, HeaderBytes, Bytes int
	Service, Path, ID              string
	SeqID                          int32
	Sha256                         string
	Value                          any
	// Of calls.
	Method, ResultKind string
	Arguments          []any
	Result             any
}

// thriftMessage is one of our messages.
type thriftMessage struct {
	thriftLine
	value    any
	protocol string
	matched  bool
}

// thriftCall is what calls --format jsonl prints of the call with that request.
type thriftCall struct {
	request int64
	json    string
}

// thriftMessages collects messages and calls.
type thriftMessages struct {
	t        *testing.T
	messages []*thriftMessage
	calls    []thriftCall
}

func (s *thriftMessages) Frame(r *pipeline.Row) {
	m := r.Msg
	require.True(s.t, m.Complete)
	require.Equal(s.t, "full", m.Decoded)
	o := &thriftMessage{protocol: m.Protocol.Name}
	o.Local, o.Remote = r.Conn.Ends[r.Side], r.Conn.Ends[1-r.Side]
	o.Bytes, o.FrameBytes, o.HeaderBytes = m.BodyLen, m.FrameLen(), int(m.HeaderLen)
	o.Encoding = map[string]string{"thrift": "binary", "thrift-compact": "compact"}[m.Serialization]
	hash := sha256.Sum256(m.Body)
	o.Sha256 = hex.EncodeToString(hash[:8])
	o.ID = m.ID()
	if m.Operation != nil {
		o.Service = m.Operation.Service
	}
	o.Type = map[rpc.Kind]string{rpc.Request: "ONEWAY", rpc.Response: m.StatusText()}[m.Kind]
	if m.TwoWay {
		o.Type = "CALL"
	}
	t := m.Tree
	fields := []any{}
	for i := 0; i < len(t.Nodes); i = int(t.Nodes[i].End) {
		n := &t.Nodes[i]
		switch {
		case n.Name == "method":
			o.Name = n.Text
		case n.Name == "sequenceId":
			o.SeqID = int32(n.Num)
		case n.Name == "args":
			for c := i + 1; c < int(n.End); c = int(t.Nodes[c].End) {
				if a := &t.Nodes[c]; a.Kind != decode.Overhead && !(a.Kind == decode.Null && a.Len == 0) {
					fields = append(fields, []any{int64(a.Index) + 1, thriftNode(t, c)})
				}
			}
		case n.Name == "result":
			fields = append(fields, []any{int64(0), thriftNode(t, i)})
		case n.Name == "exception":
			fields = append(fields, []any{fieldID(s.t, n.Class), thriftNode(t, i)})
		case n.Name == "errorMessage":
			fields = append(fields, []any{int64(1), n.Text})
		case n.Name == "errorType":
			fields = append(fields, []any{int64(2), n.Num})
		}
	}
	o.value = fields
	if m.Status == 3 {
		assert.True(s.t, m.Failed)
	}
	s.messages = append(s.messages, o)
}

func (s *thriftMessages) Call(c *call.Call, _ bool) {
	s.calls = append(s.calls, thriftCall{c.Request.Number, string((&report.Calls{Inputs: []string{"x"}}).AppendJSON(nil, c))})
}

func fieldID(t *testing.T, name string) int64 {
	id, err := strconv.ParseInt(strings.TrimPrefix(name, "#"), 10, 16)
	require.NoError(t, err)
	return id
}

// thriftNode returns the value of a node in the form of thriftValue.
func thriftNode(t *decode.Tree, i int) any {
	n := &t.Nodes[i]
	var children []any
	for c := i + 1; c < int(n.End); c = int(t.Nodes[c].End) {
		child := &t.Nodes[c]
		switch {
		case child.Kind == decode.Overhead:
		case n.Kind == decode.Object:
			id, _ := strconv.ParseInt(strings.TrimPrefix(child.Name, "#"), 10, 16)
			children = append(children, []any{id, thriftNode(t, c)})
		default:
			children = append(children, thriftNode(t, c))
		}
	}
	switch n.Kind {
	case decode.Bool:
		return n.Num != 0
	case decode.Int:
		return n.Num
	case decode.Float64:
		return thriftDouble(n.Float)
	case decode.String:
		return n.Text
	case decode.Bytes:
		return string(n.Raw)
	case decode.Object, decode.List, decode.Map:
		return append([]any{}, children...)
	}
	return n.Kind.String()
}

// thriftValue returns a logged value of a type: of a struct the pairs of ids and values, of a map keys and values in turn, of a text
// and of bytes the bytes.
func thriftValue(v any, typ string) any {
	m, _ := v.(map[string]any)
	switch typ {
	case "bool":
		return v
	case "byte", "i16", "i32", "i64":
		n, _ := v.(json.Number).Int64()
		return n
	case "double":
		text := fmt.Sprint(v)
		if m != nil {
			text = fmt.Sprint(m["@double"])
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return err
		}
		return thriftDouble(f)
	case "string":
		if m == nil {
			return v
		}
		b, _ := base64.StdEncoding.DecodeString(m["@bytes"].(string))
		return string(b)
	case "struct":
		list := []any{}
		for _, f := range m["@fields"].([]any) {
			field := f.(map[string]any)
			id, _ := field["id"].(json.Number).Int64()
			list = append(list, []any{id, thriftValue(field["value"], field["type"].(string))})
		}
		return list
	case "list", "set":
		list := []any{}
		for _, e := range m["elements"].([]any) {
			list = append(list, thriftValue(e, m["@"+typ].(string)))
		}
		return list
	case "map":
		list := []any{}
		for _, e := range m["entries"].([]any) {
			pair := e.([]any)
			list = append(list, thriftValue(pair[0], m["@keys"].(string)), thriftValue(pair[1], m["@values"].(string)))
		}
		return list
	}
	return "type " + typ
}

// thriftDouble returns the bits of a number, which tell 0 from -0. There are many that are not a number.
func thriftDouble(f float64) any {
	if math.IsNaN(f) {
		return "NaN"
	}
	return math.Float64bits(f)
}

// oneWayToWrite returns v with one way to write each number: Java writes 1.0 where we write 1.
func oneWayToWrite(v any) any {
	switch v := v.(type) {
	case []any:
		list := []any{}
		for _, e := range v {
			list = append(list, oneWayToWrite(e))
		}
		return list
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			f, _ := v.Float64()
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
		return v.String()
	}
	return v
}

// isPlain reports whether a logged value has nothing but numbers, texts, bools, null and lists of them: what Java's objects and the wire
// have in common.
func isPlain(v any) bool {
	if list, ok := v.([]any); ok {
		return !slices.ContainsFunc(list, func(e any) bool { return !isPlain(e) })
	}
	_, object := v.(map[string]any)
	return !object
}

// Each message of Thrift that Java wrote is one of ours, with its sizes, its names and all its values, and we have no others; calls have the
// arguments and results that Java's objects have.
func TestThrift(t *testing.T) {
	testkit.Each(t, 1, func(t *testing.T, c *testkit.Capture) {
		if !slices.Contains(c.Protocols, "thrift") && !slices.Contains(c.Protocols, "native-thrift") {
			return
		}
		var written []*thriftLine
		var made []*thriftLine
		require.NoError(t, javalog.Read(strings.NewReader(c.TruthLog(t)), func(l *thriftLine) {
			switch {
			case l.Kind == "thrift" && l.Dir == "out":
				written = append(written, l)
			case l.Kind == "call" && l.Side == "consumer":
				made = append(made, l)
			}
		}))
		src, err := capture.Open([]string{c.Path()}, capture.Options{})
		require.NoError(t, err)
		defer src.Close()
		s := &thriftMessages{t: t}
		_, err = pipeline.Run(src, pipeline.Options{
			Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, WholeBodies: true, RenderValues: true, Rows: true, Jobs: 1,
		}, s)
		require.NoError(t, err)

		sides := map[string]bool{}
		bySum := map[string][]*thriftMessage{}
		for _, m := range s.messages {
			bySum[m.Sha256] = append(bySum[m.Sha256], m)
		}
		for _, l := range written {
			sides[l.Side] = true
			var ours *thriftMessage
			for _, m := range bySum[l.Sha256] {
				if !m.matched && (l.Local == "" || l.Local == m.Local && l.Remote == m.Remote) {
					ours = m
					break
				}
			}
			if !assert.NotNil(t, ours, "%+v", l) {
				continue
			}
			ours.matched = true
			assert.Equal(t, l.Bytes, ours.Bytes)
			assert.Equal(t, [...]any{l.Encoding, l.Type, l.SeqID}, [...]any{ours.Encoding, ours.Type, ours.SeqID})
			name := l.Name
			if service, method, ok := strings.Cut(l.Name, ":"); ok {
				name = method
				if ours.Service != "" {
					assert.Equal(t, service, ours.Service)
				}
			}
			assert.Equal(t, name, ours.Name)
			header, protocol := 0, "nativethrift"
			switch {
			case l.FrameBytes > 0:
				header, protocol = 4+l.HeaderBytes, "thrift"
				assert.Equal(t, l.FrameBytes, ours.FrameBytes)
				assert.Equal(t, l.ID, ours.ID)
				if ours.Service != "" {
					assert.Equal(t, l.Service, ours.Service)
				}
			case l.Framed:
				header = 4
			}
			assert.Equal(t, header, ours.HeaderBytes)
			assert.Equal(t, protocol, ours.protocol)
			assert.Equal(t, thriftValue(l.Value, "struct"), ours.value, "%s %s", l.Type, l.Name)
		}
		for _, m := range s.messages {
			request := m.Type == "CALL" || m.Type == "ONEWAY"
			assert.True(t, m.matched || !sides[map[bool]string{true: "consumer", false: "provider"}[request]], "%+v", m.thriftLine)
		}

		// The log of calls has those with generated clients, in their order; calls of names that no service has are not in it.
		slices.SortFunc(s.calls, func(a, b thriftCall) int { return int(a.request - b.request) })
		plain, at := 0, 0
		for _, l := range made {
			var ours struct {
				Method, State string
				Arguments     []any
				Result        any
			}
			for ok := false; !ok; at++ {
				if at == len(s.calls) {
					t.Fatalf("no call of %s", l.Method)
				}
				d := json.NewDecoder(strings.NewReader(s.calls[at].json))
				d.UseNumber()
				ours.Arguments, ours.Result = nil, nil
				require.NoError(t, d.Decode(&ours))
				ok = ours.Method == l.Method
			}
			for len(l.Arguments) > 0 && l.Arguments[len(l.Arguments)-1] == nil { // Thrift does not write them
				l.Arguments = l.Arguments[:len(l.Arguments)-1]
			}
			if isPlain(l.Arguments) && len(l.Arguments) > 0 {
				assert.Equal(t, oneWayToWrite(l.Arguments), oneWayToWrite(ours.Arguments), l.Method)
				plain++
			}
			if l.ResultKind == "value" && isPlain(l.Result) {
				assert.Equal(t, "ok", ours.State, l.Method)
				assert.Equal(t, oneWayToWrite(l.Result), oneWayToWrite(ours.Result), l.Method)
			}
		}
		assert.Greater(t, plain, 50)
	})
}
