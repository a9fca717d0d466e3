package report

import (
	"io"
	"strconv"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/term"
)

// CallTable prints calls one row at a time, without their values.
type CallTable struct {
	stream *stream
	inputs []string
}

// NewCallTable prints calls to w as "table", "markdown" or "csv"; inputs are the names of files by index.
func NewCallTable(w io.Writer, format string, s Style, inputs []string) (*CallTable, error) {
	st, err := newStream("calls", w, format, s)
	if err != nil {
		return nil, err
	}
	switch {
	case format == "csv":
		for _, name := range callFields {
			st.columns = append(st.columns, streamColumn{name: name})
		}
	case st.narrow():
		st.columns = []streamColumn{
			{name: "frame", right: true, width: 5},
			{name: "answer", right: true, width: 6},
			{name: "time", right: true, width: 9},
			{name: "conn", right: true, width: 4},
			{name: "id", right: true, width: 4},
			{name: "state", width: 5},
			{name: "request", right: true, width: 7},
			{name: "response", right: true, width: 8},
			{name: "latency", right: true, width: 7},
			{name: "service/method"},
		}
	default:
		st.columns = []streamColumn{
			{name: "frame", right: true, width: 6},
			{name: "answer", right: true, width: 6},
			{name: "time", width: 27},
			{name: "client > server", width: 33},
			{name: "id", right: true, width: 7},
			{name: "state", width: 10},
			{name: "request body bytes", right: true, width: 18},
			{name: "response body bytes", right: true, width: 19},
			{name: "latency", right: true, width: 8},
			{name: "service/method"},
		}
	}
	return &CallTable{stream: st, inputs: inputs}, nil
}

// Row prints one call.
func (t *CallTable) Row(c *call.Call) error {
	s := t.stream
	m := c.Request
	if m == nil {
		m = c.Response
	}
	if !s.begun {
		s.begin("; request, response: body bytes", m.First)
	}
	if s.format == "csv" {
		s.cells = t.flat(s.cells[:0], c, m)
		return s.write()
	}
	s.connection(c.Conn)
	s.cells = append(s.cells[:0],
		frameNumber(c.Request), frameNumber(c.Response), s.time(m.First), s.direction(c.Conn, c.Side),
		strconv.FormatInt(m.Header.ID, 10), stateText(c), bodyBytes(c.Request), bodyBytes(c.Response), "-", callText(c, m))
	if ns, ok := c.Latency(); ok {
		s.cells[8] = formatElapsed(ns, s.style.Exact)
	}
	return s.write()
}

// Close prints what is left.
func (t *CallTable) Close() error {
	if !t.stream.begun && t.stream.format == "csv" {
		t.stream.begin("", 0)
	}
	return t.stream.close()
}

func frameNumber(m *call.Message) string {
	if m == nil {
		return "-"
	}
	return strconv.FormatInt(m.Number, 10)
}

func bodyBytes(m *call.Message) string {
	if m == nil {
		return "-"
	}
	return formatCount(int64(m.Header.BodyLen))
}

// stateText says how a call ended: with "error" the status, or that it was an exception, since a narrow table has no
// room for its name.
func stateText(c *call.Call) string {
	switch {
	case c.State() != call.Failed:
		return c.State().String()
	case c.Response.Exception:
		return "exception"
	}
	return "error " + strconv.Itoa(int(c.Response.Header.Status))
}

// callText is the method that was called, and the name of what went wrong.
func callText(c *call.Call, m *call.Message) string {
	text := m.Service() + "/" + m.Method()
	if isUnknown(m.Service(), m.Method()) {
		text = call.Unknown
	}
	if name := callError(c); name != "" {
		text += " (" + name + ")"
	}
	return term.Clean(text)
}

// callError names what went wrong with a call: a status or an exception's class.
func callError(c *call.Call) string {
	switch m := c.Response; {
	case !c.Failed():
		return ""
	case !m.Exception:
		return statusName(m.Header.Status)
	case m.ExceptionClass != "":
		return m.ExceptionClass
	}
	return "exception"
}

// callFields are the columns of CSV: the fields of a call's record, without its values.
var callFields = []string{
	"connection", "file", "id", "client", "server", "requestFrame", "responseFrame", "protocol", "serialization",
	"responseSerialization", "service", "version", "group", "method", "generic", "parameterTypes", "oneWay", "status",
	"error", "errorMessage", "state", "requestBodyBytes", "responseBodyBytes", "requestFrameBytes",
	"responseFrameBytes", "time", "latencyMicros", "waitMicros",
}

func (t *CallTable) flat(row []string, c *call.Call, m *call.Message) []string {
	req, resp := c.Request, c.Response
	number := func(m *call.Message, of func(*call.Message) int64) string {
		if m == nil {
			return ""
		}
		return strconv.FormatInt(of(m), 10)
	}
	frame := func(m *call.Message) int64 { return m.Number }
	body := func(m *call.Message) int64 { return int64(m.Header.BodyLen) }
	length := func(m *call.Message) int64 { return int64(m.FrameLen()) }
	other := ""
	if req != nil && resp != nil && otherSerialization(req, resp) {
		other = messageSerialization(resp)
	}
	row = append(
		row, strconv.Itoa(c.Conn.Number), nameOf(t.inputs, m.Origin.File), strconv.FormatInt(m.Header.ID, 10),
		c.Client(), c.Server(), number(req, frame), number(resp, frame), "dubbo", messageSerialization(m), other,
	)
	if req != nil && req.Names != nil {
		types := req.Names.Types
		if req.GenericMethod != "" {
			types = req.GenericTypes
		}
		row = append(row, req.Names.Path, req.Names.Version, req.Group, req.Method(),
			strconv.FormatBool(req.GenericMethod != ""), strings.Join(types, ","))
	} else {
		row = append(row, call.Unknown, "", "", call.Unknown, "", "")
	}
	oneWay := ""
	if req != nil {
		oneWay = strconv.FormatBool(!req.Header.TwoWay())
	}
	row = append(row, oneWay)
	if resp != nil {
		message := resp.ErrorMessage
		if message == "" {
			message = resp.ExceptionMessage
		}
		row = append(row, strconv.Itoa(int(resp.Header.Status)), callError(c), message)
	} else {
		row = append(row, "", "", "")
	}
	row = append(row, c.State().String(), number(req, body), number(resp, body), number(req, length), number(resp, length),
		flatTime(m.First))
	for _, f := range []func() (int64, bool){c.Latency, c.Wait} {
		micros := ""
		if ns, ok := f(); ok {
			micros = decimal(float64(ns) / 1000)
		}
		row = append(row, micros)
	}
	return row
}
