package triple

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// statusTexts are gRPC's names of statuses.
var statusTexts = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
	"UNAUTHENTICATED",
}

// StatusText returns gRPC's name of a status, or HTTP's: calls that do not reach gRPC have one of HTTP, which is 100 or more. It is ""
// if there is none.
func StatusText(status int) string {
	if status >= 0 && status < len(statusTexts) {
		return statusTexts[status]
	}
	return http.StatusText(status)
}

// Outcome sets what the headers and trailers of a response's last row tell: Status, Failed, the error's text and, if the details of
// the status have it, the class of the exception; these details have the status, too. plain is set if the response is not gRPC. Its
// status is that of HTTP. So is that of a gRPC response without grpc-status if HTTP's is 400 or more. If the capture lacks the header
// that may be grpc-status, Status is NoStatus.
func (d *Decoder) Outcome(m *rpc.Message, h Heads, plain bool) {
	m.Status, m.Failed = rpc.NoStatus, false
	m.ErrorMessage, m.HasErrorText, m.ExceptionClass, m.ExceptionMessage = "", false, "", ""
	text := h.last(func(h *Head) string { return h.grpcStatus })
	if text == "0" {
		m.Status = 0
		return
	}
	plain = plain || d.contentOf(h).isPlain()
	status, told := number(text)
	details, _ := Base64(h.last(func(h *Head) string { return h.details }))
	ofHTTP, toldHTTP := number(h.last(func(h *Head) string { return h.httpStatus }))
	isError := toldHTTP && ofHTTP >= 400
	switch code := statusCode(details); {
	case told:
		m.Status, m.Failed = status, status != 0
	case code > 0: // where the capture lacks the header
		m.Status, m.Failed = code, true
	case !plain && h.lacksStatus():
		m.Status, m.Failed = unnamedStatus(m, h)
		m.Failed = m.Failed || isError
	case toldHTTP && (plain || isError):
		m.Status, m.Failed = ofHTTP, isError
	}
	if !m.Failed {
		return
	}
	for _, head := range [2]*Head{h.First, h.Last} {
		if head != nil && head.hasMessage {
			m.ErrorMessage, m.HasErrorText = percentDecoded(head.message), true
		}
	}
	if len(details) == 0 {
		return
	}
	for _, detail := range Details(details) {
		switch detail.Type {
		case "google.rpc.DebugInfo":
			if class, message, ok := throwableLine(detail.Text); ok {
				if strings.HasPrefix(m.ErrorMessage, message+"\n") { // the details have a line of it
					message = m.ErrorMessage
				}
				m.ExceptionClass, m.ExceptionMessage = class, message
			}
		case "google.rpc.Status":
			if !m.HasErrorText {
				m.ErrorMessage, m.HasErrorText = detail.Text, true
			}
		}
	}
}

// statusCode returns the code of a google.rpc.Status, 0 if it has none.
func statusCode(status []byte) int32 {
	num, wire, n := protowire.ConsumeTag(status)
	if n < 0 || num != 1 || wire != protowire.VarintType {
		return 0
	}
	code, n := protowire.ConsumeVarint(status[n:])
	if n < 0 || code > 1<<15-1 {
		return 0
	}
	return int32(code)
}

// unnamedStatus returns the status of a response if the capture lacks the name of its header grpc-status. It is an error if the text of
// one comes in place of a message. All peers write the status right before this text, so the header there is the status if its value is
// a status and no other header without a name can be it.
func unnamedStatus(m *rpc.Message, h Heads) (status int32, failed bool) {
	first, last := h.both()
	failed = first.text || last.text
	if m.Ordinal > 0 || m.BodyLen > 0 || m.Body != nil {
		return rpc.NoStatus, false
	}
	if status = max(first.number, last.number); first.numbers+last.numbers != 1 || !failed || status == 0 {
		status = rpc.NoStatus
	}
	return status, failed
}

// jsonMessage returns the message in the body of an error, as Dubbo 3.3 writes it: {"message":"Invoker not found","status":"404"}. It
// must be among the first bytes, which are all that may be kept.
func jsonMessage(b []byte) (text string, ok bool) {
	for s := decode.UTF8(b[:min(len(b), envelopeLen)]); len(s) > 0 && (s[0] == '{' || s[0] == ','); {
		name, rest, ok := quoted(s[1:])
		if !ok || !strings.HasPrefix(rest, ":") {
			break
		}
		if text, s, ok = quoted(rest[1:]); !ok {
			break
		}
		if name == "message" {
			return text, true
		}
	}
	return "", false
}

// Base64 returns the bytes of a header whose name ends in -bin, with or without padding.
func Base64(s string) ([]byte, bool) {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return b, err == nil
}

// Detail is a message in the details of a status.
type Detail struct {
	// Type is the name of the message. Text is its most telling field: the first one that is a text.
	Type, Text string
}

// maxDetails limits the details that are read.
const maxDetails = 64

// Details returns the messages in a google.rpc.Status: first itself, then its details. Bytes that are not such a message have none.
func Details(status []byte) []Detail {
	own := Detail{Type: "google.rpc.Status"}
	all := []Detail{own}
	for len(status) > 0 && len(all) < maxDetails {
		num, wire, n := protowire.ConsumeTag(status)
		if n < 0 {
			return nil
		}
		size := protowire.ConsumeFieldValue(num, wire, status[n:])
		if size < 0 {
			return nil
		}
		content := status[n : n+size]
		status = status[n+size:]
		if wire != protowire.BytesType {
			continue
		}
		content, _ = protowire.ConsumeBytes(content)
		switch num {
		case 2:
			all[0].Text = decode.UTF8(content)
		case 3:
			all = append(all, anyDetail(content))
		}
	}
	return all
}

// anyDetail reads a google.protobuf.Any.
func anyDetail(b []byte) (d Detail) {
	d.Type = "?"
	for len(b) > 0 {
		num, wire, n := protowire.ConsumeTag(b)
		if n < 0 || wire != protowire.BytesType {
			return d
		}
		content, size := protowire.ConsumeBytes(b[n:])
		if size < 0 {
			return d
		}
		b = b[n+size:]
		switch num {
		case 1:
			url := decode.UTF8(content)
			d.Type = url[strings.LastIndexByte(url, '/')+1:]
		case 2:
			d.Text = firstText(content)
		}
	}
	return d
}

// firstText returns the first field of a message that is a text.
func firstText(b []byte) string {
	for len(b) > 0 {
		num, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			return ""
		}
		size := protowire.ConsumeFieldValue(num, wire, b[n:])
		if size < 0 {
			return ""
		}
		if wire == protowire.BytesType {
			content, _ := protowire.ConsumeBytes(b[n : n+size])
			return decode.UTF8(content)
		}
		b = b[n+size:]
	}
	return ""
}

// throwableLine splits the first line of a stack trace as Java prints it: the class of a throwable and its message.
func throwableLine(line string) (class, message string, ok bool) {
	line, _, _ = strings.Cut(line, "\n")
	class, message, _ = strings.Cut(strings.TrimSpace(line), ": ")
	if strings.HasPrefix(class, "at ") || !strings.Contains(class, ".") || !decode.IsClassName(class) {
		return "", "", false
	}
	return class, message, true
}

// number reads the number of a status; ok is false for any other text.
func number(text string) (n int32, ok bool) {
	if text == "200" || text == "" { // usual, and an error that would be allocated
		return 200, text != ""
	}
	status, err := strconv.ParseUint(text, 10, 15)
	return int32(status), err == nil
}
