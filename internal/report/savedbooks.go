package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// The parts of a JSON report, as they are read.
type (
	savedInput struct {
		File, Format, Compression, Filter, Error string
		LinkTypes                                []string
		Packets, Bytes                           int64
		FirstTime, LastTime                      *string
		TruncatedPackets, DamageLeftOut          int64
		DroppedPackets                           *int64
		Damage                                   []struct {
			Packet, Offset int64
			Text           string
		}
	}
	savedWire struct {
		LinkBytes, RPCBytes, EventBytes, IncompleteBytes, OtherLinkBytes  int64
		RetransmittedBytes, DuplicateBytes, NotTCPBytes, OffloadedPackets int64
		OtherTCP                                                          []struct {
			Port  uint16
			Bytes int64
		}
	}
	savedCoverage struct {
		TCPPayloadBytes, FrameBytes, OtherBytes, SkippedBytes, GapBytes int64
		Other                                                           []struct {
			Protocol           string
			Connections, Bytes int64
		}
		Connections, ConnectionsWithoutData, ConnectionsJoinedMidway, ConnectionsExpired int64
		Frames, FramesIncomplete, FramesFoundByResync, NegativeLengths                   int64
		BodiesDecoded, BodiesPartly, BodiesOpaque                                        int64
		RequestsWithoutResponse, ResponsesWithoutRequest, RequestsExpired                int64
		Heartbeats, Events                                                               int64
		HeadersContradicted                                                              []struct {
			SerializationID uint8
			Header, Body    string
			Frames          int64
		}
		UnknownSerializations []struct {
			SerializationID uint8
			Frames          int64
		}
		PacketsUnread []struct {
			Cause   string
			Packets int64
		}
	}
	savedGroup struct {
		Rest   bool
		Groups int64

		Protocol, Serialization, Service, Method, Version, Client, Server, Input, Time *string
		DubboVersion, ResponseSerialization                                            *string
		SerializationID                                                                *int
		Connection                                                                     json.Number
		Status                                                                         json.RawMessage

		Calls, OneWay, Errors, Exceptions, Unanswered int64
		AnsweredInOther                               int64
		// Answers is there where not all responses are alike.
		Answers                   *struct{ Responses, BodyBytes int64 }
		Request, Response         savedDirection
		LatencyMicros, WaitMicros savedStat
		Parts                     []struct {
			Path  string
			Bytes int64
		}
		Largest *struct {
			File             string
			Frame, BodyBytes int64
		}
	}
	savedDirection struct {
		Count                            int64
		BodyBytes, FrameBytes, WireBytes savedStat
	}
	savedStat struct {
		Total, Min, Mean, P50, P90, P95, P99, Max savedNumber
		Buckets                                   [][2]savedNumber
	}
)

// savedNumber is a number as it is written; a text that holds one is none.
type savedNumber json.Number

// UnmarshalJSON takes numbers and null, which is "".
func (n *savedNumber) UnmarshalJSON(text []byte) error {
	kind := ""
	switch text[0] {
	case '"':
		kind = "string"
	case '{':
		kind = "object"
	case '[':
		kind = "array"
	case 't', 'f':
		kind = "bool"
	case 'n':
		*n = ""
	default:
		*n = savedNumber(text)
	}
	if kind != "" {
		return &json.UnmarshalTypeError{Value: kind, Type: reflect.TypeFor[savedNumber]()}
	}
	return nil
}

// value is a part of the group's key, nil where it is missing.
func (g *savedGroup) value(k sizes.Key) *string {
	switch k {
	case sizes.Connection:
		if s := string(g.Connection); s != "" {
			return &s
		}
		return nil
	case sizes.Status:
		s := string(g.Status)
		if s == "" || s == "null" {
			return nil
		}
		if s[0] == '"' {
			if json.Unmarshal(g.Status, &s) != nil {
				return nil
			}
		}
		return &s
	}
	return map[sizes.Key]*string{
		sizes.Protocol: g.Protocol, sizes.Serialization: g.Serialization, sizes.Service: g.Service, sizes.Method: g.Method,
		sizes.Version: g.Version, sizes.Client: g.Client, sizes.Server: g.Server, sizes.Input: g.Input, sizes.Time: g.Time,
		sizes.DubboVersion: g.DubboVersion, sizes.ResponseSerialization: g.ResponseSerialization,
	}[k]
}

