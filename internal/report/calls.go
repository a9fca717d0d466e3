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
		s.begin("; request, response: body bytes", m.FirstTime)
	}
	if s.format == "csv" {
		s.cells = t.flat(s.cells[:0], c, m)
		return s.write()
	}
	s.connection(c.Conn)
	s.cells = append(s.cells[:0],
		frameNumber(c.Request), frameNumber(c.Response), s.time(m.FirstTime), s.direction(c.Conn, c.Side),
		m.ID(), stateText(c), bodyBytes(c.Request), bodyBytes(c.Response), "-", callText(c, m))
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
	return formatCount(m.BodyBytes())
}

// stateText says how a call ended: with "error" the status, or that it was an exception, since a narrow table has no
// room for its name.
func stateText(c *call.Call) string {
	switch {
	case c.State() != call.Failed:
		return c.State().String()
	case c.Aborted != "":
		return "error " + c.Aborted
	case c.Answer().Exception:
		return "exception"
	}
	return "error " + strconv.Itoa(int(c.Answer().Status))
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
	switch m := c.Answer(); {
	case !c.Failed():
		return ""
	case c.Aborted != "":
		return c.Aborted
	case !m.Exception:
		return m.StatusName()
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
	body := func(m *call.Message) int64 { return m.BodyBytes() }
	length := func(m *call.Message) int64 { return m.FrameBytes() }
	other := ""
	if req != nil && resp != nil && otherSerialization(req, resp) {
		other = resp.SerializationName()
	}
	row = append(
		row, strconv.Itoa(c.Conn.Number), nameOf(t.inputs, m.Last.File), m.ID(),
		c.Client(), c.Server(), number(req, frame), number(resp, frame), m.Protocol.Name, m.SerializationName(), other,
	)
	if req != nil && req.Operation != nil {
		types := req.Operation.Types
		if req.GenericMethod != "" {
			types = req.GenericTypes
		}
		row = append(row, req.Operation.Service, req.Operation.Version, req.Group, req.Method(),
			strconv.FormatBool(req.GenericMethod != ""), strings.Join(types, ","))
	} else {
		row = append(row, call.Unknown, "", "", call.Unknown, "", "")
	}
	oneWay := ""
	if req != nil {
		oneWay = strconv.FormatBool(!req.TwoWay)
	}
	row = append(row, oneWay)
	if last := c.Answer(); last != nil {
		message := last.ErrorMessage
		if message == "" {
			message = last.ExceptionMessage
		}
		row = append(row, strconv.Itoa(int(last.Status)), callError(c), message)
	} else {
		row = append(row, "", callError(c), "")
	}
	row = append(row, c.State().String(), number(req, body), number(resp, body), number(req, length), number(resp, length),
		flatTime(m.FirstTime))
	for _, f := range []func() (int64, bool){c.Latency, c.Wait} {
		micros := ""
		if ns, ok := f(); ok {
			micros = decimal(float64(ns) / 1000)
		}
		row = append(row, micros)
	}
	return row
}
