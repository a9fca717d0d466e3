package sizes

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// Key is a property of calls that they can be grouped by.
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
	Encoding              Key = "encoding"
	Product               Key = "product" // "" if it is not known
	Side                  Key = "side"    // what the capturing machine was in the call
	// Qualified is the serialization with the protocol, unless the protocol numbers serializations. --by does not have it.
	Qualified Key = "protocol/serialization"
)

// keyNames lists the keys that need no width.
var keyNames = []Key{
	Protocol, Serialization, Service, Method, Version, Client, Server, Connection, Status, Input,
	DubboVersion, ResponseSerialization, Encoding, Product, Side,
}

// By is a grouping, as --by gives it.
type By struct {
	Keys []Key
	// Step is the width of a Time group.
	Step time.Duration
}

// ParseBy parses a list such as "service,method" or "client,time:10s".
func ParseBy(s string) (By, error) {
	var by By
	for name := range strings.SplitSeq(s, ",") {
		name = strings.TrimSpace(name)
		if step, ok := strings.CutPrefix(name, "time:"); ok {
			d, err := time.ParseDuration(step)
			if err != nil || d <= 0 {
				return by, fmt.Errorf("--by %s: %q is not a duration; try time:10s", name, step)
			}
			by.Keys, by.Step = append(by.Keys, Time), d
			continue
		}
		if !slices.Contains(keyNames, Key(name)) {
			return by, fmt.Errorf("--by %q: choose from %s, time:10s", name, joinKeys(keyNames))
		}
		if slices.Contains(by.Keys, Key(name)) {
			return by, fmt.Errorf("--by contains %s twice", name)
		}
		by.Keys = append(by.Keys, Key(name))
	}
	return by, nil
}

// KeyNames returns the keys that ParseBy accepts, with "time:10s" as the example of a time.
func KeyNames() []string { return strings.Split(joinKeys(keyNames)+", time:10s", ", ") }

func joinKeys(keys []Key) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// DefaultBy returns the default grouping of a report.
func DefaultBy() By { return By{Keys: []Key{Protocol, Serialization, Service, Method}} }

// Direction holds the sizes of the complete messages of a group in one direction, in bytes per message.
type Direction struct {
	Body, Frame, Wire Stat
	// Uncompressed is the sizes of the bodies without compression; nil if no body was compressed. Bodies of which that size is not
	// known are missing in it.
	Uncompressed *Stat
}

// uncompressed returns the sizes of the bodies without compression.
func (d *Direction) uncompressed() *Stat {
	if d.Uncompressed != nil {
		return d.Uncompressed
	}
	return &d.Body
}

// body adds the body of a message to Body and Uncompressed.
func (d *Direction) body(m *call.Message) {
	if m.Encoding != "" && d.Uncompressed == nil {
		d.Uncompressed = new(Stat)
		d.Uncompressed.Merge(&d.Body)
	}
	d.Body.Add(int64(m.BodyLen))
	switch {
	case d.Uncompressed == nil:
	case m.Encoding == "":
		d.Uncompressed.Add(int64(m.BodyLen))
	case m.UncompressedLen >= 0:
		d.Uncompressed.Add(int64(m.UncompressedLen))
	}
}

// Merge adds the messages of another direction.
func (d *Direction) Merge(o *Direction) {
	if d.Uncompressed != nil || o.Uncompressed != nil {
		sum := new(Stat)
		sum.Merge(d.uncompressed())
		sum.Merge(o.uncompressed())
		d.Uncompressed = sum
	}
	d.Body.Merge(&o.Body)
	d.Frame.Merge(&o.Frame)
	d.Wire.Merge(&o.Wire)
}

// NotOK holds the responses that do not compare serializations.
type NotOK struct {
	// Other are responses of successful calls in another serialization than the request, Error all responses of failed calls.
	Other, Error Direction
}

// Largest names the message with the largest body of a group.
type Largest struct {
	File      int // index of the input
	Frame     int64
	BodyBytes int64
}

