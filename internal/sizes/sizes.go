package sizes

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// Key is one thing to group by.
type Key string

// The keys of --by.
const (
	Protocol      Key = "protocol"
	Serialization Key = "serialization"
	Service       Key = "service"
	Method        Key = "method"
	Version       Key = "version"
	Client        Key = "client"
	Server        Key = "server"
	Connection    Key = "connection"
	Status        Key = "status"
	Input         Key = "input"
	Time          Key = "time"

	DubboVersion          Key = "dubboVersion"
	ResponseSerialization Key = "responseSerialization"
)

// Keys lists what can be grouped by.
var keyNames = []Key{
	Protocol, Serialization, Service, Method, Version, Client, Server, Connection, Status, Input,
	DubboVersion, ResponseSerialization,
}

// By is a parsed --by.
type By struct {
	Keys []Key
	// Step is the width of a Time group.
	Step time.Duration
}

// ParseBy reads a list like "service,method" or "client,time:10s".
func ParseBy(s string) (By, error) {
	var by By
	for name := range strings.SplitSeq(s, ",") {
		name = strings.TrimSpace(name)
		if step, ok := strings.CutPrefix(name, "time:"); ok {
			d, err := time.ParseDuration(step)
			if err != nil || d <= 0 {
				return by, fmt.Errorf("--by %s: %q is no duration, try time:10s", name, step)
			}
			by.Keys, by.Step = append(by.Keys, Time), d
			continue
		}
		if !slices.Contains(keyNames, Key(name)) {
			return by, fmt.Errorf("--by %q: choose from %s, time:10s", name, joinKeys(keyNames))
		}
		if slices.Contains(by.Keys, Key(name)) {
			return by, fmt.Errorf("--by names %s twice", name)
		}
		by.Keys = append(by.Keys, Key(name))
	}
	return by, nil
}

// KeyNames are the keys that ParseBy takes, "time:10s" for those of a time.
func KeyNames() []string { return strings.Split(joinKeys(keyNames)+", time:10s", ", ") }

func joinKeys(keys []Key) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// DefaultBy is the grouping of a report when none is asked for.
func DefaultBy() By { return By{Keys: []Key{Protocol, Serialization, Service, Method}} }

// Direction is the sizes of one direction of a group's calls, in bytes per message. Incomplete messages are not in it.
type Direction struct {
	Body, Frame, Wire Stat
}

// Answers counts bodies, and their bytes.
type Answers struct{ Count, Bytes int64 }

// Largest names the message with the largest body of a group.
type Largest struct {
	File      int // index of the input
	Frame     int64
	BodyBytes int64
}

// Group is the calls that share a key.
type Group struct {
	// Values are the key's parts, in the order of By.Keys.
	Values []string
	// SerializationID is the id of the requests, -1 when the group has several or none.
	SerializationID int
	// Rest: this group stands for Groups keys beyond the limit.
	Rest   bool
	Groups int64

	Calls, OneWay, Errors, Exceptions, Unanswered int64
	// OtherAnswers is how many calls were answered in another serialization than they were asked in.
	OtherAnswers int64
	// Answers are the response bodies of calls that did not fail and were answered in the serialization they were asked in:
	// those that serializations can be compared by.
	Answers           Answers
	Request, Response Direction
	Latency, Wait     Stat // nanoseconds
	Largest           Largest
	// Parts is what the bytes of the bodies in Request and Response are for, by class, where that was asked for.
	Parts [decode.ClassMissing]int64
	// Looked is how many of these bodies were looked into, by direction; Parts is of them where not all were taken apart.
	Looked [2]int64
	// Strata are its methods, where pairs are counted; Unlooked is the bytes of bodies that no body which was looked into
	// stands for, once an estimate was made.
	Strata   []*Stratum
	Unlooked int64
	// Inside is what they are made of by path; nil where that was not asked for.
	Inside *Inside
}

// WireBytes is the group's bytes on the link.
func (g *Group) WireBytes() int64 { return g.Request.Wire.Total + g.Response.Wire.Total }

