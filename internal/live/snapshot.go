// Package live summarizes a running capture: rates of the last seconds by group, other traffic on the wire, one
// method in detail.
//
// A [Monitor] receives rows and calls from the pipeline and belongs to its goroutine. It returns a [Snapshot] about
// once a second; the snapshot owns its memory, and nobody changes it afterwards. [Intervals] returns the changes of
// fixed intervals for output as text. The package does not know terminals and follows no specification: its numbers are
// those of packages sizes and report.
package live

import (
	"time"

	"dubbo-wire/internal/report"
)

// Grouping is a way of grouping the rows of the screen.
type Grouping uint8

// These are the groupings in the order in which the screen cycles through them.
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

// Next returns the grouping that follows by so many steps, or precedes; the first one follows the last.
func (g Grouping) Next(steps int) Grouping {
	return Grouping((int(g) + steps + int(groupings)) % int(groupings))
}

// Settings are the screen's settings for a Monitor. The zero value is the initial screen.
type Settings struct {
	By Grouping
	// Filter is a part of the row's name or a glob, without regard to case; "" shows all.
	Filter string
	// Of limits the rows and the opened method to some calls.
	Of Selection
	// Open is the method to show in detail; the zero value is none.
	Open Method
	// Window is the time that rates and rows cover. A longer one than before fills up with time.
	Window Window
	// Errors is set while failed calls are shown, whose texts are then read.
	Errors bool
	// Record is set to write packets to a file.
	Record bool
}

// Method is a method of a service.
type Method struct{ Service, Method string }

func (m Method) String() string { return m.Service + "/" + m.Method }

// Snapshot is the state of a running capture at one moment. It is not changed after it was returned.
type Snapshot struct {
	// At is the capture's clock, in nanoseconds since the Unix epoch; Running is how long the capture has run.
	At      int64
	Running time.Duration
	// Window is the time that rates and rows cover: the last seconds, fewer at the start.
	Window time.Duration
	// Interfaces are the captured interfaces with their states.
	Interfaces []Interface
	// KernelFilter is the kernel's filter as the user gave it, "" if there is none. Other packets are not captured at
	// all.
	KernelFilter string

	// Totals since the start.
	Packets, LinkBytes        int64
	Calls, Errors, Heartbeats int64
	Connections               int // open now, with payload
	OpenCalls                 int // requests that wait for an answer now
	// OtherPorts are the server ports of TCP connections with payload but without messages, by bytes, at most 5. A
	// screen without calls shows them. Connections includes these connections.
	OtherPorts                 []int
	ExpiredCalls, ExpiredConns int64
	// Coverage is the share of complete messages in the streams that carry messages, in percent, rounded down. Gap is
	// missing bytes, Skipped bytes of no message.
	Coverage     float64
	Gap, Skipped int64
	// KernelDrops is the packets that did not fit into the ring since the start, RecentDrops those in the window; -1:
	// unknown. RingFill is the unread share of the ring, in percent; -1: unknown.
	KernelDrops, RecentDrops int64
	RingFill                 float64

	// These rates cover the window, in bits per second. In and Out are what the interfaces received and sent
	// (loopback: all is In). Link is their sum, Messages the part of messages, Other the rest. With a kernel filter
	// Other comes from the interfaces' counters, and OtherFromCounters is set.
	In, Out, Link, Messages, Other float64
	OtherFromCounters              bool
	// Protocols are the protocols with messages.
	Protocols string
	// Speed is the speed of the link in one direction in bits per second, 0 if unknown (loopback, several
	// interfaces).
	Speed float64
	// InHistory and OutHistory are bits per second, one number per second, newest last, at most 60.
	InHistory, OutHistory []float64
	CallsPerSecond        float64
	ErrorPercent          float64 // of the window's calls; -1 if there are calls and none has an outcome

	// By is the grouping of the rows, Of the calls they have. Rows are the groups of the window that match Filter, by
	// Mbit/s. Groups is their number without Filter. Rest sums the groups beyond the limit of a second.
	By     Grouping
	Of     Selection
	Filter string
	Rows   []Row
	Groups int
	Rest   *Row
	// RowsWindow is the time that the rows cover: Window, or less if their calls are counted only since Of was selected.
	RowsWindow time.Duration
	// Failures are the kinds of failed calls in the window, without regard to Of and Filter, the most frequent first.
	Failures []Failure
	// Serializations is the share of each serialization in the link bytes of messages in the window, largest first.
	Serializations []Share
	// Findings are short sentences about problems, the most important first.
	Findings []string

	// Detail is the opened method, nil if there is none.
	Detail *Detail

	// Recording is the file that packets are written to, "" if none; RecordError is the error of writing.
	Recording       string
	RecordedPackets int64
	RecordedBytes   int64
	RecordError     string
}