func (r *Report) restoreParts(g *savedGroup, out *sizes.Group) error {
	if g.Parts == nil {
		if r.Parts {
			return errors.New("lacks the parts that others have")
		}
		return nil
	}
	r.Parts = true
	for _, p := range g.Parts {
		known := false
		for c := range decode.ClassMissing {
			if decode.Class(c).String() == p.Path {
				out.Parts[c], known = p.Bytes, p.Bytes >= 0 && p.Bytes <= maxSavedNumber
			}
		}
		if !known {
			return fmt.Errorf("has the part %.40q, which is unknown", p.Path)
		}
	}
	return nil
}

func (r *Report) restoreLargest(g *savedGroup, out *sizes.Group) error {
	l := g.Largest
	if l == nil {
		return nil
	}
	for i := range r.Inputs {
		if r.Inputs[i].File == l.File {
			out.Largest = sizes.Largest{File: i, Frame: l.Frame, BodyBytes: l.BodyBytes}
			return nil
		}
	}
	return fmt.Errorf("has its largest message in %.100q, which is no input", l.File)
}

func (r *Report) restoreInputs(list []savedInput) error {
	for i := range list {
		in := &list[i]
		out := Input{
			File: in.File, Format: in.Format, Compression: in.Compression, LinkTypes: in.LinkTypes, Packets: in.Packets, Bytes: in.Bytes,
			Truncated: in.TruncatedPackets, Dropped: -1, Filter: in.Filter, DamageLeftOut: in.DamageLeftOut, Err: in.Error,
		}
		if in.DroppedPackets != nil {
			out.Dropped = *in.DroppedPackets
		}
		for _, d := range in.Damage {
			out.Damage = append(out.Damage, capture.Damage{Packet: d.Packet, Offset: d.Offset, Text: d.Text})
		}
		if in.Packets > 0 {
			for _, t := range []struct {
				from *string
				to   *int64
			}{{in.FirstTime, &out.First}, {in.LastTime, &out.Last}} {
				if t.from == nil {
					return fmt.Errorf("has packets of %.100q without their times", in.File)
				}
				at, err := time.Parse(time.RFC3339Nano, *t.from)
				if err != nil || at.Year() < 1678 || at.Year() > 2261 { // what nanoseconds in 64 bits reach
					return fmt.Errorf("has the time %.60q, which is none", *t.from)
				}
				*t.to = at.UnixNano()
			}
		}
		r.Inputs = append(r.Inputs, out)
	}
	return nil
}

