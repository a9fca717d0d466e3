// Package live turns the line's calls into what is shown while a capture runs: rates over the last seconds by group,
// what the wire carries beside, one method in depth. It knows no terminal; a Monitor belongs to the goroutine of the
// line, and what it hands to a screen is a Snapshot, which nobody changes any more.
package live

import (
	"time"

	"dubbo-wire/internal/report"
)

// Grouping is one of the ways in which the rows of a screen are put together.
type Grouping uint8

// The groupings, in the order in which the screen goes through them.
const (
	ByMethod Grouping = iota // service/method
	ByService
	BySerialization
	ByClient // address without port
	ByServer // address with port
	ByPair   // client > server
	groupings
)

func (g Grouping) String() string {
	return [...]string{"method", "service", "serialization", "client", "server", "pair"}[g]
}

// Next is the grouping behind g; the first one behind the last.
func (g Grouping) Next() Grouping { return (g + 1) % groupings }

// Settings are what a screen asks of a Monitor. The zero value is the start of a screen.
type Settings struct {
	By Grouping
	// Filter is a part of the row's name, or a glob; "" shows all. Letters of both cases are equal.
	Filter string
	// Open is the method that is looked into; the zero value is none.
	Open Method
	// Record: packets are to be kept in a file.
	Record bool
}

// Method names a method.
type Method struct{ Service, Method string }

func (m Method) String() string { return m.Service + "/" + m.Method }

// Snapshot is one look at a running capture. It is not changed any more once it was handed out.
type Snapshot struct {
	// At is the capture's clock, in nanoseconds since the Unix epoch; Running how long the capture has been running.
	At      int64
	Running time.Duration
	// Window is what rates and rows are of: the last seconds, at first fewer.
	Window time.Duration
	// Interfaces are where is captured, and their states.
	Interfaces []Interface
	// Filter is the kernel's filter as it was given, "" if there is none: then everything else is not seen at all.
	KernelFilter string

	// Totals since the start.
	Packets, LinkBytes        int64
	Calls, Errors, Heartbeats int64
	Connections               int // open now, with payload
	OpenCalls                 int // requests that wait for an answer now
	// OtherPorts are the servers' TCP ports of connections with payload that carry no Dubbo, the most bytes first, at most 5:
	// what a screen without calls shows. Connections counts those connections, too.
	OtherPorts                 []int
	ExpiredCalls, ExpiredConns int64
	// Coverage is the share of whole frames in the bytes of streams that carry frames, in percent, rounded down; Gap and
	// Skipped the bytes that are missing and that belong to no frame.
	Coverage     float64
	Gap, Skipped int64
	// KernelDrops is packets that did not fit into the ring, since the start, RecentDrops those of the window; -1: unknown.
	// RingFill is the share of the ring that waits to be read now, in percent; -1: unknown.
	KernelDrops, RecentDrops int64
	RingFill                 float64

	// Rates over the window, in bits per second. In and Out are what the interfaces received and sent (loopback: all is
	// In); Link is their sum; Messages the messages' part of it, Other the rest. With a kernel filter Other comes from the
	// interfaces' own counters, and OtherFromCounters is true.
	In, Out, Link, Messages, Other float64
	OtherFromCounters              bool
	// Protocols are the names of the messages' protocols.
	Protocols string
	// Speed is the link's speed one way in bits per second, 0 if it has none (loopback, several interfaces).
	Speed float64
	// InHistory and OutHistory are bits per second, one number a second, the newest last, at most 60.
	InHistory, OutHistory []float64
	CallsPerSecond        float64
	ErrorPercent          float64 // of the window's calls

	// By is what the rows are grouped by, Rows the groups of the window that the filter wants, in order of Mbit/s; the
	// screen sorts them. Groups is how many there are without the filter, Rest stands for those that are not kept apart.
	By     Grouping
	Filter string
	Rows   []Row
	Groups int
	Rest   *Row
	// Serializations is their part of the messages' bytes on the wire in the window, in percent, largest first.
	Serializations []Share
	// Findings are short sentences about what is remarkable, the most important first.
	Findings []string

	// Detail is the opened method, nil if there is none.
	Detail *Detail

	// Recording is the file in which packets are kept, "" while none is; RecordError what went wrong with it.
	Recording       string
	RecordedPackets int64
	RecordedBytes   int64
	RecordError     string
}

// Interface is the state of an interface.
type Interface struct {
	Name string
	Up   bool
	Gone bool // it is not there any more; it is waited for
}

// Share is a part of a whole, in percent.
type Share struct {
	Name    string
	Percent float64
}

// Row is one group of the window.
type Row struct {
	// Name is what the group is called in full: "service/method", a service, a serialization, an address. Method is the
	// method of a row by method.
	Name   string
	Method Method
	Calls  int64 // of the window
	// Numbers are those of report.ScreenColumns: rates, bytes of bodies, nanoseconds; -1 where one is not known.
	Numbers []float64
	// Serializations that the row's calls are in, joined by commas.
	Serializations string
}

// Number is the number of a column with this title, -1 where it is not known.
func (r *Row) Number(title string) float64 {
	if i, ok := columnIndex[title]; ok && i < len(r.Numbers) {
		return r.Numbers[i]
	}
	return -1
}

// columnIndex has the places of the screen's columns by title.
var columnIndex = func() map[string]int {
	index := make(map[string]int)
	for i, c := range report.ScreenColumns() {
		index[c.Title] = i
	}
	return index
}()

// Detail is one method in depth.
type Detail struct {
	Method Method
	Row    Row // of the window
	// Since is from when on anatomy, histograms and the largest call are: from the opening on. Calls is how many that are.
	Since time.Duration
	Calls int64
	// Classes is what the bytes of the bodies are for, in the order of decode's classes, and Request and Response the paths
	// with the most bytes in them.
	Classes           []Part
	Request, Response []Part
	// Histograms of body bytes: powers of two, from the least to the greatest that has something in it.
	RequestSizes, ResponseSizes []Bin
	// Latencies is the same of nanoseconds.
	Latencies []Bin
	// Clients are who called, the most bytes first; at most 5.
	Clients []Share
	// Largest is the largest call of the last minute or since the opening; nil while there was none.
	Largest *Largest
}

// Part is bytes with a name, and its share in percent.
type Part struct {
	Name    string
	Bytes   int64 // per call, on average
	Percent float64
}

// Bin counts the numbers from Low to High.
type Bin struct {
	Low, High int64
	Count     int64
}

// Largest is a call with its frames explained.
type Largest struct {
	At                          int64 // nanoseconds since the Unix epoch
	Client, Server              string
	ID                          int64
	Frame                       int64 // the number of the larger frame of the two, in the capture
	RequestBytes, ResponseBytes int64 // bodies
	Latency                     int64 // nanoseconds; -1 without an answer
	// Request and Response are the annotated frames as `explain` prints them, without colour, made for 78 columns.
	Request, Response []string
}

// window is what the rates are of.
const window = 10 * time.Second
