package report_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// start is the time of the first packet of the reports made here.
const start = 1_795_000_000_123_456_000

// run makes reports from calls that were never on a wire, through the same pairer and aggregator as real ones.
type run struct {
	pairer *call.Pairer
	groups *sizes.Aggregator
	totals *pipeline.Totals
	conns  []*call.Conn
	number int64
	calls  []func(*call.Call) // who else wants to see them
}

func newRun(t testing.TB, by string, maxGroups int) *run {
	t.Helper()
	b := sizes.DefaultBy()
	if by != "" {
		var err error
		b, err = sizes.ParseBy(by)
		require.NoError(t, err)
	}
	r := &run{groups: sizes.New(b, maxGroups, []string{"trace.pcap"}), totals: &pipeline.Totals{Protocols: map[string]int64{"dubbo": 1}}}
	r.pairer = call.NewPairer(call.Config{}, r)
	r.conns = []*call.Conn{
		{Number: 1, Key: 1, Ends: [2]string{"10.0.0.5:51234", "10.0.0.9:20880"}},
		{Number: 2, Key: 2, Ends: [2]string{"[2001:db8::17]:40110", "[2001:db8::1]:20880"}},
	}
	return r
}

func (r *run) Call(c *call.Call) {
	r.groups.Call(c)
	r.totals.Calls++
	switch c.State() {
	case call.OneWay:
		r.totals.OneWay++
	case call.NoResponse:
		r.totals.Unanswered++
	case call.NoRequest:
		r.totals.Orphans++
	}
	if c.Failed() {
		r.totals.Errors++
	}
	for _, f := range r.calls {
		f(c)
	}
}

func (r *run) Settled(m *call.Message) {
	r.totals.Settle(m)
	if m.Owner != nil {
		m.Owner.Settle(m)
	}
	r.pairer.Free(m)
}

// answer says what came back; zero: a value.
type answer struct {
	status     byte
	class      string // of an exception
	text       string
	none       bool // no response
	oneWay     bool
	incomplete bool
}

// call adds one call. wire is 100 bytes a message on top of its frame.
func (r *run) call(conn int, serialization, service, method string, request, response int, latency int64, a answer) {
	format := map[string]byte{"hessian2": 2, "kryo": 8, "fastjson": 6, "": 30}[serialization]
	at := int64(start) + r.number*1_000_000
	message := func(flags byte, body int, at int64) *call.Message {
		r.number++
		m := r.pairer.New()
		m.Number = r.number
		m.Protocol = dubbo.Protocol
		(&dubbo.Header{Flags: flags | format, ID: r.number &^ 1, BodyLen: body}).Describe(&m.Summary)
		m.Serialization = serialization
		m.FirstTime, m.LastByte = at, at
		m.Complete = true
		m.ResultKind = -1
		m.Wire = int64(m.FrameLen()) + 100
		r.totals.Frames++
		r.totals.FrameBytes += int64(m.FrameLen())
		r.totals.CompleteBytes += int64(m.FrameLen())
		return m
	}
	r.number += r.number & 1 // requests have even ids and odd numbers
	flags := byte(0xc0)
	if a.oneWay {
		flags = 0x80
	}
	req := message(flags, request, at)
	req.Exchange = uint64(req.Number)
	if service != "" {
		req.Operation = &rpc.Operation{ProtocolVersion: "2.0.2", Service: service, Version: "1.0.0", Method: method, Types: []string{"int", "java.lang.String"}}
	}
	id := req.Exchange
	r.pairer.Request(r.conns[conn], 0, req)
	r.pairer.Release(req)
	if a.oneWay || a.none {
		return
	}
	resp := message(0, response, at+latency)
	resp.Exchange = id
	resp.Status, resp.Failed = int32(a.status), a.status != 0
	if a.status == 0 {
		resp.Status = dubbo.StatusOK
		resp.ResultKind = 4
	}
	if a.class != "" {
		resp.ResultKind, resp.Exception = 3, true
		resp.Detail().ExceptionClass, resp.Detail().ExceptionMessage = a.class, a.text
	} else {
		resp.Detail().ErrorMessage = a.text
	}
	if a.incomplete {
		resp.Complete = false
		r.totals.Incomplete++
		r.totals.CompleteBytes -= int64(resp.FrameLen())
	}
	r.pairer.Response(r.conns[conn], 1, resp)
	r.pairer.Release(resp)
}

