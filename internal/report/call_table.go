package report

import (
	"cmp"
	"io"
	"strconv"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/term"
)

// CallTable prints calls row by row, without their values.
type CallTable struct {
	*stream
	records Calls // for CSV
	// From is the time that times of narrow tables are relative to, in nanoseconds since the Unix epoch; 0: that of the first row.
	From int64
}

// NewCallTable returns a table that prints calls to w as "table", "markdown" or "csv"; records says what of them.
func NewCallTable(w io.Writer, format string, s Style, records Calls) (*CallTable, error) {
	st, err := newStream("calls", w, format, s, callFields, callColumns)
	if err != nil {
		return nil, err
	}
	st.note = "; request, response: body bytes"
	return &CallTable{stream: st, records: records}, nil
}

var callColumns = []streamColumn{
	{name: "frame", right: true, width: 6, narrow: &streamColumn{name: "frame", right: true, width: 5}},
	{name: "answer", right: true, width: 6, narrow: &streamColumn{name: "format", width: 8, most: 9}},
	{name: "time", width: 27, narrow: &streamColumn{name: "time", right: true, width: 9}},
	{name: "client > server", width: 33, narrow: &streamColumn{name: "conn", right: true, width: 4}},
	{name: "id", right: true, width: 7, narrow: &streamColumn{name: "id", right: true, width: 6, most: 6}},
	{name: "serialization", width: 13, narrow: &streamColumn{}},
	{name: "state", width: 10, narrow: &streamColumn{name: "state", width: 5}},
	{name: "request body bytes", right: true, width: 18, narrow: &streamColumn{name: "request", right: true, width: 7}},
	{name: "response body bytes", right: true, width: 19, narrow: &streamColumn{name: "response", right: true, width: 8}},
	{name: "latency", right: true, width: 8, narrow: &streamColumn{name: "latency", right: true, width: 7}},
	{name: "service/method", narrow: &streamColumn{name: "method"}},
}

// Row prints one call.
func (t *CallTable) Row(c *call.Call) error {
	s := t.stream
	m := c.Request
	if m == nil {
		m = c.Response
	}
	if !s.begun {
		s.begin(cmp.Or(t.From, m.FirstTime))
	}
	if s.format == "csv" {
		t.records.append(s.csvRecord(), c)
		return s.write()
	}
	s.connection(c.Conn)
	serialization, took := term.Clean(m.SerializationName()), "-"
	if ns, ok := c.Latency(); ok {
		took = formatElapsed(ns, s.style.Exact)
	}
	if s.narrow() { // without the dialect, in the place of the answer's number
		plain, _, _ := strings.Cut(serialization, " (")
		s.cells = append(s.cells[:0], frameNumber(c.Request), plain, s.time(m.FirstTime), s.direction(c.Conn, c.Side), m.ID())
	} else {
		s.cells = append(s.cells[:0], frameNumber(c.Request), frameNumber(c.Response), s.time(m.FirstTime), s.direction(c.Conn, c.Side),
			m.ID(), serialization)
	}
	s.cells = append(s.cells, stateText(c), bodyBytes(c.Request), bodyBytes(c.Response), took, callText(c, m))
	return s.write()
}

func frameNumber(m *call.Message) string {
	if m == nil {
		return "-"
	}
	return formatFrame(m.Number)
}

func bodyBytes(m *call.Message) string {
	if m == nil {
		return "-"
	}
	return Count(m.BodyBytes())
}

// stateText returns the state of a call. A failed call has the status or "exception", because narrow tables have no room for names.
func stateText(c *call.Call) string {
	switch {
	case c.State() == call.OK && c.Response.Incomplete():
		return "incomplete"
	case c.State() != call.Failed:
		return c.State().String()
	case c.Aborted != "":
		return "error " + c.Aborted
	case c.Answer().Exception:
		return "exception"
	}
	return "error " + strconv.Itoa(int(c.Answer().Status))
}

// callText returns the method of a call and the name of its error.
func callText(c *call.Call, m *call.Message) string {
	text := m.Service() + "/" + m.Method()
	if isUnknown(m.Service(), m.Method()) {
		text = call.Unknown
	}
	if name := c.ErrorName(); name != "" {
		text += " (" + name + ")"
	}
	return term.Clean(text)
}

// callFields are the columns of CSV: members of a call's record, and errorMessage.
var callFields = []string{
	"connection", "file", "id", "client", "server", "requestFrame", "responseFrame", "protocol", "serialization",
	"responseSerialization", "service", "version", "group", "method", "generic", "parameterTypes", "oneWay", "status",
	"error", "errorMessage", "state", "requestBodyBytes", "responseBodyBytes", "requestFrameBytes",
	"responseFrameBytes", "time", "latencyMicros", "waitMicros", "requestComplete", "responseComplete", "layout",
	"requestMessages", "responseMessages", "encoding", "requestUncompressedBytes", "responseEncoding", "responseUncompressedBytes", "product",
	"requestWireBytes", "responseWireBytes",
}
