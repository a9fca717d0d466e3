package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/truth/javalog"
)

// httpPair is a provider that speaks HTTP at a port of its own, and its consumer.
type httpPair struct {
	release, port string
	settings      []string // of both
	// rounds are those of the undisturbed wire, in order; those of the bad one are small.
	rounds, badRounds  []string
	provider, consumer *Peer
}

// httpPairs are all servers and clients of HTTP that the rig has: JAX-RS of 2.7 on Netty with gzip and on Tomcat, REST of 3.3 over both versions of HTTP, and
// Hessian on Jetty. The clients are Apache's, the JDK's two, Netty, and bare sockets.
func httpPairs() []*httpPair {
	notes := "-Drig.extensions=org.dubbowire.rig.rest.RestNotes"
	return []*httpPair{
		{
			release: "2.7.23-rest", port: "20880",
			settings: []string{"-Drig.protocol=rest", "-Drig.server=netty", "-Drig.extra=rest-bids", "-Drig.form=json-gzip", notes + ",org.dubbowire.rig.rest.GzipRequests"},
			rounds:   []string{"rest-bids"}, badRounds: []string{"rest-bids"},
		},
		{
			release: "2.7.23-rest", port: "20881",
			settings: []string{"-Drig.protocol=rest", "-Drig.server=tomcat", "-Drig.extra=rest-edge", "-Drig.dubbo.client=true", "-Drig.patience=60000", notes},
			rounds:   []string{"rest-web", "rest-sockets"}, badRounds: []string{"rest-web"},
		},
		{
			release: tripleRelease, port: "20882",
			settings: []string{"-Drig.protocol=tri", "-Drig.extra=rest-edge,rest-forms", "-Drig.http=HTTP_2"},
			rounds:   []string{"rest-web", "rest-forms", "rest-edge-2"}, badRounds: []string{"rest-web", "rest-forms"},
		},
		{
			release: "2.7.23-proxies", port: "20883", settings: []string{"-Drig.protocol=hessian"},
			rounds: []string{"punctual"}, badRounds: []string{"plain"},
		},
	}
}

// httpRig is the bed with all pairs.
type httpRig struct {
	*rig
	pairs []*httpPair
}

// TestRESTLive is TestLive for REST and Hessian over HTTP: all pairs talk at once, so that each connection is told apart by what is said on it.
func TestRESTLive(t *testing.T) {
	r := &httpRig{pairs: httpPairs()}
	var releases []string
	for _, p := range r.pairs {
		releases = append(releases, p.release)
	}
	slices.Sort(releases)
	r.rig = newRig(t, slices.Compact(releases)...)
	r.start(t)
	for _, part := range []struct {
		name string
		run  func(r *httpRig, t *testing.T) bool
	}{
		{"wire", (*httpRig).wire},
		{"bad wire", (*httpRig).badWire},
	} {
		if !t.Run(part.name, func(t *testing.T) {
			for range 3 {
				r.disconnected()
				if part.run(r, t) {
					return
				}
			}
			t.Error("no round in which the peers finished all that they began")
		}) {
			return
		}
	}
}

// start starts all peers at once.
func (r *httpRig) start(t *testing.T) {
	begin := func(p *httpPair, ns, side, main string, workloads ...string) *Peer {
		settings := append([]string{"@" + filepath.Join(r.Bed.rig(p.release), "http1.args"), "-Drig.host=" + ProviderHost, "-Drig.port=" + p.port}, p.settings...)
		peer, err := r.beginPeer(p.release, ns, side, main, settings, workloads...)
		require.NoError(t, err)
		return peer
	}
	for _, p := range r.pairs {
		p.provider = begin(p, r.Provider, "provider", "Provider")
		p.consumer = begin(p, r.Consumer, "consumer", "Consumer", "session")
	}
	for _, p := range r.pairs {
		for peer, ready := range map[*Peer]string{p.provider: "READY", p.consumer: "LISTENING"} {
			_, err := peer.WaitFor(ready, 1, 4*StartJava) // the others take their time, too
			require.NoError(t, err)
		}
	}
}

// disconnected waits for the end of the connections that Hessian's client keeps for 5 s: they would be joined midway.
func (r *httpRig) disconnected() {
	for _, p := range r.pairs {
		if p.settings[0] == "-Drig.protocol=hessian" {
			p.consumer.Disconnected(p.port)
		}
	}
}