// report closes the books: other link bytes are added so that everything adds up.
func (r *run) report(t testing.TB, by string, seconds float64) *report.Report {
	t.Helper()
	r.pairer.End()
	b := sizes.DefaultBy()
	if by != "" {
		var err error
		b, err = sizes.ParseBy(by)
		require.NoError(t, err)
	}
	tot := r.totals
	tot.Packets = 2 * r.number
	tot.LinkBytes = tot.RPCBytes + 66*r.number
	for _, n := range tot.OtherTCP {
		tot.LinkBytes += n
	}
	tot.LinkBytes += tot.NotTCPBytes
	tot.FirstTime, tot.LastTime = start, start+int64(math.Round(seconds*1e9))
	tot.TCP.Data, tot.TCP.Stream, tot.TCP.Payload = r.number, tot.FrameBytes, tot.FrameBytes+tot.TCP.Repeated
	tot.TCP.Connections += int64(len(r.conns))
	inputs := []capture.Input{{
		File: "/var/tmp/trace.pcap", Format: "pcap", Packets: tot.Packets, Bytes: tot.LinkBytes, Dropped: -1,
		FirstTime: tot.FirstTime, LastTime: tot.LastTime,
	}}
	return report.Build(inputs, tot, b, r.groups.Groups())
}

// shop is a report with several serializations, long and Chinese names, errors, and a damaged capture.
func shop(t testing.TB, by string) *report.Report {
	r := newRun(t, by, 0)
	for i := range 400 {
		r.call(0, "hessian2", "com.acme.order.OrderQuery", "listByBuyer", 402, 51_204+900*i, 80e6+int64(i)*1e6, answer{})
		r.call(0, "kryo", "com.acme.item.ItemService", "batchGet", 1_904, 8_812, 4e6, answer{})
	}
	for i := range 12 {
		r.call(1, "hessian2", "com.acme.item.ItemService", "batchGet", 3_100+i, 15_000, 5e6, answer{})
		r.call(1, "fastjson", "com.acme.item.ItemService", "batchGet", 2_700, 14_000, 5e6, answer{})
		r.call(1, "hessian2", "com.acme.user.UserService", "getUser", 222, 600, 900e3, answer{})
		r.call(1, "hessian2", "com.acme.admin.user.UserService", "getUser", 233, 601, 950e3, answer{})
		r.call(1, "hessian2", "com.acme.订单.订单服务", "按买家查询", 300, 1_000, 2e6, answer{})
		r.call(1, "kryo", "com.acme.audit.AuditLog", "write", 512, 0, 0, answer{oneWay: true})
		r.call(1, "hessian2", "com.acme.pay.PayService", "refund", 260, 1_900, 30e6, answer{class: "com.acme.pay.Refused", text: "limit\nat x"})
		r.call(1, "hessian2", "com.acme.pay.PayService", "capture", 260, 90, 1e9, answer{status: 31, text: "timeout"})
		r.call(1, "", "", "", 77, 20, 1e6, answer{})
		r.call(1, "hessian2", "evil|name\x1b[31m\n", "a_b*", 10, 10, 1e6, answer{})
	}
	r.call(1, "hessian2", "com.acme.pay.PayService", "slow", 260, 0, 0, answer{none: true})
	r.call(1, "kryo", "com.acme.item.ItemService", "one", 260, 9_000, 1e6, answer{incomplete: true})
	tot := r.totals
	tot.Heartbeats, tot.Events = 8, 2
	tot.RPCBytes += 1_180
	tot.EventBytes = 1_180
	tot.OtherTCP = map[uint16]int64{6379: 710_000, 3306: 190_000, 443: 100, 22: 90}
	tot.NotTCP = map[string]int64{"UDP": 120, "ARP": 4}
	tot.Unread = map[string]int64{"fragment": 3}
	tot.NotTCPBytes = 13_000
	tot.Gap, tot.Skipped, tot.Resynced = 22_100, 1_200, 3
	tot.TCP.Gaps, tot.TCP.GapBytes, tot.TCP.BeyondSnap, tot.TCP.Repeated = 18, 20_000, 4_000, 240_000
	tot.LostGaps, tot.LostBytes = 18, 20_000
	tot.TCP.Connections, tot.TCP.WithoutData, tot.TCP.Joined = 40, 3, 1
	tot.UnknownIDs = map[uint8]int64{30: 24}
	tot.Other = map[string]*pipeline.Other{"http1": {Connections: 3, Bytes: 1_200_000}, "tls": {Connections: 1, Bytes: 900}}
	rep := r.report(t, by, 62.4)
	rep.Inputs[0].Truncated, rep.Inputs[0].CutTo = 12, 96
	rep.Inputs[0].Damage = []report.Damage{{Packet: 2012, Offset: 1_812_345, Text: "the file ends inside the packet; record again, or repair it with: editcap trace.pcap whole.pcap"}}
	return rep
}

