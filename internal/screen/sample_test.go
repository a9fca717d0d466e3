package screen

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"dubbo-wire/internal/live"
)

// began is the clock of all samples.
var began = time.Date(2026, 11, 21, 3, 4, 11, 0, time.UTC)

func sizesOf(mean, p50, p99, largest float64) [4]float64 { return [4]float64{mean, p50, p99, largest} }

// numbers are a row's numbers, from those of some columns.
func numbers(of map[string]float64) []float64 {
	list := slices.Repeat([]float64{-1}, len(columns)-1)
	for title, f := range of {
		list[columnTitled(title)] = f
	}
	return list
}

// setNumber changes a number of a row, whose other numbers may be shared with other rows.
func setNumber(r *live.Row, title string, f float64) {
	r.Numbers = slices.Clone(r.Numbers)
	r.Numbers[columnTitled(title)] = f
}

func methodRow(service, method string, mbit, share, calls float64, request, response [4]float64, p50, p99 time.Duration, errors float64, as string) live.Row {
	return live.Row{
		Name: service + "/" + method, Method: live.Method{Service: service, Method: method},
		Calls: int64(calls * 10), Numbers: numbers(map[string]float64{
			"Mbit/s": mbit, "share": share, "calls/s": calls, "errors": errors, "latency p50": float64(p50), "latency p99": float64(p99),
			"request mean": request[0], "request p50": request[1], "request p99": request[2], "request max": request[3],
			"response mean": response[0], "response p50": response[1], "response p99": response[2], "response max": response[3],
		}),
		Serializations: as,
	}
}

func wave(n int, low, high float64) []float64 {
	h := make([]float64, n)
	for i := range h {
		h[i] = (low + (high-low)*(0.5+0.5*math.Sin(float64(i)/4))) * 1e6
	}
	return h
}

// steady is a provider's busy link.
func steady() *live.Snapshot {
	return &live.Snapshot{
		At: began.UnixNano(), Running: 72 * time.Second, Window: 10 * time.Second, RowsWindow: 10 * time.Second,
		Interfaces: []live.Interface{{Name: "eth0", Up: true}}, KernelFilter: "",
		Packets: 9_204_332, LinkBytes: 9_310_000_000, Calls: 1_204_332, Errors: 3_612, Heartbeats: 208, Connections: 104, OpenCalls: 17,
		Coverage: 99.714, Gap: 22_100_000, RingFill: 3, KernelDrops: 0,
		Protocols: "dubbo", In: 112e6, Out: 991e6, Link: 1103e6, Messages: 977e6, Other: 126e6, Speed: 1e9,
		InHistory: wave(60, 40, 112), OutHistory: wave(60, 300, 991), CallsPerSecond: 19_210.4, ErrorPercent: 0.3,
		By: live.ByMethod,
		Rows: []live.Row{
			methodRow("com.acme.order.OrderQuery", "listByBuyer", 612, 62.6, 1378, sizesOf(402, 388, 4210, 9204),
				sizesOf(51204, 911, 402118, 7914022), 44100*time.Microsecond, 811*time.Millisecond, 0, "hessian2"),
			methodRow("com.acme.item.ItemService", "batchGet", 157, 16.1, 1699, sizesOf(1904, 1800, 8812, 12004),
				sizesOf(8812, 8700, 41977, 52000), 9810*time.Microsecond, 44*time.Millisecond, 0, "hessian2,kryo"),
			methodRow("com.acme.user.UserService", "getUser", 98.2, 10.1, 12044.3, sizesOf(96.4, 96, 120, 131),
				sizesOf(301.5, 288, 611, 702), 950*time.Microsecond, 3100*time.Microsecond, 0.04, "kryo"),
			methodRow("com.acme.stock.StockFacade", "reserve", 71.4, 7.3, 3811, sizesOf(811, 800, 1204, 2018),
				sizesOf(6.2, 6, 8, 204), 2100*time.Microsecond, 1208*time.Millisecond, 12.4, "hessian2"),
			methodRow("com.acme.pay.PaymentService", "status", 38, 3.9, 277.9, sizesOf(60, 60, 60, 60),
				sizesOf(44, 44, 44, 44), 410*time.Microsecond, 870*time.Microsecond, 0, "fastjson2"),
			methodRow("org.apache.dubbo.metadata.MetadataService", "getMetadataInfo", 0.04, 0.004, 0.1, sizesOf(31, 31, 31, 31),
				sizesOf(-1, -1, -1, -1), -1, -1, -1, "hessian2"),
		},
		Groups:         6,
		Serializations: []live.Share{{Name: "hessian2", Percent: 85.9}, {Name: "kryo", Percent: 10.2}, {Name: "fastjson2", Percent: 3.9}},
		Failures: []live.Failure{
			failure("SERVER_ERROR", "hessian2", "10.0.3.17", "com.acme.stock.StockFacade", "reserve", 4_611, 97.4, 0),
			failure("com.acme.user.NoSuchUserException", "kryo (Kryo 5)", "10.0.3.18", "com.acme.user.UserService", "getUser", 48, 1, 2*time.Second),
			failure("BAD_REQUEST: Encountered unregistered class ID", "kryo (Kryo 5)", "2001:db8::17", "com.acme.user.UserService", "getUser", 21, 0.4, 7*time.Second),
			failure("THREADPOOL_EXHAUSTED", "hessian2", "10.0.3.17", "com.acme.stock.StockFacade", "reserve", 20, 0.4, 9*time.Second),
			{Calls: 38, Percent: 0.8, Last: began.UnixNano()},
		},
		Findings: []string{
			"OrderQuery/listByBuyer: largest response 7,914,022 bytes = 94 % of the default payload limit",
			"StockFacade/reserve: 12.4 % of the calls fail",
			"getUser: 9 attachments, the same in every call: 31 % of its request bytes",
		},
	}
}