// talk has all pairs do their rounds at once, and returns what they sent. It returns nil if a server did not finish a response: that of Dubbo 3.3.6 now and
// then sends the first bytes of a head and no more, also on a good wire, and the log does not tell which of them were sent.
func (r *httpRig) talk(t *testing.T, rounds func(*httpPair) []string) *Streams {
	t.Helper()
	var peers []*Peer
	for _, p := range r.pairs {
		for _, round := range rounds(p) {
			require.NoError(t, p.consumer.Begin(round+" hessian2"))
		}
		peers = append(peers, p.provider, p.consumer)
	}
	for _, p := range r.pairs {
		_, err := p.consumer.WaitFor("DONE", p.consumer.done, 2*time.Minute)
		require.NoError(t, err)
	}
	r.settle(t)
	s, err := r.Streams(peers...)
	if errors.Is(err, errBroken) {
		t.Log(err)
		return nil
	}
	require.NoError(t, err)
	require.NotZero(t, s.Rows)
	return s
}

// wire: every message, its bytes and values, and its call.
func (r *httpRig) wire(t *testing.T) bool {
	kept := filepath.Join(r.Dir, "http.pcapng")
	atProvider := r.capture(t, r.Provider, "", ProviderLink, "-w", kept)
	onAny := r.capture(t, r.Provider, "", "any", "host", ConsumerHost)
	atConsumer := r.capture(t, r.Consumer, "", ConsumerLink, "tcp portrange 20880-20883")
	s := r.talk(t, func(p *httpPair) []string { return p.rounds })
	reports := []*Report{stop(t, atProvider), stop(t, onAny), stop(t, atConsumer)}
	if s == nil {
		return false
	}
	t.Logf("%d messages, %d connections", s.Rows, s.Connections)
	s.rows(t, r.Bed, kept)
	t.Logf("%d methods", len(s.Methods))
	for _, report := range reports {
		s.whole(t, report)
		assert.Zero(t, report.Coverage.ConnectionsJoinedMidway)
	}
	report, analysis, err := r.Analyze(kept)
	require.NoError(t, err)
	s.whole(t, report)
	sameGroups(t, atProvider.File, analysis, 0, true)

	compared := s.values(t, r.Bed, kept)
	t.Log("values compared, by server:", compared)
	for _, p := range r.pairs {
		assert.Greater(t, compared[ProviderHost+":"+p.port], 20, p.settings)
	}
	return true
}

// badWire: segments are lost, overtaken and repeated on their way. The provider's interface sees all bytes, the consumer's all that its host waited for:
// Hessian closes a connection before it has read the end of the last chunk. A mirror port misses some packets; what is reported of the others was sent.
func (r *httpRig) badWire(t *testing.T) bool {
	r.relayed(t, Badly{Lost: 0.02, Overtaken: 0.03, Repeated: 0.01, NotMirrored: 0.02})
	kept := func(place string) string { return filepath.Join(r.Dir, "http-"+place+".pcapng") }
	atProvider := r.capture(t, r.Provider, "", ProviderLink, "-w", kept("provider"))
	atConsumer := r.capture(t, r.Consumer, "", ConsumerLink, "-w", kept("consumer"))
	mirror := r.capture(t, r.Relay, "", MirrorLink, "-w", kept("mirror"))
	s := r.talk(t, func(p *httpPair) []string { return p.badRounds })
	reports := []*Report{stop(t, atProvider), stop(t, atConsumer), stop(t, mirror)}
	if s == nil {
		return false
	}
	report := reports[0]
	s.rows(t, r.Bed, kept("provider"))
	s.whole(t, report)

	report = reports[1]
	s.part(t, report)
	assert.Equal(t, s.Rows, report.Coverage.Frames)
	assert.Zero(t, report.Coverage.GapBytes)
	s.someRows(t, r.Bed, kept("consumer"), report)

	report = reports[2]
	complete := report.Coverage.Frames - report.Coverage.FramesIncomplete
	t.Logf("coverage %v %%, gap %d bytes, %d of %d messages complete", report.Coverage.Percent, report.Coverage.GapBytes, complete, s.Rows)
	s.part(t, report)
	assert.Less(t, report.Coverage.Percent, 100.0)
	assert.NotZero(t, report.Coverage.GapBytes)
	assert.NotZero(t, report.Coverage.FramesIncomplete)
	assert.Greater(t, complete, s.Rows/2)
	s.someRows(t, r.Bed, kept("mirror"), report)
	_, analysis, err := r.Analyze(kept("mirror"))
	require.NoError(t, err)
	sameGroups(t, mirror.File, analysis, 0, false)
	return true
}

