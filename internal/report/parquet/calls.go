// Package parquet writes calls, and what is known of their capture, as Parquet: a row a call, for engines such as DuckDB, ClickHouse and Spark.
//
// [Calls] takes calls whose link bytes are final, in any order; [WriteCoverage] takes a report. The columns of both tables are lists here, from which
// docs/parquet.md is made. Integers are signed and times are microseconds, because engines differ in what they make of others. A writer holds one
// row group; what it writes to belongs to the caller.
package parquet

import (
	"io"
	"net/netip"

	"github.com/parquet-go/parquet-go"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// CallsSchema is the name and version of the table of calls, in the metadata of a file.
const CallsSchema = "dubbo-wire/calls/1"

// Calls writes a row for each call.
type Calls struct {
	*table[row]
	inputs []string
	node   string
	row    row
	ends   map[string]end
}

// row is a call whose columns are read.
type row struct {
	*call.Call
	first  *call.Message // the request, or the response of a call without one
	file   string
	node   string
	client end
	server end
}

// end is an address of a call.
type end struct {
	ip   string
	port int64
}

// NewCalls begins a file that is written to w. inputs are the names of the captures, node that of the machine that captured, "" if it is not known.
func NewCalls(w io.Writer, inputs []string, node string) *Calls {
	return &Calls{table: newTable(w, CallsSchema, callColumns), inputs: inputs, node: node, ends: map[string]end{}}
}

// Row adds a call.
func (t *Calls) Row(c *call.Call) error {
	t.row = row{Call: c, first: c.Request, node: t.node, client: t.end(c.Client()), server: t.end(c.Server())}
	if t.row.first == nil {
		t.row.first = c.Response
	}
	if i := int(t.row.first.File); i < len(t.inputs) {
		t.row.file = t.inputs[i]
	}
	return t.add(&t.row)
}

// maxEnds is the number of addresses that are kept apart into their parts.
const maxEnds = 1 << 12

func (t *Calls) end(address string) end {
	e, ok := t.ends[address]
	if !ok {
		if at, err := netip.ParseAddrPort(address); err == nil {
			e = end{at.Addr().Unmap().String(), int64(at.Port())}
		} else {
			e = end{ip: address, port: -1}
		}
		if len(t.ends) == maxEnds {
			clear(t.ends)
		}
		t.ends[address] = e
	}
	return e
}

// callColumns are the columns of the table of calls.
var callColumns = []column[row]{
	{"time", "UTC", "of the first byte of the request, or of the response of a call without one", instant, func(r *row) value { return integer(r.first.FirstTime / 1000) }},
	{"host", "", "the machine that captured (`--node`)", text, func(r *row) value { return optional(r.node) }},
	{"side", "", "what that machine was in the call: client, server, both, none; null if its addresses are not known (`--self`)", text, func(r *row) value { return side(r) }},
	{"file", "", "the input, as it was given", text, func(r *row) value { return optional(r.file) }},
	{"connection", "", "the number of the connection in the run, from 1", count, func(r *row) value { return integer(int64(r.Conn.Number)) }},
	{"id", "", "pairs request and response within a connection: Dubbo's request id, a stream of HTTP/2, the ordinal in HTTP/1", number, func(r *row) value { return integer(int64(r.first.Exchange)) }},
	{"client_ip", "", "who sent the request; IPv4 in IPv6 is IPv4", text, func(r *row) value { return optional(r.client.ip) }},
	{"client_port", "", "", number, func(r *row) value { return positive(r.client.port) }},
	{"server_ip", "", "who answers", text, func(r *row) value { return optional(r.server.ip) }},
	{"server_port", "", "", number, func(r *row) value { return positive(r.server.port) }},
	{"request_frame", "", "the number of its first message in the capture, from 1; null if the capture has none", count, func(r *row) value { return frame(r.Request) }},
	{"response_frame", "", "", count, func(r *row) value { return frame(r.Response) }},
	{"protocol", "", "dubbo, triple, grpc, rest, http, hessian, thrift, nativethrift", text, func(r *row) value { return stringOf(r.first.Protocol.Name) }},
	{"serialization", "", "that of the request, or of the response of a call without one; `?` if it is not known", text, func(r *row) value { return stringOf(r.first.SerializationName()) }},
	{"response_serialization", "", "that of the response", text, func(r *row) value { return ofMessage(r.Response, (*call.Message).SerializationName) }},
	{"service", "", "`?` if it is not known", text, func(r *row) value { return service(r) }},
	{"version", "", "that of the service", text, func(r *row) value { return ofOperation(r, func(o *rpc.Operation) string { return o.Version }) }},
	{"service_group", "", "the group of the service", text, func(r *row) value { return ofMessage(r.Request, func(m *call.Message) string { return m.Group }) }},
	{"method", "", "that of a generic call is the one that it invokes; `?` if it is not known", text, func(r *row) value { return stringOf(method(r)) }},
	{"state", "", "ok, error, noResponse, noRequest, oneWay", text, func(r *row) value { return stringOf(r.State().String()) }},
	{"outcome", "", "of the response: ok, other (in another serialization than the request), error; null if the capture has none", text, func(r *row) value { return outcome(r) }},
	{"status", "", "that of the protocol: Dubbo's, gRPC's, HTTP's", number, func(r *row) value { return status(r) }},
	{"error", "", "of a failed call, with or without a request: the name of its status, the class of its exception, or why it was reset; null for others", text, func(r *row) value { return optional(r.ErrorName()) }},
	{"exception_class", "", "the class of the exception, as far as it was read", text, func(r *row) value {
		return ofMessage(r.Answer(), func(m *call.Message) string { return m.ExceptionClass })
	}},
	{"one_way", "", "the request expects no response; null if the capture has none", boolean, func(r *row) value { return oneWay(r.Request) }},
	{"dubbo_version", "", "the version of the protocol that the caller sends", text, func(r *row) value { return ofOperation(r, func(o *rpc.Operation) string { return o.ProtocolVersion }) }},
	{"request_encoding", "", "the compression of the body", text, func(r *row) value { return ofMessage(r.Request, (*call.Message).Compression) }},
	{"response_encoding", "", "", text, func(r *row) value { return ofMessage(r.Response, (*call.Message).Compression) }},
	{"product", "", "what the server of a call of HTTP says it is, or `--product`", text, func(r *row) value { return optional(r.Product()) }},
	{"request_messages", "", "1, or more in a streaming call; 0 if the capture has none", number, func(r *row) value { return integer(int64(r.Request.Count())) }},
	{"response_messages", "", "", number, func(r *row) value { return integer(int64(r.Response.Count())) }},
	{"request_complete", "", "the capture has every byte of it; null if it has none", boolean, func(r *row) value { return complete(r.Request) }},
	{"response_complete", "", "", boolean, func(r *row) value { return complete(r.Response) }},
	{"request_body_bytes", "bytes", "announced; the sum over the messages of a streaming call", number, func(r *row) value { return bytesOf(r.Request, (*call.Message).BodyBytes) }},
	{"response_body_bytes", "bytes", "", number, func(r *row) value { return bytesOf(r.Response, (*call.Message).BodyBytes) }},
	{"request_frame_bytes", "bytes", "with the header of the protocol", number, func(r *row) value { return bytesOf(r.Request, (*call.Message).FrameBytes) }},
	{"response_frame_bytes", "bytes", "", number, func(r *row) value { return bytesOf(r.Response, (*call.Message).FrameBytes) }},
	{"request_wire_bytes", "bytes", "link bytes, with headers of packets and retransmissions; null if calls of more than 64 MiB waited for them", number, func(r *row) value { return bytesOf(r.Request, r.WireBytes) }},
	{"response_wire_bytes", "bytes", "", number, func(r *row) value { return bytesOf(r.Response, r.WireBytes) }},
	{"latency_micros", "microseconds", "from the first byte of the request to the last one of the response; null if one of them is missing, or the last message of the response is incomplete", decimal, func(r *row) value { return micros(r.Latency()) }},
	{"wait_micros", "microseconds", "from the last byte of the request to the first one of the response, negative if that is earlier; null if one of them is missing, or the last message of the request is incomplete", decimal, func(r *row) value { return micros(r.Wait()) }},
	{"request_values_bytes", "bytes", "of the captured body: what the application passed", number, func(r *row) value { return part(r.Request, decode.ClassValues) }},
	{"request_names_bytes", "bytes", "names of classes and fields", number, func(r *row) value { return part(r.Request, decode.ClassNames) }},
	{"request_attachments_bytes", "bytes", "attachments in the body", number, func(r *row) value { return part(r.Request, decode.ClassAttachments) }},
	{"request_envelope_bytes", "bytes", "service, method, types, the kind of the result", number, func(r *row) value { return part(r.Request, decode.ClassEnvelope) }},
	{"request_overhead_bytes", "bytes", "lengths, references, marks of types", number, func(r *row) value { return part(r.Request, decode.ClassOverhead) }},
	{"request_opaque_bytes", "bytes", "not decoded", number, func(r *row) value { return part(r.Request, decode.ClassOpaque) }},
	{"request_compressed_bytes", "bytes", "of a compressed body, in which the other classes are 0", number, func(r *row) value { return part(r.Request, decode.ClassCompressed) }},
	{"response_values_bytes", "bytes", "", number, func(r *row) value { return part(r.Response, decode.ClassValues) }},
	{"response_names_bytes", "bytes", "", number, func(r *row) value { return part(r.Response, decode.ClassNames) }},
	{"response_attachments_bytes", "bytes", "", number, func(r *row) value { return part(r.Response, decode.ClassAttachments) }},
	{"response_envelope_bytes", "bytes", "", number, func(r *row) value { return part(r.Response, decode.ClassEnvelope) }},
	{"response_overhead_bytes", "bytes", "", number, func(r *row) value { return part(r.Response, decode.ClassOverhead) }},
	{"response_opaque_bytes", "bytes", "", number, func(r *row) value { return part(r.Response, decode.ClassOpaque) }},
	{"response_compressed_bytes", "bytes", "", number, func(r *row) value { return part(r.Response, decode.ClassCompressed) }},
}

func side(r *row) value {
	if s := r.MachineSide(); s != call.Unknown {
		return stringOf(s)
	}
	return null
}

func frame(m *call.Message) value {
	if m == nil {
		return null
	}
	return integer(m.Number)
}

// ofMessage returns a text of a message, null without a message or without a text.
func ofMessage(m *call.Message, of func(*call.Message) string) value {
	if m == nil {
		return null
	}
	return optional(of(m))
}

func ofOperation(r *row, of func(*rpc.Operation) string) value {
	if r.Request == nil || r.Request.Operation == nil {
		return null
	}
	return optional(of(r.Request.Operation))
}

// service returns the service, null where the request has a null.
func service(r *row) value {
	switch {
	case r.Request == nil || r.Request.Operation == nil:
		return stringOf(call.Unknown)
	case r.Request.Operation.ServiceNull:
		return null
	}
	return stringOf(r.Request.Service())
}

func method(r *row) string {
	if r.Request == nil {
		return call.Unknown
	}
	return r.Request.Method()
}

func outcome(r *row) value {
	if r.Response == nil {
		return null
	}
	return stringOf(call.Outcomes[r.Outcome()])
}

func status(r *row) value {
	m := r.Answer()
	if m == nil || r.Aborted != "" || m.Status < 0 {
		return null
	}
	return integer(int64(m.Status))
}

func oneWay(m *call.Message) value {
	if m == nil {
		return null
	}
	return truthOf(!m.TwoWay)
}

func complete(m *call.Message) value {
	if m == nil {
		return null
	}
	return truthOf(!m.Incomplete())
}

// bytesOf returns bytes of a message, null if there is none.
func bytesOf(m *call.Message, of func(*call.Message) int64) value {
	if m == nil {
		return null
	}
	return positive(of(m))
}

// micros returns nanoseconds as microseconds, null if they are not known.
func micros(ns int64, ok bool) value {
	if !ok {
		return null
	}
	return parquet.DoubleValue(float64(ns) / 1000)
}

// part returns the bytes of a class in all messages from m on.
func part(m *call.Message, class decode.Class) value {
	if m == nil {
		return null
	}
	return integer(m.PartBytes(class))
}