// Group holds the numbers of all calls with the same key.
type Group struct {
	// Values are the key's parts, in the order of By.Keys.
	Values []string
	// SerializationID is the id in the requests, -1 if they have several or none.
	SerializationID int32
	// Rest marks the group of all calls beyond the limit of groups; Groups is the number of their keys.
	Rest   bool
	number uint16 // the low bits of the index in Aggregator.order, for hashes
	Groups int64

	Calls, OneWay, Errors, Exceptions, Unanswered int64
	// Unknown is the number of calls with a response whose status is not known. They do not count as errors.
	Unknown int64
	// OtherAnswers is the number of calls whose response uses another serialization than the request.
	OtherAnswers int64
	// ResponseOK are the responses of successful calls in the serialization of the request; of plain HTTP in any. Only they compare
	// serializations.
	// NotOK has all other responses; it is nil if there are none, because few groups have any.
	Request, ResponseOK Direction
	NotOK               *NotOK
	Latency, Wait       Stat // nanoseconds
	Largest             Largest
	// LargestOK is the frame with the largest body of ResponseOK, 0 if it is unknown.
	LargestOK int64
	inside    *inside // nil if no body was decoded
	// Strata is the first of the methods of the group, if pairs are counted. UnsampledBytes is set by an estimate: the bytes of the bodies
	// that no sampled body represents.
	Strata         *Stratum
	UnsampledBytes int64
	// Anatomy holds the bytes of the sampled bodies by path, nil if it was not requested.
	Anatomy *GroupAnatomy
}

// ClassBytes are bytes of bodies by class.
type ClassBytes = [decode.ClassMissing]int64

// inside is what the decoded bodies of a group contain. If bodies are sampled, most groups of many have none.
type inside struct {
	parts   ClassBytes
	sampled [2]int64
}

var nothingInside inside

// Parts returns the bytes of all request and response bodies by class, if they were decoded, or of those that were sampled. They must not be
// changed.
func (g *Group) Parts() *ClassBytes {
	if g.inside == nil {
		return &nothingInside.parts
	}
	return &g.inside.parts
}

// SetParts sets what Parts returns.
func (g *Group) SetParts(parts *ClassBytes) {
	if g.inside != nil || *parts != (ClassBytes{}) {
		g.decoded().parts = *parts
	}
}

// Sampled returns the number of sampled bodies, of requests and of responses.
func (g *Group) Sampled() [2]int64 {
	if g.inside == nil {
		return [2]int64{}
	}
	return g.inside.sampled
}

// decoded returns what the decoded bodies contain, to add to it.
func (g *Group) decoded() *inside {
	if g.inside == nil {
		g.inside = new(inside)
	}
	return g.inside
}

// WireBytes returns the link bytes of all complete messages.
func (g *Group) WireBytes() int64 { return g.Request.Wire.Total + g.ResponseWireBytes() }

// ResponseWireBytes returns the link bytes of all complete responses.
func (g *Group) ResponseWireBytes() int64 {
	if g.NotOK == nil {
		return g.ResponseOK.Wire.Total
	}
	return g.ResponseOK.Wire.Total + g.NotOK.Other.Wire.Total + g.NotOK.Error.Wire.Total
}

// Response returns the sum of all responses. It may be part of the group, so it must not be changed.
func (g *Group) Response() *Direction {
	if g.NotOK == nil {
		return &g.ResponseOK
	}
	sum := g.ResponseOKOrOther()
	sum.Merge(&g.NotOK.Error)
	return sum
}

// ResponseOKOrOther returns a sum of the responses of successful calls in any serialization.
func (g *Group) ResponseOKOrOther() *Direction {
	sum := new(Direction)
	sum.Merge(&g.ResponseOK)
	if g.NotOK != nil {
		sum.Merge(&g.NotOK.Other)
	}
	return sum
}

// NothingAnswered reports whether no call has an outcome, so there is no share of errors.
func (g *Group) NothingAnswered() bool { return g.Errors == 0 && g.Unanswered+g.OneWay == g.Calls }