// rows requires that the messages of a capture file are those that were sent, each with its bytes and its status, and that each call has a name that it may
// have. These names are those of the calls from now on.
func (s *Streams) rows(t *testing.T, b *Bed, file string) {
	t.Helper()
	rows := map[*half]*half{}
	require.NoError(t, b.EachFrame(file, func(f *FrameRow) {
		st, h := s.find(f)
		if !assert.NotNil(t, st, "invented: %+v", f) {
			return
		}
		assert.True(t, f.Complete, "%+v", f)
		if f.Kind == "request" {
			assert.True(t, st.mayBe(f.name()), "%s %s %s: %+v", st.verb, st.host, st.path, f)
			st.name = f.name()
		}
		if rows[h] == nil {
			rows[h] = &half{headed: true}
		}
		rows[h].messages.add(int64(f.BodyBytes))
		rows[h].bytes += int64(f.HeaderBytes + f.BodyBytes)
		rows[h].status = f.Status
		rows[h].encoding, rows[h].uncompressed = f.Encoding, f.UncompressedBytes
	}))
	for key, st := range s.byKey {
		for side := range st.halves {
			want, row := st.halves[side], rows[&st.halves[side]]
			if !want.headed || !assert.NotNil(t, row, "missing: %v %s", key, st.path) {
				continue
			}
			want.messages = want.rows()
			assert.Equal(t, &want, row, "%v %s %s", key, st.verb, st.path)
		}
	}
	s.group()
	// The body names the method of Hessian, and says whether the call failed.
	want, got := map[Method]Group{}, map[Method]Group{}
	for _, l := range s.calls {
		if l.Protocol == hessian {
			m := Method{hessian, l.Service, l.Method}
			g := want[m]
			g.Calls++
			if l.ResultKind == "exception" {
				g.Errors++
			}
			want[m] = g
		}
	}
	for m, g := range s.Methods {
		if m.Protocol == hessian {
			g.Errors = want[m].Errors
			got[m] = Group{Calls: g.Calls, Errors: g.Errors}
		}
	}
	assert.Equal(t, want, got)
}

// inBody reports whether a message is the text of a body that the peers sent, "GET /users/1 HTTP/1.1", which is found if the head before it is lost
// (docs/loss.md, "HTTP/1").
func inBody(m Method) bool { return m.Method == "GET /users/{id}" }

// hessian is the protocol of Hessian over HTTP.
const hessian = "hessian"

// part requires that a report has nothing that was not sent. Calls whose request was lost, or the headers that it refers to, are in a group of unknown ones,
// and those whose request lacks the end of its head in groups of an unknown host.
func (s *Streams) part(t *testing.T, r *Report) {
	t.Helper()
	booked(t, r)
	assert.LessOrEqual(t, r.Coverage.Frames, s.Rows, "messages")
	for m, got := range methods(r) {
		if inBody(m) {
			continue
		}
		want := new(Group)
		for name, g := range s.Methods {
			if name == m || m.Service == "?" && m.Method == name.Method {
				want.join(g)
			}
		}
		if m.Method == "?" || !assert.NotZero(t, want.Calls, "invented: %v", m) {
			continue
		}
		assert.LessOrEqual(t, got.Calls, want.Calls, "calls of %v", m)
		assert.LessOrEqual(t, got.Errors, want.Errors, "errors of %v", m)
		within(t, got.Request, want.Request, "requests of "+m.Method)
		within(t, got.Response, want.Response, "responses of "+m.Method)
	}
}