// restoreBooks takes wire, coverage and saved.
func (r *Report) restoreBooks(d *savedReader) error {
	switch {
	case d.saved == nil:
		return errNoBuckets
	case d.wire == nil || d.coverage == nil:
		return errors.New(`is no whole report: "wire" or "coverage" is missing`)
	}
	w, c := d.wire, d.coverage
	t := &pipeline.Totals{
		LinkBytes: w.LinkBytes, RPCBytes: w.RPCBytes, EventBytes: w.EventBytes, IncompleteBytes: w.IncompleteBytes,
		NotTCPBytes: w.NotTCPBytes, OffloadedPackets: w.OffloadedPackets,
		FrameBytes: c.FrameBytes, Skipped: c.SkippedBytes, Gap: c.GapBytes,
		Frames: c.Frames, Incomplete: c.FramesIncomplete, Resynced: c.FramesFoundByResync, NegativeLengths: c.NegativeLengths,
		BodiesDecoded: c.BodiesDecoded, BodiesPartly: c.BodiesPartly, BodiesOpaque: c.BodiesOpaque,
		Unanswered: c.RequestsWithoutResponse, Orphans: c.ResponsesWithoutRequest,
		Heartbeats: c.Heartbeats, Events: c.Events,
	}
	t.TCP.Repeated, t.TCP.Duplicate, t.TCP.Stream = w.RetransmittedBytes, w.DuplicateBytes, c.TCPPayloadBytes
	t.TCP.Connections, t.TCP.WithoutData = c.Connections+c.ConnectionsWithoutData, c.ConnectionsWithoutData
	t.TCP.Joined, t.TCP.Expired = c.ConnectionsJoinedMidway, c.ConnectionsExpired
	for _, p := range w.OtherTCP {
		addTo(&t.OtherTCP, p.Port, p.Bytes)
	}
	for _, o := range c.Other {
		if t.Other == nil {
			t.Other = make(map[string]*pipeline.Other)
		}
		t.Other[o.Protocol] = &pipeline.Other{Connections: o.Connections, Bytes: o.Bytes}
	}
	for _, k := range c.HeadersContradicted {
		addTo(&t.Contradicted, pipeline.Contradiction{HeaderID: k.SerializationID, Header: k.Header, Body: k.Body}, k.Frames)
	}
	for _, u := range c.UnknownSerializations {
		addTo(&t.UnknownIDs, u.SerializationID, u.Frames)
	}
	for _, u := range c.PacketsUnread {
		addTo(&t.Unread, u.Cause, u.Packets)
	}
	r.Totals = t
	r.Connections, r.ConnectionsWithoutData = c.Connections, c.ConnectionsWithoutData
	if err := r.restoreSaved(d.saved); err != nil {
		return err
	}
	t.Expired = c.RequestsExpired - t.ExpiredByTime
	for _, n := range append(savedCounters(t), otherCounters(t)...) {
		if *n.at < 0 || *n.at > maxSavedNumber {
			return fmt.Errorf("has the impossible number %d in wire, coverage or saved", *n.at)
		}
	}
	return r.restoreTimes()
}

func (r *Report) restoreSaved(saved map[string]json.RawMessage) error {
	take := func(name string, to any, must bool) error {
		raw, ok := saved[name]
		if !ok && !must {
			return nil
		}
		if !ok || json.Unmarshal(raw, to) != nil {
			return fmt.Errorf(`has no %q in "saved"`, name)
		}
		return nil
	}
	for _, c := range savedCounters(r.Totals) {
		if err := take(c.name, c.at, true); err != nil {
			return err
		}
	}
	var kinds []struct {
		Protocol string
		Packets  int64
	}
	var snap []int
	for _, m := range []struct {
		name string
		to   any
	}{{"filter", &r.Filter}, {"steadyNanos", &r.Totals.Steady}, {"notTcp", &kinds}, {"snapLengths", &snap}} {
		if err := take(m.name, m.to, false); err != nil {
			return err
		}
	}
	r.Filtered = r.Filter != ""
	for _, k := range kinds {
		addTo(&r.Totals.NotTCP, k.Protocol, k.Packets)
	}
	for i, n := range snap {
		if i < len(r.Inputs) {
			r.Inputs[i].SnapLen = n
		}
	}
	return nil
}

// restoreTimes finds the first and the last packet.
func (r *Report) restoreTimes() error {
	begun := false
	for i := range r.Inputs {
		in := &r.Inputs[i]
		if in.Packets == 0 {
			continue
		}
		if !begun {
			r.First, r.Last, begun = in.First, in.Last, true
		}
		r.First, r.Last = min(r.First, in.First), max(r.Last, in.Last)
	}
	r.Totals.FirstTime, r.Totals.LastTime = r.First, r.Last
	if span := r.Totals.Span(); span < 0 || span > math.MaxInt64/2 {
		return errors.New("ends before it begins")
	}
	r.Seconds = float64(r.Totals.Span()) / 1e9
	return nil
}

// checkSums holds a report that was read to the sums that every report has.
func (r *Report) checkSums() error {
	t := r.Totals
	messages := r.Selected.WireBytes() + t.EventBytes + t.IncompleteBytes
	switch {
	case t.TCP.Stream != t.FrameBytes+t.OtherBytes()+t.Skipped, t.CompleteBytes > t.FrameBytes, t.RPCBytes > t.LinkBytes,
		messages > t.RPCBytes, !r.Filtered && messages != t.RPCBytes:
		return errors.New("has parts that do not add up to their sums; save it again")
	}
	return nil
}

func addTo[K comparable](m *map[K]int64, k K, n int64) {
	if *m == nil {
		*m = make(map[K]int64)
	}
	(*m)[k] += n
}