func failure(cause, serialization, client, service, method string, calls int64, percent float64, ago time.Duration) live.Failure {
	cause, text, _ := strings.Cut(cause, ": ")
	return live.Failure{
		Cause: cause, Text: text, Serialization: serialization, Client: client, Method: live.Method{Service: service, Method: method},
		Calls: calls, Percent: percent, Last: began.Add(-ago).UnixNano(),
	}
}

// dropping is the same link with a ring that is too small.
func dropping() *live.Snapshot {
	s := steady()
	s.KernelDrops, s.RecentDrops, s.RingFill, s.Coverage = 1234, 56, 97.2, 91.02
	return s
}

// detailed is the same link with its first method opened.
func detailed() *live.Snapshot {
	s := steady()
	bins := func(low int64, counts ...int64) []live.Bin {
		var all []live.Bin
		for _, n := range counts {
			all = append(all, live.Bin{Low: low, High: low*2 - 1, Count: n})
			low *= 2
		}
		return all
	}
	s.Detail = &live.Detail{
		Method: s.Rows[0].Method, Row: s.Rows[0], Since: 12 * time.Second, Calls: 16_536,
		Classes: []live.Part{
			{Name: "values", Bytes: 31_688, Percent: 61.4},
			{Name: "names", Bytes: 10_167, Percent: 19.7},
			{Name: "attachments", Bytes: 4_283, Percent: 8.3},
			{Name: "envelope", Bytes: 2_012, Percent: 3.9},
			{Name: "overhead", Bytes: 3_458, Percent: 6.7},
			{Name: "opaque", Bytes: 0, Percent: 0},
		},
		Request: []live.Part{
			{Name: "args[0].#class", Bytes: 131, Percent: 32.6},
			{Name: "attachments.path", Bytes: 54, Percent: 13.4},
			{Name: "attachments.interface", Bytes: 49, Percent: 12.2},
			{Name: "args[0].buyer", Bytes: 5, Percent: 1.2},
		},
		Response: []live.Part{
			{Name: "result.orders[].items[].title", Bytes: 20_112, Percent: 39.3},
			{Name: "result.orders[].items[].#fields", Bytes: 8_019, Percent: 15.7},
			{Name: "result.orders[].buyer.name", Bytes: 6_044, Percent: 11.8},
			{Name: "result.orders[].created", Bytes: 3_100, Percent: 6.1},
			{Name: "result.total", Bytes: 3, Percent: 0.006},
		},
		RequestSizes:  bins(256, 16_000, 400, 90, 40, 5, 1),
		ResponseSizes: bins(512, 9_000, 3_011, 1_200, 0, 0, 700, 801, 900, 620, 250, 50, 3, 0, 1),
		Latencies:     bins(1<<20, 12, 211, 1400, 4018, 7000, 2600, 900, 300, 80, 15),
		Clients: []live.Share{
			{Name: "10.0.3.17", Percent: 61.2}, {Name: "10.0.3.18", Percent: 30.1}, {Name: "10.0.3.19", Percent: 8.7},
		},
		Failed: []live.Call{
			call(-2*time.Second, "10.0.3.19:40112", 402, 311, 2*time.Millisecond, "BAD_REQUEST: Encountered unregistered class ID"),
			call(-9*time.Second, "10.0.3.17:51234", 396, 1204, 4*time.Millisecond, "com.acme.order.NoSuchBuyerException"),
		},
		Slowest: []live.Call{
			call(-3*time.Second, "10.0.3.17:51234", 9204, 7_914_022, 811*time.Millisecond, "ok"),
			call(-5*time.Second, "[2001:db8:1:2:3:4:5:17]:51236", 402, 911, 640*time.Millisecond, "ok"),
		},
		LargestCalls: []live.Call{call(-3*time.Second, "10.0.3.17:51234", 9204, 7_914_022, 811*time.Millisecond, "ok")},
		Latest: []live.Call{
			call(0, "10.0.3.17:51234", 402, 911, 44*time.Millisecond, "ok"),
			call(-time.Millisecond, "10.0.3.18:33100", 402, -1, -1, "no response"),
		},
		Largest: &live.Largest{
			At: began.UnixNano() + 224_817_000, Client: "10.0.3.17:51234", Server: "10.0.1.8:20880", ID: 490361, Frame: 88213,
			RequestBytes: 366, ResponseBytes: 7_914_022, Latency: int64(811 * time.Millisecond),
			Request: strings.Split(strings.TrimSpace(`
frame 88,201: request 490361, dubbo/hessian2, 382 bytes = 16 header + 366 body
com.acme.order.OrderQuery.listByBuyer(com.acme.order.Query)

offset bytes                    part           size  value
                                header           16  request
  0000 da bb                      magic           2  Dubbo
  0002 c2                         flags           1  request, two-way, hessian2 (2)
  0010 05 32 2e 30 2e 32        dubboVersion      6  "2.0.2"
  0016 17 63 6f 6d 2e 61 ..     path             24  "com.acme.order.OrderQuery"
  0071 49 00 07 a1 20           args[0].buyer     5  500000 (int)

body: values 5 (1.4 %), attachments 117 (32.0 %), envelope 244 (66.6 %)`), "\n"),
			Response: []string{
				"frame 88,213: response 490361, status 20, 7,914,038 bytes = 16 header + 7,914,022 body", "",
				"offset bytes                    part           size  value",
				"  0010 94                         resultKind      1  value with attachments (4)",
				"  0011 57                         #list           1  List<com.acme.order.Order>",
			},
		},
	}
	return s
}