// NoErrorShare reports whether the share of errors is not known: no call has an outcome, or no call is known to have failed while some
// may have.
func (g *Group) NoErrorShare() bool { return g.NothingAnswered() || g.Errors == 0 && g.Unknown > 0 }

// kind selects a direction of a group.
type kind uint8

const (
	requests kind = iota
	okResponses
	otherResponses
	errorResponses
)

// direction returns a direction of the group.
func (g *Group) direction(k kind) *Direction {
	switch k {
	case requests:
		return &g.Request
	case okResponses:
		return &g.ResponseOK
	}
	if g.NotOK == nil {
		g.NotOK = new(NotOK)
	}
	if k == otherResponses {
		return &g.NotOK.Other
	}
	return &g.NotOK.Error
}

// Aggregator aggregates calls by group.
type Aggregator struct {
	by        By
	maxGroups int
	inputs    []string
	order     []*Group
	groups    []groupPlace // an open-addressed table of 2^n places
	rest      *Group
	restKeys  map[string]struct{}
	key       []byte
	// known maps the envelope of a request to its group, nil if the keys need more than the envelope.
	known map[envelope]*Group
	// unnumbered are the first serializations of requests that have no number of their own, at most maxUnnumbered.
	unnumbered []unnumbered
	// recent is a cache of known, indexed by the hash of the names.
	recent *[recentGroups]recentGroup
	// unsettled is set if link bytes are counted when a call is closed, not when its messages are settled.
	unsettled bool
	pairs     *Pairs
}

// recentGroups is the size of the cache of groups.
const recentGroups = 512

type recentGroup struct {
	envelope
	group *Group
}

// envelope is the part of a request that selects its group if the keys are only its names and serialization.
type envelope struct {
	operation     *rpc.Operation
	serialization int16 // its number, or that of unnumbered
}

// unnumbered is a serialization without a number, in a protocol.
type unnumbered struct {
	protocol *rpc.Protocol
	name     string
}

// maxUnnumbered limits them: a header of HTTP may have made up their names.
const maxUnnumbered = 64

// DefaultMaxGroups is the default limit of groups.
const DefaultMaxGroups = 100_000

// New returns an aggregator. The index of a file in inputs is its number in calls.
func New(by By, maxGroups int, inputs []string) *Aggregator {
	if maxGroups <= 0 {
		maxGroups = DefaultMaxGroups
	}
	a := &Aggregator{by: by, maxGroups: maxGroups, inputs: inputs, groups: make([]groupPlace, 1<<6)}
	for _, k := range by.Keys {
		switch k {
		case Protocol, Serialization, Qualified, Service, Method, Version, DubboVersion:
		default:
			return a
		}
	}
	a.known = make(map[envelope]*Group)
	a.recent = new([recentGroups]recentGroup)
	return a
}

// NewUnsettled returns an aggregator that counts the link bytes of messages when their call is closed, without later
// retransmissions. It serves the view of a run in progress.
func NewUnsettled(by By, maxGroups int, inputs []string) *Aggregator {
	a := New(by, maxGroups, inputs)
	a.unsettled = true
	return a
}

// Call adds a closed call. The link bytes of its messages are added when they are settled.
func (a *Aggregator) Call(c *call.Call) {
	g := a.group(c)
	g.Calls++
	var t *tie
	if a.pairs != nil {
		t = a.pairs.call(g, c)
	}
	failed := c.Failed()
	switch c.State() {
	case call.OneWay:
		g.OneWay++
	case call.NoResponse:
		g.Unanswered++
	}
	responses := okResponses + kind(c.Outcome())
	if c.AnsweredInOther() {
		g.OtherAnswers++
	}
	if failed {
		g.Errors++
		if m := c.Answer(); m != nil && m.Exception {
			g.Exceptions++
		}
	} else if c.OutcomeUnknown() {
		g.Unknown++
	}
	for m := c.Request; m != nil; m = m.Next {
		a.message(g, t, m, requests)
	}
	for m := c.Response; m != nil; m = m.Next {
		a.message(g, t, m, responses)
	}
	if ns, ok := c.Latency(); ok {
		g.Latency.Add(ns)
	}
	if ns, ok := c.Wait(); ok {
		g.Wait.Add(ns)
	}
}