// bid is a small report of a capture that lacks nothing.
func bid(t testing.TB) *report.Report {
	r := newRun(t, "", 0)
	r.conns = r.conns[:1]
	for range 25 {
		r.call(0, "hessian2", "com.alibaba.dubbo.rpc.benchmark.EchoService", "bid", 546, 329, 1_490e3, answer{})
	}
	return r.report(t, "", 1.5)
}

// empty is the report of a capture without Dubbo.
func empty(t testing.TB) *report.Report {
	r := newRun(t, "", 0)
	r.conns = nil
	r.totals.NotTCPBytes, r.totals.NotTCP = 420, map[string]int64{"UDP": 3}
	rep := r.report(t, "", 0)
	rep.Totals.Packets = 3
	return rep
}

// frames are rows of every kind.
func frames() []*pipeline.Row {
	conns := []*call.Conn{
		{Number: 1, Key: 1, Ends: [2]string{"10.0.0.5:51234", "10.0.0.9:20880"}},
		{Number: 2, Key: 2, Ends: [2]string{"[2001:db8::17]:40110", "[2001:db8::1]:20880"}},
	}
	format := &decode.Format{ID: 2, Name: "hessian2"}
	origin := func(ms int64) rpc.Origin {
		return rpc.Origin{Time: start + ms*1e6 + 7_000, Packet: 11 + ms}
	}
	row := func(n int64, conn, side int, h dubbo.Header, m rpc.Message) *pipeline.Row {
		m.Protocol = dubbo.Protocol
		h.Describe(&m.Summary)
		m.Captured, m.MissingAt, m.First, m.Last, m.Complete = h.BodyLen, h.BodyLen, origin(n), origin(n), n != 7
		m.Exception = m.ResultKind == 3
		if h.Flags&0x1f == 2 {
			m.Format, m.Serialization = format, format.FullName()
		}
		return &pipeline.Row{Number: n, Conn: conns[conn], Side: side, Msg: &m}
	}
	names := &rpc.Operation{
		ProtocolVersion: "2.0.2", Service: "com.acme.order.OrderQuery", Version: "0.0.0", Method: "listByBuyer",
		Types: []string{"long", "java.lang.String[]"},
	}
	rows := []*pipeline.Row{
		row(1, 0, 0, dubbo.Header{Flags: 0xc2, ID: 490361, BodyLen: 366}, rpc.Message{Summary: rpc.Summary{Operation: names, ResultKind: -1}}),
		row(2, 0, 1, dubbo.Header{Flags: 2, Status: 20, ID: 490361, BodyLen: 1_402_118}, rpc.Message{Summary: rpc.Summary{Kind: rpc.Response, ResultKind: 4}}),
		row(3, 1, 0, dubbo.Header{Flags: 0x82, ID: -9_223_372_036_854_775_808, BodyLen: 90}, rpc.Message{Summary: rpc.Summary{Operation: names, ResultKind: -1}, Details: rpc.Details{GenericMethod: "close"}}),
		row(4, 1, 1, dubbo.Header{Flags: 2, Status: 20, ID: 7, BodyLen: 2_000}, rpc.Message{Summary: rpc.Summary{Kind: rpc.Response, ResultKind: 3}, Details: rpc.Details{ExceptionClass: "com.acme.Refused", ExceptionMessage: "no \"money\", \x1b[31mtoday\nat X"}}),
		row(5, 1, 1, dubbo.Header{Flags: 2, Status: 70, ID: 8, BodyLen: 200}, rpc.Message{Summary: rpc.Summary{Kind: rpc.Response, ResultKind: -1}, Details: rpc.Details{ErrorMessage: "Fail to decode"}}),
		row(6, 0, 0, dubbo.Header{Flags: 0xe2, ID: 9, BodyLen: 1}, rpc.Message{Summary: rpc.Summary{Kind: rpc.Heartbeat, ResultKind: -1}}),
		row(7, 0, 1, dubbo.Header{Flags: 30, Status: 20, ID: 10, BodyLen: 2_000_000_000}, rpc.Message{Summary: rpc.Summary{Kind: rpc.Response, ResultKind: -1}, Tree: &decode.Tree{}, Decoded: "none", Err: &decode.Error{Cause: decode.Lost, At: 12, Expected: "a string"}}),
		row(8, 0, 1, dubbo.Header{Flags: 2, Status: 20, ID: 11, BodyLen: 3}, rpc.Message{Summary: rpc.Summary{Kind: rpc.Response, ResultKind: 5}, Tree: &decode.Tree{}, Decoded: "partly", Err: &decode.Error{Cause: decode.Malformed, At: 2, Expected: "a map", Found: "ff"}}),
	}
	rows[6].Msg.Captured = 1_400
	return rows
}
