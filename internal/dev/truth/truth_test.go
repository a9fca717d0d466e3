package truth

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// full is the serializations whose values are compared.
var full = map[string]bool{"hessian2": true, "native-hessian": true, "java": true, "nativejava": true, "fastjson2": true}

// described is the serializations whose bytes describe themselves: no byte of theirs stays without an owner. In dubbo (1) the
// streams of some classes do.
var described = map[string]bool{
	"hessian2": true, "native-hessian": true, "java": true, "nativejava": true, "json": true, "fastjson": true,
	"fastjson (length-prefixed)": true, "gson": true, "jackson": true, "fastjson2": true, "msgpack": true, "smartbuf": true,
	"protobuf": true, "protobuf (id 21)": true, "protobuf-json": true,
}

// TestLogs reads every capture once and compares it with the log: envelopes, values of each kind of serialization, the
// names of serializations, totals.
func TestLogs(t *testing.T) {
	testkit.Once(t)
	var mu sync.Mutex
	names, plain, messages := map[string]bool{}, 0, 0
	t.Run("all", func(t *testing.T) {
		for _, p := range someCaptures(t) {
			t.Run(p.Name, func(t *testing.T) {
				t.Parallel()
				sent, received, telnet, rubbish := readTruth(t, p.Truth)
				r := analyze(t, p.File)
				books(t, r)
				if len(p.Protocols) > 0 {
					others(t, &p, r)
				}
				if p.foreign() {
					return
				}
				pairs := match(t, p, r, sent, received)
				for _, q := range pairs {
					q.envelope(t)
				}
				values(t, &p, r, pairs)
				compareTyped(t, &p, r, pairs)
				untypedValues(t, &p, r, pairs)
				name, compared, has := serializationNames(t, &p, r), plainJSONValues(t, &p, r, pairs), messageValues(t, &p, r, pairs)
				mu.Lock()
				names[name] = true
				plain += compared
				if has {
					messages++
				}
				mu.Unlock()
				if p.Complete {
					totals(t, r, sent)
					assert.Equal(t, telnet, r.telnet(), "telnet text")
					assert.Equal(t, rubbish, r.totals.Skipped, "rubbish")
				}
			})
		}
	})
	if testing.Short() || os.Getenv("CAPTURES") != "" {
		return
	}
	for _, name := range []string{"kryo", "kryo (Kryo 5)", "fastjson", "fastjson (length-prefixed)", "native-hessian", "protostuff", "protostuff (id 10)"} {
		assert.True(t, names[name], "no capture of %s", name)
	}
	assert.Greater(t, plain, 10_000, "values of plain JSON")
	assert.Positive(t, messages, "captures with protocol buffers")
}

// others: what is not the Dubbo protocol has no frames and is counted as what it is.
func others(t *testing.T, p *provenance, r *run) {
	assert.Equal(t, p.foreign(), len(r.frames) == 0)
	// The search after a gap skips bytes, and results that caucho's Hessian cannot write break off within a chunk.
	if r.totals.Gap == 0 && !hasErrors(readHTTP1(t, p.Truth)) && !slices.Contains(p.Protocols, "hessian") {
		assert.Zero(t, r.totals.Skipped)
	}
	for _, protocol := range p.Protocols {
		switch protocol {
		case "rest", "hessian", "http", "http2":
			assert.Positive(t, r.others["http"]+r.others["rest"])
		case "tri", "grpc":
			assert.Positive(t, r.others["triple"]+r.others["grpc"])
		case "rmi":
			assert.EqualValues(t, 4, r.totals.Other["rmi"].Connections)
		case "thrift", "native-thrift":
			assert.Positive(t, r.others["thrift"]+r.others["nativethrift"])
		}
	}
	if slices.Contains(r.totals.OtherProtocols(), "unknown") {
		assert.True(t, hasBareTalk(readHTTP1(t, p.Truth)), "unknown connections")
	}
}

// pair is one of our frames with what its sender and its receiver logged.
type pair struct {
	ours     *frame
	sent     *logged
	received *logged // nil when the receiver did not log it
}

// maxAhead is how far ahead in the log a frame is looked for.
const maxAhead = 64

// reordered is how far the order of the log may differ from that of the wire. Dubbo 2.7 encodes on the thread that
// writes, so there it may not; 2.5 and 2.6 encode on the caller's thread, Dubbo 3 on several.
func (p *provenance) reordered() int {
	if strings.HasPrefix(p.Dubbo, "2.7.") {
		return 0
	}
	return maxAhead
}

// match finds the logged frame of each of ours. In a complete capture both sides are equal in number and order.
func match(t *testing.T, p provenance, r *run, sent, received map[way][]logged) map[int64]pair {
	ours := map[way][]*frame{}
	for i := range r.frames {
		f := &r.frames[i]
		w := way{f.Src, f.Dst}
		ours[w] = append(ours[w], f)
	}
	pairs := map[int64]pair{}
	for w, frames := range ours {
		log, in := sent[w], received[w]
		if p.Complete {
			require.Equal(t, len(log), len(frames), "frames %v", w)
		}
		used, k, j := make([]bool, len(log)), 0, 0
		for _, f := range frames {
			for k < len(log) && used[k] {
				k++
			}
			at := k
			for at < len(log) && (used[at] || !same(f, &log[at])) {
				at++
				require.False(t, p.Complete && at > k+p.reordered(), "frame %d is none of the %d that the sender logged from its %d. of %v on:\n%+v\n%+v",
					f.Frame, p.reordered()+1, k+1, w, f, log[k])
			}
			require.Less(t, at, len(log), "invented: frame %d %+v", f.Frame, f)
			q := pair{ours: f, sent: &log[at]}
			used[at] = true
			if !p.Complete {
				k = at
			}
			for i := j; i < len(in) && i < j+maxAhead; i++ {
				if same(f, &in[i]) {
					q.received, j = &in[i], i+1
					break
				}
			}
			pairs[f.Frame] = q
		}
	}
	if p.Complete {
		for w, log := range sent {
			assert.Len(t, ours[w], len(log), "frames sent %v", w)
		}
	}
	return pairs
}