// Interface is the state of an interface.
type Interface struct {
	Name string
	Up   bool
	Gone bool // it was removed; the capture waits for its return
}

// Share is a part of a whole, in percent.
type Share struct {
	Name    string
	Percent float64
}

// Row is one group in the window.
type Row struct {
	// Name is the full name of the group: "service/method", a service, a serialization, an address. Method is set in
	// rows by method.
	Name   string
	Method Method
	Calls  int64 // in the window
	// Numbers are the values of report.ScreenColumns: rates, body bytes, nanoseconds; -1 if unknown.
	Numbers []float64
	// Serializations are those of the row's calls, joined by commas.
	Serializations string
}

// Number returns the value of the column with this title, -1 if unknown.
func (r *Row) Number(title string) float64 {
	if i, ok := columnIndex[title]; ok && i < len(r.Numbers) {
		return r.Numbers[i]
	}
	return -1
}

// columnIndex is the index of the screen's columns by title.
var columnIndex = func() map[string]int {
	index := make(map[string]int)
	for i, c := range report.ScreenColumns() {
		index[c.Title] = i
	}
	return index
}()

// Detail is one method in detail.
type Detail struct {
	Method Method
	Of     Selection // of whose calls
	Row    Row       // in the window
	// Since is the time since the method was opened, which the fields below cover; Calls is the number of calls in
	// it.
	Since time.Duration
	Calls int64
	// Classes is the body bytes by class, in the order of decode's classes. Request and Response are the paths with
	// the most bytes.
	Classes           []Part
	Request, Response []Part
	// RequestSizes and ResponseSizes are histograms of body bytes in powers of two, from the smallest to the largest
	// non-empty bin.
	RequestSizes, ResponseSizes []Bin
	// Latencies is the same histogram of nanoseconds.
	Latencies []Bin
	// Clients are the callers by bytes, at most 5.
	Clients []Share
	// Latest and Failed are the newest calls, and those that failed, newest first; Slowest and LargestCalls those with the
	// highest latency and the largest body, worst first.
	Latest, Failed, Slowest, LargestCalls []Call
	// Largest is the largest call of the last minute, nil if there was none.
	Largest *Largest
}

// Part is named bytes with their share in percent.
type Part struct {
	Name    string
	Bytes   int64 // per call, on average
	Percent float64
}

// Bin counts the values from Low to High.
type Bin struct {
	Low, High int64
	Count     int64
}

// Largest is a call with its annotated messages.
type Largest struct {
	At                          int64 // nanoseconds since the Unix epoch
	Client, Server              string
	ID                          int64
	Frame                       int64 // number of the larger message
	RequestBytes, ResponseBytes int64 // bodies
	Latency                     int64 // nanoseconds; -1 without a response
	// Request and Response are the annotated messages as `explain` prints them, without color, for 78 columns.
	Request, Response []string
}

// Window is the time that rates and rows cover.
type Window uint8

// Duration returns the length of the window.
func (w Window) Duration() time.Duration {
	return [...]time.Duration{10 * time.Second, time.Minute, 5 * time.Minute}[w%windows]
}

func (w Window) String() string { return [...]string{"10 s", "1 min", "5 min"}[w%windows] }

// Next returns the next window; the first one follows the last.
func (w Window) Next() Window { return (w + 1) % windows }

// windows is the number of windows.
const windows = 3