// Aggregator adds calls up by group.
type Aggregator struct {
	by        By
	maxGroups int
	inputs    []string
	groups    map[string]*Group
	order     []*Group
	rest      *Group
	restKeys  map[string]struct{}
	key       []byte
	// known finds the group of a request by its envelope alone, where the keys are all in it.
	known map[envelope]*Group
	// recent is some of them again, each in the place that the hash of its names says.
	recent *[recentGroups]recentGroup
	// passing: link bytes are taken as they are when a call is closed.
	passing bool
	pairs   *Pairs
}

// recentGroups is how many groups are found by a look at one place.
const recentGroups = 512

type recentGroup struct {
	envelope
	group *Group
}

// envelope is what a request's group depends on when only its own names and serialization are asked for.
type envelope struct {
	operation     *rpc.Operation
	serialization int16
}

// DefaultMaxGroups is the number of groups kept apart.
const DefaultMaxGroups = 100_000

// New returns an aggregator; inputs are the names behind the indexes of files.
func New(by By, maxGroups int, inputs []string) *Aggregator {
	if maxGroups <= 0 {
		maxGroups = DefaultMaxGroups
	}
	a := &Aggregator{by: by, maxGroups: maxGroups, inputs: inputs, groups: make(map[string]*Group)}
	for _, k := range by.Keys {
		switch k {
		case Protocol, Serialization, Service, Method, Version, DubboVersion:
		default:
			return a
		}
	}
	a.known = make(map[envelope]*Group)
	a.recent = new([recentGroups]recentGroup)
	return a
}

// NewPassing returns an aggregator that takes the link bytes of messages as they are when their call is closed, and is not
// told what is sent again later: for looks at a run in progress, beside the one that has all in the end.
func NewPassing(by By, maxGroups int, inputs []string) *Aggregator {
	a := New(by, maxGroups, inputs)
	a.passing = true
	return a
}

// Call adds a closed call; its messages' link bytes follow when they are settled.
func (a *Aggregator) Call(c *call.Call) {
	g := a.group(c)
	g.Calls++
	if a.pairs != nil {
		a.pairs.call(g, c)
	}
	switch c.State() {
	case call.OneWay:
		g.OneWay++
	case call.NoResponse:
		g.Unanswered++
	}
	if c.Request != nil && c.Response != nil && c.Request.Serialization != c.Response.Serialization {
		g.OtherAnswers++
	} else if m := c.Response; c.Request != nil && m != nil && m.Complete && !c.Failed() {
		g.Answers.Count++
		g.Answers.Bytes += m.BodyBytes()
	}
	if c.Failed() {
		g.Errors++
		if m := c.Answer(); m != nil && m.Exception {
			g.Exceptions++
		}
	}
	for m := c.Request; m != nil; m = m.Next {
		a.message(g, c, m, &g.Request)
	}
	for m := c.Response; m != nil; m = m.Next {
		a.message(g, c, m, &g.Response)
	}
	if ns, ok := c.Latency(); ok {
		g.Latency.Add(ns)
	}
	if ns, ok := c.Wait(); ok {
		g.Wait.Add(ns)
	}
}

func (a *Aggregator) message(g *Group, c *call.Call, m *call.Message, d *Direction) {
	switch {
	case a.passing:
	case a.pairs != nil:
		t := a.pairs.tie(g, c)
		t.stratum.message(m)
		m.Owner = t
	default:
		m.Owner = g
	}
	if !m.Complete {
		return
	}
	if a.passing {
		d.Wire.Add(m.Wire)
	}
	for i, n := range m.Parts {
		g.Parts[i] += int64(n)
	}
	if m.Looked {
		if m.Request {
			g.Looked[0]++
		} else {
			g.Looked[1]++
		}
		g.look(m)
	}
	body := int64(m.BodyLen)
	d.Body.Add(body)
	d.Frame.Add(int64(m.FrameLen()))
	if g.Largest.Frame == 0 || body > g.Largest.BodyBytes || body == g.Largest.BodyBytes && m.Number < g.Largest.Frame {
		g.Largest = Largest{File: m.Last.File, Frame: m.Number, BodyBytes: body}
	}
}

