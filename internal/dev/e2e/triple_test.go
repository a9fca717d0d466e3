package e2e

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Releases of the peers that talk over HTTP/2.
const (
	tripleRelease = "3.3.6"
	grpcRelease   = "grpc-java-1.72.0"
	grpcPort      = "20881"
)

// TestTripleLive is TestLive for Triple and gRPC, on loopback.
func TestTripleLive(t *testing.T) {
	r := newRig(t, tripleRelease, grpcRelease)
	var err error
	settings := []string{"-Drig.host=127.0.0.1", "-Drig.protocol=tri", "-Drig.extra=triple", "-Drig.accepted=fastjson2"}
	r.provider, err = r.startPeer(tripleRelease, r.Provider, "provider", "Provider", "READY", settings)
	require.NoError(t, err)
	r.consumer, err = r.startPeer(tripleRelease, r.Provider, "consumer", "Consumer", "LISTENING", settings, "session")
	require.NoError(t, err)
	require.NoError(t, r.consumer.Round("plain hessian2,fastjson2"))
	r.settle(t)
	r.streams(t)
	for _, part := range []struct {
		name string
		run  func(t *testing.T, r *rig)
	}{
		{"wrappers", wrappers},
		{"the same headers in every call, joined midway", unnamed},
		{"headers that differ, joined midway", namedLater},
		{"grpc", grpc},
		{"every kind of call", everyKind}, // the last: some of its steps fail
	} {
		if !t.Run(part.name, func(t *testing.T) { part.run(t, r) }) {
			return
		}
	}
}

// streams returns what the Triple peers sent since the last call.
func (r *rig) streams(t *testing.T) *Streams {
	t.Helper()
	return r.sent(t, "triple", r.provider, r.consumer)
}

// sent returns what peers sent over HTTP/2 since the last call, by the methods in its paths.
func (r *rig) sent(t *testing.T, protocol string, peers ...*Peer) *Streams {
	t.Helper()
	s, err := r.Streams(peers...)
	require.NoError(t, err)
	require.NotZero(t, s.Rows)
	require.NoError(t, s.NameByPath(protocol))
	return s
}

// watch captures a port on loopback while traffic runs, and compares its report, and that of the packets it wrote, with the truth.
func (r *rig) watch(t *testing.T, port string, truth func() *Streams, traffic func()) {
	t.Helper()
	kept := filepath.Join(r.Dir, strings.ReplaceAll(t.Name(), "/", "-")+".pcapng")
	c := r.capture(t, r.Provider, "", "lo", "port "+port, "-w", kept)
	onAny := r.capture(t, r.Provider, "", "any", "port "+port)
	traffic()
	r.settle(t)
	s := truth()
	t.Logf("%d messages, %d methods, %d connections", s.Rows, len(s.Methods), s.Connections)
	s.whole(t, stop(t, c))
	s.whole(t, stop(t, onAny))
	report, analysis, err := r.Analyze(kept)
	require.NoError(t, err)
	s.whole(t, report)
	sameGroups(t, c.File, analysis, 0, true)
}

// wrappers: each argument and result in a wrapper message, in two serializations.
func wrappers(t *testing.T, r *rig) {
	r.watch(t, Port, func() *Streams { return r.streams(t) }, func() { require.NoError(t, r.consumer.Round("everything hessian2,fastjson2")) })
}

// unnamed: the capture begins while a connection is in use on which every call has the same headers. Then nothing names its methods,
// and the report says so.
func unnamed(t *testing.T, r *rig) {
	report, file, methods := r.joinMidway(t, "steady hessian2")
	for _, m := range methods {
		assert.Equal(t, "?", m)
	}
	c := report.Coverage
	assert.EqualValues(t, len(methods), c.RequestsUnnamed)
	assert.InDelta(t, len(methods), c.ResponsesWithoutStatus, 1)
	table, err := run(r.Binary, "analyze", file)
	require.NoError(t, err)
	assert.Contains(t, strings.Join(strings.Fields(table), " "), "begin the capture, then restart a client")
}

// namedLater: each call has an attachment of its own, which drives the paths out of the table of headers. Then the client sends them
// again.
func namedLater(t *testing.T, r *rig) {
	report, _, methods := r.joinMidway(t, "traced hessian2")
	assert.NotZero(t, report.Coverage.RequestsUnnamed)
	assert.Less(t, report.Coverage.RequestsUnnamed, int64(len(methods)))
	assert.NotContains(t, methods[len(methods)-10:], "?")
}

