package metrics

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// by is what calls are grouped by, in the order of the labels.
var (
	by     = sizes.By{Keys: []sizes.Key{sizes.Service, sizes.Method, sizes.Serialization, sizes.Side}}
	labels = []string{"service", "method", "serialization", "side"}
)

// Directions of messages: the values of the label dir.
const (
	request = iota
	response
)

// series is the numbers of one group of calls. They never decrease.
type series struct {
	values                    []string // of labels
	calls, errors, unanswered int64
	body, wire                [2]int64 // bytes of complete messages, by direction
	latency                   latency
	shown                     bool
	into                      *series // has the numbers since this group was merged into it
	settle                    func(m *call.Message)
}

// current returns the series that has the numbers of the group.
func (s *series) current() *series {
	if s.into != nil {
		return s.into
	}
	return s
}

// call adds a closed call. The link bytes of its messages are counted now, since an open connection keeps its last messages for a long time;
// settle adds those of retransmissions.
func (s *series) call(c *call.Call) {
	s.calls++
	if c.Failed() {
		s.errors++
	} else if c.State() == call.NoResponse {
		s.unanswered++
	}
	for _, m := range [2]*call.Message{c.Request, c.Response} {
		for ; m != nil; m = m.Next {
			if !m.Complete {
				continue
			}
			d := direction(m)
			s.body[d] += int64(m.BodyLen)
			s.wire[d] += m.Wire
			m.Watcher = s.settle
		}
	}
	if ns, ok := c.Latency(); ok {
		s.latency.add(ns)
	}
}

func newSeries(values []string) *series {
	s := &series{values: values}
	s.settle = func(m *call.Message) { s.current().wire[direction(m)] += m.Repeated }
	return s
}

func direction(m *call.Message) int {
	if m.Request {
		return request
	}
	return response
}

// merge adds the numbers of another series, which passes on what comes later.
func (s *series) merge(o *series) {
	s.calls += o.calls
	s.errors += o.errors
	s.unanswered += o.unanswered
	for d := range s.body {
		s.body[d] += o.body[d]
		s.wire[d] += o.wire[d]
	}
	s.latency.merge(&o.latency)
	o.into, o.latency = s, latency{}
}

// clone returns a copy that does not change.
func (s *series) clone() *series {
	c := *s
	c.latency = s.latency.clone()
	return &c
}

const (
	// DefaultSeries is the default of Options.Series.
	DefaultSeries = 500
	// choosing is the time after which the heaviest groups are chosen.
	choosing = time.Minute
	// maxChoices limits the groups that are measured until then, if Options.Series is not larger.
	maxChoices = 1 << 14
	// maxValue is the number of bytes of a label's value.
	maxValue = 256
	// maxFolded limits the memory for counting the groups of other. Above it the number is a lower bound.
	maxFolded = 1 << 16
	// otherValue is the value of all labels of the series of other groups.
	otherValue = "other"
)

// groups is the series of all groups.
//
// Up to limit groups have a series of their own. Until the choice each of the first ones is shown at once, and others are measured, but
// not shown. Then those with the most link bytes keep theirs, and all others become one series, in which they stay: if they left it, its
// numbers would decrease. Later groups have a series while there is room.
type groups struct {
	limit  int
	chosen bool
	byKey  map[string]*series // other for those that were not chosen
	order  []*series          // that have numbers of their own, in the order of their first calls
	shown  int
	other  *series
	// folded is hashes of the groups of other, nFolded their number.
	folded map[uint64]struct{}
	seed   maphash.Seed
	key    []byte
	recent [recentGroups]recentGroup
}

func newGroups(limit int) *groups {
	g := &groups{limit: limit, byKey: make(map[string]*series), folded: make(map[uint64]struct{}), seed: maphash.MakeSeed()}
	g.other = newSeries(slices.Repeat([]string{otherValue}, len(labels)))
	return g
}

// recentGroups is the size of the cache of groups.
const recentGroups = 512

// identity is what selects the group of a call whose request names its method itself.
type identity struct {
	operation      *rpc.Operation
	serialization  string
	id             int8
	client, server bool // are the capturing machine
	known          bool // its addresses are
}

type recentGroup struct {
	identity
	series *series
}

// of returns the series of a call.
func (g *groups) of(c *call.Call) *series {
	m := c.Request
	if m == nil || m.Operation == nil || m.GenericMethod != "" {
		return g.find(c).current()
	}
	k := identity{m.Operation, m.Serialization, m.SerializationID, c.Conn.Machine[c.Side], c.Conn.Machine[1-c.Side], c.Conn.MachineKnown}
	r := &g.recent[(m.Operation.Hash+uint32(m.SerializationID)+uint32(len(m.Serialization)))%recentGroups]
	if r.identity != k {
		*r = recentGroup{k, g.find(c)}
	}
	return r.series.current()
}

// find returns the series of a call by its labels.
func (g *groups) find(c *call.Call) *series {
	g.key = by.AppendKey(g.key[:0], c, nil)
	if len(g.key) > maxValue {
		g.key = shorten(g.key)
	}
	if s := g.byKey[string(g.key)]; s != nil {
		return s
	}
	room := g.shown < g.limit
	if !room && (g.chosen || len(g.order) >= max(g.limit, maxChoices)) {
		g.fold(g.key)
		return g.other
	}
	key := string(g.key)
	s := newSeries(strings.Split(key, "\x00"))
	if s.shown = room; room {
		g.shown++
	}
	g.byKey[key] = s
	g.order = append(g.order, s)
	return s
}

// fold counts a group of other.
func (g *groups) fold(key []byte) {
	if len(g.folded) < maxFolded {
		g.folded[maphash.Bytes(g.seed, key)] = struct{}{}
	}
}

// choose gives series of their own to the groups with the most link bytes.
func (g *groups) choose() {
	g.chosen = true
	if len(g.order) <= g.limit {
		return
	}
	slices.SortStableFunc(g.order, func(a, b *series) int {
		return cmp.Or(cmp.Compare(b.wire[request]+b.wire[response], a.wire[request]+a.wire[response]), cmp.Compare(b.calls, a.calls))
	})
	for i, s := range g.order {
		if s.shown = i < g.limit; s.shown {
			continue
		}
		key := strings.Join(s.values, "\x00")
		g.byKey[key] = g.other
		g.fold([]byte(key))
		g.other.merge(s)
	}
	g.shown = g.limit
	clear(g.order[g.limit:])
	g.order = slices.Clone(g.order[:g.limit])
}

// shorten cuts values that are too long, so that equal values are one group.
func shorten(key []byte) []byte {
	values := strings.Split(string(key), "\x00")
	for i, v := range values {
		if len(v) <= maxValue {
			continue
		}
		const mark = "…"
		n := maxValue - len(mark)
		for n > 0 && !utf8.RuneStart(v[n]) {
			n--
		}
		values[i] = v[:n] + mark
	}
	return []byte(strings.Join(values, "\x00"))
}