// someRows requires that each complete message in a capture file with holes is one that was sent, and not another one's, and that complete requests and
// responses of a call belong together.
func (s *Streams) someRows(t *testing.T, b *Bed, file string, r *Report) {
	t.Helper()
	found, incomplete := int64(0), int64(0)
	seen := map[*half]bool{}
	require.NoError(t, b.EachFrame(file, func(f *FrameRow) {
		found++
		if !f.Complete {
			incomplete++
			return
		}
		if inBody(f.name()) {
			return
		}
		for key, st := range s.byKey {
			h := &st.halves[0]
			if f.Kind == "response" {
				h = &st.halves[1]
				key.client, key.server = key.server, key.client
			}
			if f.Src == key.client && f.Dst == key.server && !seen[h] && h.bytes == int64(f.HeaderBytes+f.BodyBytes) && h.rows().Total == int64(f.BodyBytes) &&
				(f.Status == h.status || f.Status == 0) {
				seen[h] = true
				return
			}
		}
		t.Errorf("invented: %+v", f)
	}))
	assert.Equal(t, r.Coverage.Frames, found)
	assert.Equal(t, r.Coverage.FramesIncomplete, incomplete)

	paired := 0
	require.NoError(t, b.EachCall(file, func(c *CallRow) {
		if c.RequestFrame == 0 || c.ResponseFrame == 0 || c.RequestComplete != nil || c.ResponseComplete != nil || inBody(Method{c.Protocol, c.Service, c.Method}) {
			return
		}
		for key, st := range s.byKey {
			if key.client == c.Client && key.server == c.Server && st.halves[0].bytes == c.RequestFrameBytes && st.halves[1].bytes == c.ResponseFrameBytes &&
				(c.Method == "?" || st.mayBe(Method{c.Protocol, c.Service, c.Method})) && (c.Status == st.halves[1].status || c.Status == 0) {
				paired++
				return
			}
		}
		t.Errorf("no such call: %+v", c)
	}))
	assert.NotZero(t, paired)
}

// values compares the objects that clients sent and got with those of the calls in a capture file, and returns how many by server.
func (s *Streams) values(t *testing.T, b *Bed, file string) map[string]int {
	t.Helper()
	compared := map[string]int{}
	var rows []*CallRow
	require.NoError(t, b.EachCall(file, func(c *CallRow) { rows = append(rows, c) }))
	// Rows come when their link bytes are final, the log has calls as they ended.
	slices.SortStableFunc(rows, func(a, b *CallRow) int { return cmp.Compare(a.ResponseFrame, b.ResponseFrame) })
	for _, c := range rows {
		i := slices.IndexFunc(s.calls, func(l httpLine) bool {
			st := stream{verb: l.Verb, host: c.Service, path: l.Path}
			if l.Protocol == hessian {
				return l.Provider == c.Server && l.Service == c.Service && l.Method == c.Method
			}
			return l.Provider == c.Server && st.mayBe(Method{c.Protocol, c.Service, c.Method})
		})
		if i < 0 {
			continue // by a bare socket
		}
		l := s.calls[i]
		s.calls = slices.Delete(s.calls, i, i+1)
		if n := len(l.Arguments); n > 0 && len(c.Arguments) > 0 && (c.Serialization == "json" || l.Protocol == hessian) {
			compared[c.Server] += sameValue(t, l.Arguments[n-1], c.Arguments[len(c.Arguments)-1], l.Path)
		}
		if l.Status < 400 { // else the call has an error and no result
			compared[c.Server] += sameValue(t, l.Result, c.Result, l.Path)
		}
	}
	for _, l := range s.calls {
		t.Errorf("no call in the capture: %s %s %s/%s", l.Verb, l.Path, l.Service, l.Method)
	}
	return compared
}

// sameValue compares a JSON object or list with what a peer logged: an object of Java's, or the text of a body. It returns 1 if there was one to compare.
func sameValue(t *testing.T, logged, got json.RawMessage, path string) int {
	t.Helper()
	var raw struct {
		Bytes []byte `json:"@bytes"`
	}
	var text string
	if json.Unmarshal(logged, &raw) == nil && raw.Bytes != nil {
		logged = raw.Bytes
	} else if json.Unmarshal(logged, &text) == nil {
		logged = []byte(text)
	}
	if logged = bytes.TrimSpace(logged); len(logged) == 0 || !strings.ContainsRune("[{", rune(logged[0])) || !json.Valid(logged) {
		return 0
	}
	want, err := javalog.Leaves(logged)
	require.NoError(t, err)
	have, err := javalog.Leaves(got)
	require.NoError(t, err, path)
	assert.Equal(t, floats(want), floats(have), path)
	return 1
}

// floats rounds the fractions of leaves to floats, because Hessian widens these.
func floats(leaves []string) []string {
	for i, leaf := range leaves {
		path, value, _ := strings.Cut(leaf, "=")
		if f, err := strconv.ParseFloat(value, 64); err == nil && strings.Contains(value, ".") {
			leaves[i] = path + "=" + strconv.FormatFloat(f, 'g', -1, 32)
		}
	}
	return leaves
}