// selected is the same link with one client opened three seconds ago.
func selected() *live.Snapshot {
	s := steady()
	s.Of, s.RowsWindow = live.Selection{Client: "10.0.3.17"}, 3*time.Second
	s.Rows, s.Groups = s.Rows[:2], 2
	return s
}

func call(at time.Duration, client string, request, response int64, latency time.Duration, outcome string) live.Call {
	c := live.Call{
		At: began.Add(at).UnixNano(), Client: client, Server: "10.0.1.8:20880", ID: "490361", Serialization: "hessian2",
		RequestBytes: request, ResponseBytes: response, Latency: int64(latency), Outcome: outcome, Failed: strings.ContainsAny(outcome, "EN"),
	}
	return c
}

// waiting is a capture that has seen no Dubbo.
func waiting() *live.Snapshot {
	return &live.Snapshot{
		At: began.UnixNano(), Running: 8 * time.Second, Window: 8 * time.Second, RowsWindow: 8 * time.Second,
		Interfaces: []live.Interface{{Name: "eth0", Up: true}},
		Packets:    12_345, LinkBytes: 4_000_000, Connections: 12, OtherPorts: []int{3306, 6379, 9092},
		Protocols: "dubbo", In: 2.3e6, Out: 1.7e6, Link: 4e6, Other: 4e6, Speed: 1e10, InHistory: wave(8, 1, 3), OutHistory: wave(8, 1, 2),
	}
}