// Settle takes the final link bytes of a message.
func (g *Group) Settle(m *call.Message) {
	if !m.Complete {
		return
	}
	if m.Request {
		g.Request.Wire.Add(m.Wire)
	} else {
		g.Response.Wire.Add(m.Wire)
	}
}

// group finds the group of a call, by its request; a response without one is under "?".
func (a *Aggregator) group(c *call.Call) *Group {
	if a.known == nil || c.Request == nil || c.Request.Operation == nil || c.Request.GenericMethod != "" {
		return a.keyed(c)
	}
	// Names are shared by all requests with one envelope.
	e := envelope{c.Request.Operation, c.Request.SerializationID}
	r := &a.recent[(e.operation.Hash+uint32(e.serialization))%recentGroups]
	if r.envelope == e {
		return r.group
	}
	g := a.known[e]
	if g == nil {
		g = a.keyed(c)
		if g.Rest {
			return g
		}
		if len(a.known) < maxKnown {
			a.known[e] = g
		}
	}
	*r = recentGroup{e, g}
	return g
}

// keyed finds a call's group by its key.
func (a *Aggregator) keyed(c *call.Call) *Group {
	a.key = a.key[:0]
	for i, k := range a.by.Keys {
		if i > 0 {
			a.key = append(a.key, 0)
		}
		a.key = a.appendValue(a.key, k, c)
	}
	g := a.groups[string(a.key)]
	if g == nil {
		g = a.newGroup()
	}
	id := -1
	if m := asked(c); m != nil {
		id = int(m.SerializationID)
	}
	switch {
	case g.Calls == 0:
		g.SerializationID = id
	case g.SerializationID != id:
		g.SerializationID = -1
	}
	return g
}

func (a *Aggregator) newGroup() *Group {
	if len(a.groups) >= a.maxGroups {
		if a.rest == nil {
			a.rest = &Group{Rest: true, SerializationID: -1}
			a.restKeys = make(map[string]struct{})
		}
		if _, ok := a.restKeys[string(a.key)]; !ok && len(a.restKeys) < maxRestKeys {
			a.restKeys[string(a.key)] = struct{}{}
			a.rest.Groups++
		}
		return a.rest
	}
	key := string(a.key)
	g := &Group{Values: strings.Split(key, "\x00")}
	if len(a.by.Keys) == 0 {
		g.Values = nil
	}
	a.groups[key] = g
	a.order = append(a.order, g)
	return g
}

// maxKnown bounds the envelopes that find their group without a key; others are keyed each time.
const maxKnown = 1 << 16

// maxRestKeys bounds the memory for counting the groups of the rest: beyond it the count is a lower bound.
const maxRestKeys = 1 << 20

// asked is the message whose facts make the key: the request, or an orphan response.
func asked(c *call.Call) *call.Message {
	if c.Request != nil {
		return c.Request
	}
	return c.Response
}

func (a *Aggregator) appendValue(dst []byte, k Key, c *call.Call) []byte {
	m := asked(c)
	switch k {
	case Protocol:
		return append(dst, m.Protocol.Name...)
	case Serialization:
		return appendSerialization(dst, m)
	case ResponseSerialization:
		if c.Response == nil {
			return append(dst, call.Unknown...)
		}
		return appendSerialization(dst, c.Response)
	case Service:
		return append(dst, clean(m.Service())...)
	case Method:
		return append(dst, clean(m.Method())...)
	case Version:
		if m.Operation == nil {
			return append(dst, call.Unknown...)
		}
		return append(dst, clean(m.Operation.Version)...)
	case DubboVersion:
		if m.Operation == nil {
			return append(dst, call.Unknown...)
		}
		return append(dst, clean(m.Operation.ProtocolVersion)...)
	case Client:
		host, _, _ := net.SplitHostPort(c.Client())
		return append(dst, host...)
	case Server:
		return append(dst, c.Server()...)
	case Connection:
		return strconv.AppendInt(dst, int64(c.Conn.Number), 10)
	case Status:
		if c.Response == nil {
			return append(dst, c.State().String()...)
		}
		return strconv.AppendInt(dst, int64(c.Answer().Status), 10)
	case Input:
		if c.Conn.Input < len(a.inputs) {
			return append(dst, a.inputs[c.Conn.Input]...)
		}
	case Time:
		at := time.Unix(0, m.FirstTime).UTC().Truncate(a.by.Step)
		return at.AppendFormat(dst, time.RFC3339Nano)
	}
	return dst
}