// same compares the header: everything the codec saw of it.
func same(f *frame, l *logged) bool {
	if f.ID != l.ID || f.BodyBytes != l.BodyBytes || f.SerializationID != l.SerializationID {
		return false
	}
	request := l.Flags&0x80 != 0
	if f.Kind != l.Kind || f.TwoWay != (request && l.TwoWay) {
		return false
	}
	if request {
		return f.Status == nil
	}
	return f.Status != nil && *f.Status == l.Status
}

// envelope compares what a frame says of itself.
func (q *pair) envelope(t *testing.T) {
	f, l := q.ours, q.sent
	name := fmt.Sprintf("frame %d (%s)", f.Frame, f.Serialization)
	sum, opaque := 0, 0
	for _, part := range f.Parts {
		sum += part.Bytes
		if part.Path == "opaque" {
			opaque += part.Bytes
		}
	}
	assert.Equal(t, f.HeaderBytes+f.BodyBytes, sum, "parts of %s", name)
	if !f.Complete {
		return
	}
	switch {
	case f.Serialization == "custom": // users' own: measured, and never guessed
		assert.Contains(t, []string{"none", "full"}, f.Decoded, name)
		assert.Empty(t, f.Method+f.ResultKind, name)
	case f.Kind == "request":
		want := said(l.DubboVersion, l.Service, l.Version, l.Method, typesOf(l))
		got := said(f.DubboVersion, f.Service, f.Version, f.Method, f.ParameterTypes)
		if f.Decoded != "envelope" && f.Serialization != "avro" { // the group is an attachment; avro writes none
			want, got = want+" group "+l.Group, got+" group "+f.Group
		}
		assert.Equal(t, want, got, name)
	case f.Kind == "response" && l.Status == 20 && l.DecodeError != "": // the log could not describe the value
	case f.Kind == "response" && l.Status == 20:
		assert.Equal(t, l.ResultKind, f.ResultKind, name)
		if f.Decoded == "full" && l.Exception != nil && full[f.Serialization] {
			assert.Equal(t, *l.Exception.Class, f.ExceptionClass, name)
		}
	case f.Kind == "response":
		assert.Equal(t, "error "+text(l.ErrorMessage), f.ResultKind+"error "+text(f.ErrorMessage), name)
	}
	if described[f.Serialization] && l.Unknown == nil {
		assert.Equal(t, "full, 0 opaque", fmt.Sprintf("%s, %d opaque", f.Decoded, opaque), "%s: %s", name, f.Error)
	}
}

// typesOf returns the parameter types if the body has them: forks of Dubbo may write only their number, or not even that.
func typesOf(l *logged) []string {
	if n := l.ArgumentCount; l.Unknown != nil || n != nil && *n != 0 && l.ParameterTypes == nil {
		return nil
	}
	return l.ParameterTypes
}

// said is what a request calls, as one line.
func said(dubbo string, service, version *string, method string, types []string) string {
	return fmt.Sprintf("%s %s:%s %s%q", dubbo, text(service), text(version), method, types)
}

func text(s *string) string {
	if s == nil {
		return "<null>"
	}
	return *s
}

// books: every byte of the link, the streams and the frames has one owner.
func books(t *testing.T, r *run) {
	tot := r.totals
	assert.NoError(t, tot.TCP.Balance())
	assert.Equal(t, tot.TCP.Stream, tot.FrameBytes+tot.OtherBytes()+tot.Skipped, "stream")
	assert.GreaterOrEqual(t, r.report.OtherLinkBytes(), int64(0))
	wire := int64(0)
	for _, g := range r.report.Groups {
		wire += g.WireBytes()
		assert.Equal(t, g.Request.Frame.Count, g.Request.Wire.Count, "requests whose link bytes are final, of %v", g.Values)
		assert.Equal(t, g.Response().Frame.Count, g.Response().Wire.Count, "responses whose link bytes are final, of %v", g.Values)
	}
	assert.Equal(t, tot.RPCBytes, wire+tot.EventBytes+tot.IncompleteBytes, "link bytes of messages")
}

// telnet is the bytes recognised as Dubbo's telnet.
func (r *run) telnet() int64 {
	if o := r.totals.Other["telnet"]; o != nil {
		return o.Bytes
	}
	return 0
}

// totals compares what analyze adds up with the sums over the log.
func totals(t *testing.T, r *run, sent map[way][]logged) {
	type sums struct{ requests, responses, requestBytes, responseBytes, heartbeats, events int64 }
	var want, got sums
	for _, log := range sent {
		for _, l := range log {
			switch l.Kind {
			case "request":
				want.requests++
				want.requestBytes += int64(l.BodyBytes)
			case "response":
				want.responses++
				want.responseBytes += int64(l.BodyBytes)
			case "heartbeat":
				want.heartbeats++
			case "event":
				want.events++
			}
		}
	}
	for _, g := range r.report.Groups {
		if g.Values[0] != "dubbo" {
			continue
		}
		got.requests += g.Request.Body.Count
		got.responses += g.Response().Body.Count
		got.requestBytes += g.Request.Body.Total
		got.responseBytes += g.Response().Body.Total
	}
	got.heartbeats, got.events = r.totals.Heartbeats, r.totals.Events
	assert.Equal(t, want, got)
	assert.Zero(t, r.totals.Incomplete)
	assert.Zero(t, r.totals.Gap)
}