// down is a capture whose interface went away.
func down() *live.Snapshot {
	s := steady()
	s.Interfaces[0].Up = false
	s.Rows, s.Serializations, s.Findings = nil, nil, nil
	s.In, s.Out, s.Messages, s.Other, s.CallsPerSecond, s.ErrorPercent = 0, 0, 0, 0, 0, 0
	for i := 40; i < 60; i++ {
		s.InHistory[i], s.OutHistory[i] = 0, 0
	}
	return s
}

// recording is a loopback with a filter in the kernel, whose packets are kept.
func recording() *live.Snapshot {
	s := steady()
	s.Interfaces[0].Name = "lo"
	s.KernelFilter, s.OtherFromCounters = "port 20880 or port 20881", true
	s.Speed, s.Out, s.OutHistory = 0, 0, nil
	s.Recording, s.RecordedPackets, s.RecordedBytes = "eth0-20261121-030411.pcapng", 120_331, 98_200_000
	s.Findings = nil
	return s
}

// filtered is the same link with a filter in the kernel.
func filtered() *live.Snapshot {
	s := steady()
	s.KernelFilter, s.OtherFromCounters = "port 20880", true
	return s
}

// odd is what names can be: long, wide, hostile, alike.
func odd() *live.Snapshot {
	s := steady()
	names := [][2]string{
		{"com.acme.a.OrderQuery", "list"},
		{"com.acme.b.OrderQuery", "list"},
		{"com.例え.注文サービス", "注文一覧を取得する"},
		{"com.acme.emoji.👩‍👩‍👧Service", "🚀launch❤️"},
		{"com.acme." + strings.Repeat("very.", 40) + "LongServiceNameThatGoesOnAndOn", "andAMethodThatIsNotShortEither"},
		{"evil\x1b[2J\x1b[31m\nService", "run\r\n\x00\u202e"},
		{"", ""},
	}
	rows := s.Rows
	s.Rows = nil
	for i, n := range names {
		r := rows[i%len(rows)]
		r.Name, r.Method = n[0]+"/"+n[1], live.Method{Service: n[0], Method: n[1]}
		setNumber(&r, "Mbit/s", float64(700-100*i))
		s.Rows = append(s.Rows, r)
	}
	s.Groups = len(s.Rows)
	s.Findings = []string{"evil\x1b]0;title\x07: \u202efinding\nwith a second line"}
	s.Rest = &live.Row{Name: "rest", Calls: 20, Numbers: numbers(map[string]float64{"Mbit/s": 1, "share": 0, "calls/s": 2, "errors": 0})}
	return s
}

// many is a capture of n methods.
func many(n int) *live.Snapshot {
	s := steady()
	s.Rows = make([]live.Row, n)
	for i := range s.Rows {
		r := steadyRow
		name := fmt.Sprintf("com.acme.s%03d.Service%03d", i/10, i/10)
		r.Name, r.Method = name+fmt.Sprintf("/method%04d", i), live.Method{Service: name, Method: fmt.Sprintf("method%04d", i)}
		setNumber(&r, "Mbit/s", float64(n-i)/10)
		setNumber(&r, "calls/s", float64(i))
		s.Rows[i] = r
	}
	s.Groups = n
	return s
}

var steadyRow = steady().Rows[0]

// grouped is the same link by another grouping.
func grouped(by live.Grouping) *live.Snapshot {
	s := steady()
	s.By = by
	names := map[live.Grouping][]string{
		live.ByService:       {"com.acme.order.OrderQuery", "com.acme.item.ItemService", "com.acme.user.UserService"},
		live.BySerialization: {"hessian2", "kryo", "fastjson2"},
		live.ByClient:        {"10.0.3.17", "10.0.3.18", "2001:db8::17"},
		live.ByServer:        {"10.0.1.8:20880", "10.0.1.9:20880", "[2001:db8::8]:20880"},
		live.ByPair:          {"10.0.3.17 > 10.0.1.8:20880", "10.0.3.18 > 10.0.1.8:20880", "2001:db8::17 > [2001:db8::8]:20880"},
	}[by]
	if names == nil {
		return s
	}
	s.Rows = s.Rows[:len(names)]
	for i, n := range names {
		s.Rows[i].Name, s.Rows[i].Method = n, live.Method{}
	}
	s.Groups = len(names)
	return s
}
