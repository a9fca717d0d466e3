package live

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"time"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/explain"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

type detailConfig struct {
	formats []decode.Format
	local   bool
}

// detail collects one opened method, whose messages are decoded to all values.
type detail struct {
	method   Method
	of       Selection // of whose calls
	local    bool
	openedAt int64 // steady time
	decoder  rpc.Decoders
	calls    *sizes.Aggregator // by client
	lists    callLists
	// open is the requests that wait for a response.
	open map[frameKey]*exchange
	// decoded is the number of decoded calls, classes their bytes by class, paths their bytes by direction and path.
	decoded   int64
	classes   [decode.ClassMissing]int64
	paths     [2]map[string]int64
	anatomy   decode.Anatomist
	parts     []decode.PathBytes
	budget    budget
	largest   *exchange
	explained *Largest // of largest
}

// budget limits the body bytes that are decoded in a second of the capture.
type budget struct{ used, second int64 }

// has reports whether more may be decoded in the second of m.
func (b *budget) has(m *rpc.Message) bool {
	if at := m.Last.Time / 1e9; at != b.second {
		b.used, b.second = 0, at
	}
	return b.used <= maxBytesPerSecond
}

type frameKey struct {
	conn     *call.Conn
	side     int
	exchange uint64
}

// exchange is a call with copies of its messages.
type exchange struct {
	requestedAt       int64         // capture time of its first byte
	request, response *pipeline.Row // clones
	latency           int64
	sizes             [2]int // of the bodies
	decoded           bool   // its request was decoded
}

const (
	// maxOpen is the number of requests of the method that may wait for a response.
	maxOpen = 1024
	// maxPaths is the number of separate paths per direction, topPaths the number in a snapshot.
	maxPaths, topPaths = 512, 24
	// maxKeptBody is the size up to which bodies are kept before it is known whether their call is the largest.
	maxKeptBody = 16 << 10
	// maxBytesPerSecond bounds the decoded body bytes per second: the pipeline has priority over the screen.
	maxBytesPerSecond = 8 << 20
	// explainWidth allows two annotated messages side by side on a wide terminal.
	explainWidth = 78
	// pathDepth is the maximum depth of paths.
	pathDepth = 4
	// largestLifetime is how long the largest call stays before a smaller one may replace it.
	largestLifetime = int64(time.Minute)
)

func newDetail(c detailConfig, s Settings, now int64) *detail {
	return &detail{
		method: s.Open, of: s.Of, local: c.local, openedAt: now, decoder: rpc.Decoders{Formats: c.formats},
		calls: sizes.NewUnsettled(sizes.By{Keys: []sizes.Key{sizes.Client}}, maxGroupsPerSecond, nil),
		open:  make(map[frameKey]*exchange),
		paths: [2]map[string]int64{{}, {}}, anatomy: decode.Anatomist{Depth: pathDepth},
	}
}

// matches reports whether a request is of the method and of the selection. side sent it.
func (d *detail) matches(conn *call.Conn, side int, m *rpc.Message) bool {
	if m.Operation == nil || m.Operation.Service != d.method.Service || !d.of.hasMessage(conn, side, &m.Summary) {
		return false
	}
	return m.GenericMethod == d.method.Method || m.GenericMethod == "" && m.Operation.Method == d.method.Method
}

// wantValues reports whether a whole message is to be decoded: calls of the method, within the byte budget of a
// second.
func (d *detail) wantValues(conn *call.Conn, side int, m *rpc.Message) bool {
	switch {
	case m.Kind == rpc.Request && d.matches(conn, side, m):
	case m.Kind == rpc.Response:
		x := d.open[frameKey{conn, 1 - side, m.Exchange}]
		if x == nil || !x.decoded {
			return false
		}
	default:
		return false
	}
	if !d.budget.has(m) && m.Kind == rpc.Request {
		return false
	}
	d.budget.used += int64(m.BodyLen)
	return true
}

// frame receives every message and keeps those of the method.
func (d *detail) frame(r *pipeline.Row) {
	m := r.Msg
	if !m.IsWhole() {
		return
	}
	switch m.Kind {
	case rpc.Request:
		if !d.matches(r.Conn, r.Side, m) {
			return
		}
		x := &exchange{requestedAt: m.FirstTime, latency: -1, sizes: [2]int{m.BodyLen, 0}}
		x.decoded = d.add(m, 0)
		if m.BodyLen <= maxKeptBody || d.larger(m.BodyLen, x.requestedAt) {
			x.request = cloneRow(r)
		}
		if !m.TwoWay {
			d.updateLargest(x)
			return
		}
		if len(d.open) >= maxOpen {
			clear(d.open)
		}
		d.open[frameKey{r.Conn, r.Side, m.Exchange}] = x
	case rpc.Response:
		key := frameKey{r.Conn, 1 - r.Side, m.Exchange}
		x := d.open[key]
		if x == nil {
			return
		}
		delete(d.open, key)
		if x.decoded {
			d.add(m, 1)
		}
		x.latency, x.sizes[1] = m.LastByte-x.requestedAt, m.BodyLen
		if m.BodyLen <= maxKeptBody || d.larger(m.BodyLen, x.requestedAt) {
			x.response = cloneRow(r)
		}
		d.updateLargest(x)
	}
}

// add sums up the parts of a message and reports whether it was decoded.
func (d *detail) add(m *rpc.Message, direction int) bool {
	if m.Tree == nil {
		return false
	}
	if direction == 0 {
		d.decoded++
	}
	for class, n := range m.BodyParts() {
		d.classes[class] += int64(n)
	}
	sums := d.paths[direction]
	d.parts = m.AppendPaths(d.parts[:0], &d.anatomy)
	for i := range d.parts {
		p := &d.parts[i]
		path := p.Path
		if _, known := sums[path]; !known && len(sums) >= maxPaths {
			path = "…"
		}
		sums[path] += p.Bytes
	}
	return true
}