// joinMidway captures a round of which some calls were made before. Each message is one that was sent, with its size, and with the name of
// its method or "?"; only the first one of a direction may be incomplete. It returns the methods of requests in order.
func (r *rig) joinMidway(t *testing.T, round string) (report *Report, file string, methods []string) {
	t.Helper()
	file = filepath.Join(r.Dir, strings.Fields(round)[0]+"-midway.pcapng")
	before := fileSize(r.provider.truth)
	require.NoError(t, r.consumer.Begin(round))
	require.Eventually(t, func() bool { return fileSize(r.provider.truth) > before+40_000 }, time.Minute, 20*time.Millisecond, "no calls")
	c := r.capture(t, r.Provider, "", "lo", "port "+Port, "-w", file)
	require.NoError(t, r.consumer.Finished(time.Minute))
	r.settle(t)
	s := r.streams(t)
	report = stop(t, c)
	booked(t, report)
	incomplete, seen := int64(0), map[string]bool{}
	require.NoError(t, r.EachFrame(file, func(f *FrameRow) {
		if !f.Complete { // the capture began between two packets of it
			incomplete++
			assert.False(t, seen[f.Src], "%+v", f)
		}
		seen[f.Src] = true
		if f.Kind == "request" {
			methods = append(methods, f.Method)
		}
		st, h := s.find(f)
		if !assert.NotNil(t, st, "invented: %+v", f) {
			return
		}
		assert.Equal(t, h.messages, Sizes{1, int64(f.BodyBytes), int64(f.BodyBytes), int64(f.BodyBytes)}, "%+v", f)
		if f.Kind == "request" && f.Method != "?" {
			assert.True(t, st.mayBe(f.name()), "%s: %+v", st.path, f)
		}
	}))
	assert.Equal(t, incomplete, report.Coverage.FramesIncomplete)
	t.Logf("%d of %d requests captured, %d without a name", len(methods), s.Rows/2, report.Coverage.RequestsUnnamed)
	require.Greater(t, len(methods), 20)
	return report, file, methods
}

// find returns the stream and the half of a message, nil if it was not sent.
func (s *Streams) find(f *FrameRow) (*stream, *half) {
	id, _ := strconv.Atoi(f.ID)
	if st := s.byKey[streamKey{f.Src, f.Dst, id}]; st != nil {
		return st, &st.halves[0]
	}
	if st := s.byKey[streamKey{f.Dst, f.Src, id}]; st != nil {
		return st, &st.halves[1]
	}
	return nil, nil
}

// everyKind: streaming calls, protobuf messages, exceptions, attachments, generic calls. Which steps fail is not asked: a failed call
// is traffic, too.
func everyKind(t *testing.T, r *rig) {
	r.watch(t, Port, func() *Streams { return r.streams(t) }, func() {
		require.NoError(t, r.consumer.Begin("triple hessian2"))
		_, err := r.consumer.WaitFor("DONE", r.consumer.done, time.Minute)
		require.NoError(t, err)
	})
}

// grpc: peers that do not know Dubbo, with headers that fill the table and with compression.
func grpc(t *testing.T, r *rig) {
	settings := []string{"-Drig.host=127.0.0.1", "-Drig.port=" + grpcPort}
	server, err := r.startPeer(grpcRelease, r.Provider, "provider", "GrpcProvider", "READY", settings)
	require.NoError(t, err)
	var client *Peer
	truth := func() *Streams { return r.sent(t, "grpc", server, client) }
	r.watch(t, grpcPort, truth, func() {
		client, err = r.startPeer(grpcRelease, r.Provider, "consumer", "GrpcConsumer", "DONE", settings, "verbs")
		require.NoError(t, err)
		require.NotContains(t, client.Stdout(), "FAILED")
	})
	require.NoError(t, client.Stdin.Close())
	require.NoError(t, server.Leave())
}

// whole requires that a report has all messages that were sent, and nothing else.
func (s *Streams) whole(t *testing.T, r *Report) {
	t.Helper()
	lossless(t, r)
	assert.Equal(t, s.Rows, r.Coverage.Frames, "messages")
	assert.Equal(t, s.Connections, r.Coverage.Connections, "connections with data")
	assert.Equal(t, s.comparable(s.Methods), s.comparable(methods(r)))
}

// methods returns the sums of a report's groups over all serializations.
func methods(r *Report) map[Method]*Group {
	all := map[Method]*Group{}
	for i := range r.Groups {
		g := &r.Groups[i]
		of := Group{Calls: g.Calls, OneWay: g.OneWay, Errors: g.Errors, Unanswered: g.Unanswered}
		for _, side := range []struct {
			from *ReportSide
			to   *Sizes
		}{{&g.Request, &of.Request}, {&g.Response, &of.Response}} {
			if b := side.from.BodyBytes; b != nil && side.from.Count > 0 {
				*side.to = Sizes{Count: side.from.Count, Total: b.Total, Min: b.Min, Max: b.Max}
			}
		}
		m := Method{g.Protocol, g.Service, g.Method}
		if all[m] == nil {
			all[m] = new(Group)
		}
		all[m].join(&of)
	}
	return all
}

// comparable returns groups by method, or only by service where generic calls were made: reports have them under the method that they
// name in their arguments, the log under $invoke.
func (s *Streams) comparable(groups map[Method]*Group) map[Method]Group {
	generic := map[string]bool{}
	for m := range s.Methods {
		generic[m.Service] = generic[m.Service] || strings.HasPrefix(m.Method, "$invoke")
	}
	all := map[Method]Group{}
	for m, g := range groups {
		if generic[m.Service] {
			m.Method = "*"
		}
		sum := all[m]
		sum.join(g)
		all[m] = sum
	}
	return all
}