// message adds a message of a call. t is the tie of the call, nil if pairs are not counted.
func (a *Aggregator) message(g *Group, t *tie, m *call.Message, k kind) {
	m.OwnerKind = uint8(k)
	switch {
	case a.unsettled:
	case t != nil:
		a.pairs.message(t.stratum, m)
		m.Owner = t
	default:
		m.Owner = g
	}
	if !m.Complete {
		return
	}
	d := g.direction(k)
	if a.unsettled {
		d.Wire.Add(m.Wire + m.Repeated)
	}
	if m.Parts != (decode.PartBytes{}) {
		in := g.decoded()
		for i, n := range m.Parts {
			in.parts[i] += int64(n)
		}
	}
	if m.Sampled {
		g.addSample(m)
	}
	body := int64(m.BodyLen)
	if k == okResponses && (g.LargestOK == 0 || body > d.Body.Max || body == d.Body.Max && m.Number < g.LargestOK) {
		g.LargestOK = m.Number
	}
	d.body(m)
	d.Frame.Add(int64(m.FrameLen()))
	if g.Largest.Frame == 0 || body > g.Largest.BodyBytes || body == g.Largest.BodyBytes && m.Number < g.Largest.Frame {
		g.Largest = Largest{File: int(m.File), Frame: m.Number, BodyBytes: body}
	}
}

// Settle adds the final link bytes of a message.
func (g *Group) Settle(m *call.Message) {
	if m.Complete {
		g.direction(kind(m.OwnerKind)).Wire.Add(m.Wire)
	}
}