func appendSerialization(dst []byte, m *call.Message) []byte {
	return append(dst, m.SerializationName()...)
}

// clean keeps names off the separator of keys, and makes them what JSON can hold, so that a saved report has the same keys.
func clean(s string) string {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	if strings.IndexByte(s, 0) >= 0 {
		return strings.ReplaceAll(s, "\x00", "\ufffd")
	}
	return s
}

// Groups returns all groups sorted by their keys, the rest last.
func (a *Aggregator) Groups() []*Group {
	all := slices.Clone(a.order)
	a.by.Sort(all)
	if a.rest != nil {
		all = append(all, a.rest)
	}
	return all
}

// Stats are the group's distributions.
func (g *Group) Stats() [8]*Stat {
	return [8]*Stat{
		&g.Request.Body, &g.Request.Frame, &g.Request.Wire,
		&g.Response.Body, &g.Response.Frame, &g.Response.Wire,
		&g.Latency, &g.Wait,
	}
}

// Equal reports whether the keys are the same, in the same order.
func (b By) Equal(o By) bool { return slices.Equal(b.Keys, o.Keys) && b.Step == o.Step }

// Sort orders groups by their keys, the rest last.
func (b By) Sort(groups []*Group) {
	numeric := slices.Contains(b.Keys, Connection)
	slices.SortStableFunc(groups, func(x, y *Group) int {
		if x.Rest || y.Rest {
			return cmp.Compare(restLast(x), restLast(y))
		}
		for i := range x.Values {
			if x.Values[i] == y.Values[i] {
				continue
			}
			if numeric && b.Keys[i] == Connection {
				n, _ := strconv.Atoi(x.Values[i])
				m, _ := strconv.Atoi(y.Values[i])
				return n - m
			}
			return strings.Compare(x.Values[i], y.Values[i])
		}
		return 0
	})
}

func restLast(g *Group) int {
	if g.Rest {
		return 1
	}
	return 0
}

// Merge adds what another group counted: for rows that sum groups up.
func (g *Group) Merge(o *Group) {
	g.Calls += o.Calls
	g.OneWay += o.OneWay
	g.Errors += o.Errors
	g.Exceptions += o.Exceptions
	g.Unanswered += o.Unanswered
	g.OtherAnswers += o.OtherAnswers
	g.Answers.Count += o.Answers.Count
	g.Answers.Bytes += o.Answers.Bytes
	theirs := o.Stats()
	for i, s := range g.Stats() {
		s.Merge(theirs[i])
	}
	for i, n := range o.Parts {
		g.Parts[i] += n
	}
	g.Unlooked += o.Unlooked
	for i, n := range o.Looked {
		g.Looked[i] += n
	}
	if o.Inside != nil {
		if g.Inside == nil {
			g.Inside = new(Inside)
		}
		g.Inside.Request.merge(&o.Inside.Request)
		g.Inside.Response.merge(&o.Inside.Response)
	}
	if o.Largest.Frame != 0 && (g.Largest.Frame == 0 || o.Largest.BodyBytes > g.Largest.BodyBytes) {
		g.Largest = o.Largest
	}
}

// Round3 rounds to three decimals, as reports print means.
func Round3(f float64) float64 { return math.Round(f*1000) / 1000 }
