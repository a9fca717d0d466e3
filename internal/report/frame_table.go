package report

import (
	"cmp"
	"io"
	"strconv"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/term"
)

// FrameTable prints frames row by row.
type FrameTable struct {
	*stream
	records Frames // for CSV
}

// NewFrameTable returns a table that prints frames to w as "table", "markdown" or "csv"; inputs are the names of files by index.
func NewFrameTable(w io.Writer, format string, s Style, inputs []string) (*FrameTable, error) {
	st, err := newStream("frames", w, format, s, frameFields, frameColumns)
	if err != nil {
		return nil, err
	}
	st.note = "; body: bytes"
	return &FrameTable{stream: st, records: Frames{Inputs: inputs}}, nil
}

var frameColumns = []streamColumn{
	{name: "frame", right: true, width: 6, narrow: &streamColumn{name: "frame", right: true, width: 5}},
	{name: "time", width: 27, narrow: &streamColumn{name: "time", right: true, width: 9}},
	{name: "src > dst", width: 33, narrow: &streamColumn{name: "conn", right: true, width: 4}},
	{name: "kind", width: 9, narrow: &streamColumn{name: "kind", width: 8}},
	{name: "id", right: true, width: 7, narrow: &streamColumn{name: "id", right: true, width: 5, most: 8}},
	{name: "serialization", width: 13, narrow: &streamColumn{name: "serial.", width: 8, most: 14}},
	{name: "status", right: true, width: 6, narrow: &streamColumn{name: "status", right: true, width: 2}},
	{name: "body bytes", right: true, width: 10, narrow: &streamColumn{name: "body", right: true, width: 7}},
	{name: "service/method, or result", narrow: &streamColumn{name: "method or result"}},
}

// Row prints one frame.
func (t *FrameTable) Row(r *pipeline.Row) error {
	s, m := t.stream, r.Msg
	if !s.begun {
		s.begin(m.Last.Time)
	}
	if s.format == "csv" {
		f := s.csvRecord()
		t.records.first(f, r)
		t.records.appendRest(f, r)
		return s.write()
	}
	s.connection(r.Conn)
	status := ""
	if !m.Request && m.Status >= 0 {
		status = strconv.Itoa(int(m.Status))
	}
	serialization := "-"
	if !m.NoBody() {
		serialization = m.SerializationName()
	}
	s.cells = append(
		s.cells[:0], strconv.FormatInt(r.Number, 10), s.time(m.Last.Time), s.direction(r.Conn, r.Side),
		m.Kind.String(), m.ID(), serialization, status,
		Count(int64(m.BodyLen)), frameText(r),
	)
	return s.write()
}

// frameText returns the method that a frame calls, or the result that it carries.
func frameText(r *pipeline.Row) string {
	m := r.Msg
	var parts []string
	if !m.Complete {
		parts = append(parts, "(incomplete: "+Count(int64(m.Captured))+" bytes captured)")
	}
	switch {
	case m.Kind.Control():
	case m.Kind == rpc.Request:
		name := "?"
		if n := m.Operation; n != nil {
			name = n.Service + "/" + n.Method
		}
		parts = append([]string{name}, parts...)
		if m.GenericMethod != "" {
			parts = append(parts, "("+m.GenericMethod+")")
		}
		if !m.TwoWay {
			parts = append(parts, "(one-way)")
		}
	case m.Failed:
		parts = append(parts, errorLine(m.StatusName(), m.ErrorMessage))
	case m.Exception:
		parts = append(parts, errorLine(cmp.Or(m.ExceptionClass, "exception"), m.ExceptionMessage))
	case m.ResultKind == 1 || m.ResultKind == 4:
		parts = append(parts, "value")
	case m.ResultKind == 2 || m.ResultKind == 5:
		parts = append(parts, "null")
	}
	if m.Err != nil && m.Complete && m.Err.Cause != decode.Unsupported {
		parts = append(parts, "("+m.Err.Cause.String()+" at "+Count(int64(m.HeaderLen)+int64(m.Err.At))+")")
	}
	return term.Clean(strings.Join(parts, " "))
}

// errorLine returns a name and the first line of a message.
func errorLine(name, message string) string {
	message, _, _ = strings.Cut(strings.TrimSpace(message), "\n")
	if message == "" {
		return name
	}
	return name + ": " + strings.TrimRight(message, "\r")
}

// frameFields are the columns of CSV, which are members of a frame's record.
var frameFields = []string{
	"frame", "file", "time", "connection", "src", "dst", "protocol", "kind", "twoWay", "id", "serialization",
	"serializationId", "status", "statusText", "headerBytes", "bodyBytes", "complete", "foundByResync", "firstPacket",
	"lastPacket", "dubboVersion", "service", "version", "group", "method", "parameterTypes", "resultKind",
	"exceptionClass", "errorMessage", "decoded", "undecodedAt", "cause", "error", "layout", "message", "encoding", "uncompressedBytes", "stalledMicros", "product",
}