// group returns the group of a call. A response without a request has the names "?".
func (a *Aggregator) group(c *call.Call) *Group {
	if a.known == nil || c.Request == nil || c.Request.Operation == nil || c.Request.Operation.Hash == 0 || c.Request.GenericMethod != "" {
		return a.groupByKey(c)
	}
	// All requests with the same names share the operation.
	e, ok := envelope{c.Request.Operation, int16(c.Request.SerializationID)}, true
	if c.Request.SerializationID == rpc.NoSerialization {
		if e.serialization, ok = a.number(c.Request); !ok {
			return a.groupByKey(c)
		}
	}
	r := &a.recent[(e.operation.Hash+uint32(e.serialization))%recentGroups]
	if r.envelope == e {
		return r.group
	}
	g := a.known[e]
	if g == nil {
		g = a.groupByKey(c)
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

// number returns a number for the serialization of a request that has none, and false if there are too many.
func (a *Aggregator) number(m *call.Message) (n int16, ok bool) {
	s := unnumbered{m.Protocol, m.Serialization}
	i := slices.Index(a.unnumbered, s)
	if i < 0 {
		if i = len(a.unnumbered); i == maxUnnumbered {
			return 0, false
		}
		a.unnumbered = append(a.unnumbered, s)
	}
	return math.MinInt16 + int16(i), true
}

// groupByKey returns the group of a call by its key.
func (a *Aggregator) groupByKey(c *call.Call) *Group {
	a.key = a.by.AppendKey(a.key[:0], c, a.inputs)
	hash := uint32(maphash.Bytes(groupSeed, a.key))
	at := a.place(hash, a.key)
	var g *Group
	if at.number > 0 {
		g = a.order[at.number-1]
	} else {
		g = a.newGroup(hash, at, c)
	}
	id := int32(-1)
	if m := firstMessage(c); m != nil {
		id = int32(m.SerializationID)
	}
	switch {
	case g.Calls == 0:
		g.SerializationID = id
	case g.SerializationID != id:
		g.SerializationID = -1
	}
	return g
}

var groupSeed = maphash.MakeSeed()

// groupPlace has the hash of a group's key and 1 + the index of the group in order, which is 0 where the place is free.
type groupPlace struct{ hash, number uint32 }

// place returns the place of the group with a key in the table, or the one for it.
func (a *Aggregator) place(hash uint32, key []byte) *groupPlace {
	mask := uint32(len(a.groups) - 1)
	for i := hash; ; i++ {
		at := &a.groups[i&mask]
		if at.number == 0 || at.hash == hash && hasKey(a.order[at.number-1].Values, key) {
			return at
		}
	}
}

// hasKey reports whether a key has these values, separated by zero bytes.
func hasKey(values []string, key []byte) bool {
	for i, v := range values {
		if i > 0 {
			if len(key) == 0 || key[0] != 0 {
				return false
			}
			key = key[1:]
		}
		if len(key) < len(v) || string(key[:len(v)]) != v {
			return false
		}
		key = key[len(v):]
	}
	return len(key) == 0
}

// newGroup returns the group of a call that is the first with its key, for which there is a place in the table.
func (a *Aggregator) newGroup(hash uint32, at *groupPlace, c *call.Call) *Group {
	if len(a.order) >= a.maxGroups {
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
	g := &Group{number: uint16(len(a.order))}
	if len(a.by.Keys) > 0 {
		g.Values = make([]string, len(a.by.Keys))
	}
	for i, k := range a.by.Keys {
		g.Values[i] = a.value(k, c)
	}
	a.order = append(a.order, g)
	*at = groupPlace{hash, uint32(len(a.order))}
	if 4*len(a.order) >= 3*len(a.groups) {
		a.growTable()
	}
	return g
}

// growTable doubles the table of groups.
func (a *Aggregator) growTable() {
	old := a.groups
	a.groups = make([]groupPlace, 2*len(old))
	mask := uint32(len(a.groups) - 1)
	for _, g := range old {
		if g.number == 0 {
			continue
		}
		i := g.hash
		for a.groups[i&mask].number > 0 {
			i++
		}
		a.groups[i&mask] = g
	}
}

// value returns the value of a call for a key. It does not copy names that all calls of a method share.
func (a *Aggregator) value(k Key, c *call.Call) string {
	m := firstMessage(c)
	shared := m.Operation != nil && m.Operation.Hash != 0
	switch {
	case k == Protocol:
		return m.Protocol.Name
	case k == Serialization && m.Serialization != "":
		return m.Serialization
	case k == Service && shared:
		return validName(m.Service())
	case k == Method && shared:
		return validName(m.Method())
	}
	return string(a.appendValue(nil, k, c))
}

// maxKnown limits the envelopes with a known group; for others the key is built each time.
const maxKnown = 1 << 16

// maxRestKeys limits the memory for counting the groups of the rest. Above it the count is a lower bound.
const maxRestKeys = 1 << 20

// firstMessage returns the request, or a response without a request. The key of the call is made from it.
func firstMessage(c *call.Call) *call.Message {
	if c.Request != nil {
		return c.Request
	}
	return c.Response
}

func (a *Aggregator) appendValue(dst []byte, k Key, c *call.Call) []byte {
	m := firstMessage(c)
	switch k {
	case Protocol:
		return append(dst, m.Protocol.Name...)
	case Serialization:
		return appendSerialization(dst, m)
	case Qualified:
		return m.AppendSerialization(dst)
	case ResponseSerialization:
		if c.Response == nil {
			return append(dst, call.Unknown...)
		}
		return appendSerialization(dst, c.Response)
	case Service:
		return append(dst, validName(m.Service())...)
	case Method:
		return append(dst, validName(m.Method())...)
	case Version:
		if m.Operation == nil {
			return append(dst, call.Unknown...)
		}
		return append(dst, validName(m.Operation.Version)...)
	case DubboVersion:
		if m.Operation == nil {
			return append(dst, call.Unknown...)
		}
		return append(dst, validName(m.Operation.ProtocolVersion)...)
	case Client:
		return append(dst, call.Host(c.Client())...)
	case Server:
		return append(dst, c.Server()...)
	case Connection:
		return strconv.AppendInt(dst, int64(c.Conn.Number), 10)
	case Product:
		return append(dst, validName(c.Product())...)
	case Side:
		return append(dst, c.MachineSide()...)
	case Encoding:
		return append(dst, cmp.Or(c.Compression(), noEncoding)...)
	case Status:
		switch {
		case c.Aborted != "":
			return append(dst, validName(c.Aborted)...)
		case c.Response == nil || c.Answer().Status < 0:
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

// AppendKey appends the values of a call for the keys of a grouping, separated by zero bytes. The index of a file in inputs is its number
// in calls.
func (b By) AppendKey(dst []byte, c *call.Call, inputs []string) []byte {
	a := Aggregator{by: b, inputs: inputs}
	for i, k := range b.Keys {
		if i > 0 {
			dst = append(dst, 0)
		}
		dst = a.appendValue(dst, k, c)
	}
	return dst
}

// noEncoding is the encoding of a call without compressed messages.
const noEncoding = "identity"

func appendSerialization(dst []byte, m *call.Message) []byte {
	return append(dst, m.SerializationName()...)
}

// validName replaces the separator of keys and invalid UTF-8 in a name, so that a saved report has the same keys.
func validName(s string) string {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	if strings.IndexByte(s, 0) >= 0 {
		return strings.ReplaceAll(s, "\x00", "\ufffd")
	}
	return s
}

// Groups returns all groups in the order of [By.Sort].
func (a *Aggregator) Groups() []*Group {
	all := slices.Clone(a.order)
	a.by.Sort(all)
	if a.rest != nil {
		all = append(all, a.rest)
	}
	return all
}

// Equal reports whether the keys, their order and the step are the same.
func (b By) Equal(o By) bool { return slices.Equal(b.Keys, o.Keys) && b.Step == o.Step }

// Sort sorts groups by their keys, the rest last.
func (b By) Sort(groups []*Group) {
	numeric := slices.Contains(b.Keys, Connection)
	slices.SortStableFunc(groups, func(x, y *Group) int {
		switch {
		case x.Rest && y.Rest:
			return 0
		case x.Rest:
			return 1
		case y.Rest:
			return -1
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

// Merge adds the numbers of another group.
func (g *Group) Merge(o *Group) {
	g.MergeSizes(o)
	if o.Anatomy != nil {
		if g.Anatomy == nil {
			g.Anatomy = new(GroupAnatomy)
		}
		g.Anatomy.Request.merge(&o.Anatomy.Request)
		g.Anatomy.Response.merge(&o.Anatomy.Response)
	}
}

// MergeSizes adds all numbers of another group but the bytes by path.
func (g *Group) MergeSizes(o *Group) {
	g.Calls += o.Calls
	g.OneWay += o.OneWay
	g.Errors += o.Errors
	g.Exceptions += o.Exceptions
	g.Unanswered += o.Unanswered
	g.Unknown += o.Unknown
	g.OtherAnswers += o.OtherAnswers
	g.Request.Merge(&o.Request)
	if o.LargestOK != 0 && (g.LargestOK == 0 || o.ResponseOK.Body.Max > g.ResponseOK.Body.Max) {
		g.LargestOK = o.LargestOK
	}
	g.ResponseOK.Merge(&o.ResponseOK)
	if o.NotOK != nil {
		if g.NotOK == nil {
			g.NotOK = new(NotOK)
		}
		g.NotOK.Other.Merge(&o.NotOK.Other)
		g.NotOK.Error.Merge(&o.NotOK.Error)
	}
	g.Latency.Merge(&o.Latency)
	g.Wait.Merge(&o.Wait)
	if o.inside != nil {
		in := g.decoded()
		for i, n := range o.inside.parts {
			in.parts[i] += n
		}
		for i, n := range o.inside.sampled {
			in.sampled[i] += n
		}
	}
	g.UnsampledBytes += o.UnsampledBytes
	if o.Largest.Frame != 0 && (g.Largest.Frame == 0 || o.Largest.BodyBytes > g.Largest.BodyBytes) {
		g.Largest = o.Largest
	}
}

// Round3 rounds a mean to three decimals for a report.
func Round3(f float64) float64 { return math.Round(f*1000) / 1000 }