func cloneRow(r *pipeline.Row) *pipeline.Row {
	k := *r
	k.Msg = r.Msg.Clone(true, false)
	return &k
}

func (x *exchange) size() int { return max(x.sizes[0], x.sizes[1]) }

// larger reports whether a body of this size, in a call that started at this time, is the largest.
func (d *detail) larger(size int, at int64) bool {
	return d.largest == nil || size > d.largest.size() || at-d.largest.requestedAt > largestLifetime
}

func (d *detail) updateLargest(x *exchange) {
	if (x.request != nil || x.response != nil) && d.larger(x.size(), x.requestedAt) {
		d.largest, d.explained = x, nil
	}
}

func (d *detail) call(c *call.Call) {
	if m := c.Request; m != nil && m.Service() == d.method.Service && m.Method() == d.method.Method && d.of.hasCall(c) {
		d.calls.Call(c)
		d.lists.add(c)
	}
}

// snapshot returns the detail of a snapshot.
func (d *detail) snapshot(now int64) *Detail {
	out := &Detail{
		Method: d.method, Of: d.of, Since: time.Duration(now - d.openedAt),
		Latest: newest(d.lists.latest), Failed: newest(d.lists.failed),
		Slowest: sorted(d.lists.slowest, latencyOf), LargestCalls: sorted(d.lists.largest, sizeOf),
	}
	var request, response, latency sizes.Stat
	groups := d.calls.Groups()
	for _, g := range groups {
		out.Calls += g.Calls
		request.Merge(&g.Request.Body)
		response.Merge(&g.ResponseOK.Body)
		latency.Merge(&g.Latency)
	}
	out.RequestSizes, out.ResponseSizes, out.Latencies = bins(&request), bins(&response), bins(&latency)
	out.Clients = sharesOf(groups, 0)
	out.Clients = out.Clients[:min(5, len(out.Clients))]
	if d.decoded > 0 {
		out.Classes = d.classParts()
		out.Request, out.Response = d.topParts(0), d.topParts(1)
	}
	if d.largest != nil && d.explained == nil {
		d.explained = d.explain(d.largest)
	}
	out.Largest = d.explained
	return out
}

func (d *detail) classParts() []Part {
	all := int64(0)
	for _, n := range d.classes {
		all += n
	}
	var parts []Part
	for class, n := range d.classes {
		if n == 0 && decode.Class(class) == decode.ClassCompressed {
			continue
		}
		parts = append(parts, Part{decode.Class(class).String(), n / d.decoded, percent(n, all)})
	}
	return parts
}

func (d *detail) topParts(direction int) []Part {
	all := int64(0)
	var parts []Part
	for path, n := range d.paths[direction] {
		all += n
		parts = append(parts, Part{Name: path, Bytes: n})
	}
	slices.SortFunc(parts, func(a, b Part) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name)) })
	if len(parts) > topPaths {
		rest := Part{Name: "other paths"}
		for _, p := range parts[topPaths-1:] {
			rest.Bytes += p.Bytes
		}
		parts = append(parts[:topPaths-1], rest)
	}
	for i := range parts {
		parts[i].Percent = percent(parts[i].Bytes, all)
		parts[i].Bytes /= d.decoded
	}
	return parts
}

// bins converts a distribution to powers of two.
func bins(s *sizes.Stat) []Bin {
	var all []Bin
	s.Buckets(func(low, high, n int64) {
		middle := max(0, low+(high-low)/2)
		width := bits.Len64(uint64(middle)) // 0: 0, 1: 1, 2: 2 to 3, …
		b := Bin{Count: n}
		if width > 0 {
			b.Low, b.High = 1<<(width-1), 1<<width-1
		}
		if k := len(all) - 1; k >= 0 && all[k].Low == b.Low {
			all[k].Count += n
			return
		}
		// Add the empty bins in between, so that the axis has no gaps.
		for k := len(all) - 1; k >= 0 && all[k].High+1 < b.Low; k = len(all) - 1 {
			low := all[k].High + 1
			all = append(all, Bin{Low: low, High: 2*max(low, 1) - 1})
		}
		all = append(all, b)
	})
	return all
}

// explain annotates the messages of a call as the command explain does, with types and lengths instead of values: a
// live capture shows no values.
func (d *detail) explain(x *exchange) *Largest {
	l := &Largest{At: x.requestedAt, Latency: x.latency, RequestBytes: int64(x.sizes[0]), ResponseBytes: int64(x.sizes[1])}
	for i, k := range []*pipeline.Row{x.request, x.response} {
		if k == nil {
			continue
		}
		side := k.Side
		if i == 1 {
			side = 1 - side
		}
		l.Client, l.Server, l.ID = k.Conn.Ends[side], k.Conn.Ends[1-side], int64(k.Msg.Exchange)
		if k.Msg.BodyLen >= max(x.size(), 1) || l.Frame == 0 {
			l.Frame = k.Number
		}
		row := *k
		row.Msg = d.decoder.Decode(k.Msg, rpc.Values)
		e := explain.New(&explain.Subject{Row: &row, Stream: -1, Secret: explain.Redacted})
		var text strings.Builder
		_ = e.WriteText(&text, &explain.Style{Width: explainWidth, Local: d.local})
		lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
		if i == 0 {
			l.Request = lines
		} else {
			l.Response = lines
		}
	}
	return l
}
