package triple

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"dubbo-wire/internal/rpc"
)

// Use is what a stream is used for.
type Use uint8

const (
	// Plain is HTTP/2 without gRPC.
	Plain Use = iota
	// GRPC is gRPC of any peer.
	GRPC
	// Triple is gRPC as Dubbo speaks it.
	Triple
)

// grpcType is the content type of gRPC; a plus sign and the name of a serialization may follow.
const grpcType = "application/grpc"

func isGRPC(contentType string) bool {
	rest, ok := strings.CutPrefix(contentType, grpcType)
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';' || rest[0] == ' ')
}

// Attachments are the headers that Dubbo's peers add themselves.
var Attachments = rpc.Attachments{
	Request:  []string{"timeout", "generic", "async", "_TO", "dubbo", "interface", "path", "remote.application", "tri-*", "consumer-url"},
	Response: []string{"dubbo", "tri-*"},
	Timeout:  []string{"grpc-timeout", "tri-service-timeout", "timeout"},

	ParseTimeout: parseTimeout,
}

// carriers says which headers carry no attachment.
type carriers uint8

const (
	inNone     carriers = 1 + iota // headers of HTTP and gRPC, and those that Dubbo does not hand to applications
	inRequests                     // headers that servers add to responses
)

// notAttachments are the headers that carry no attachment, at least in responses.
var notAttachments = map[string]carriers{
	"te": inNone, "content-type": inNone, "content-length": inNone, "content-encoding": inNone, "transfer-encoding": inNone, "connection": inNone,
	"accept": inNone, "accept-encoding": inNone, "host": inNone, "user-agent": inNone, "http-status": inNone,
	"upgrade": inNone, "http2-settings": inNone, "expect": inNone,
	"group": inNone, "interface": inNone, "path": inNone, "remote.application": inNone, "application": inNone, "serialization": inNone,
	"rest-service-version": inNone, "rest-service-group": inNone,
	"tri-consumer-appname": inNone, "tri-service-version": inNone, "tri-service-group": inNone, "tri-service-timeout": inNone,
	"tri-header-convert": inNone, "tri-exception-code": inNone,
	"cache-control": inRequests, "date": inRequests, "server": inRequests, "trailer": inRequests, "alt-svc": inRequests, "via": inRequests, "vary": inRequests,
}

// The ends of the names of headers with bytes, as base64: the second one, which an option of Dubbo 3.0.0 to 3.0.2 writes, are a wrapper with a value.
const (
	binary  = "-bin"
	wrapped = "-tw" + binary
)

// hessianAttachment begins the names of the headers in which Dubbo's consumers of Hessian over HTTP send attachments.
const hessianAttachment = "header"

// markAttachments sets Key of the headers of m that carry attachments. Headers are in lower case; tri-header-convert has the original
// keys.
func markAttachments(m *rpc.Message, ofHessian bool) {
	var original map[string]string
	headers := m.Headers
	for i := range headers {
		h := &headers[i]
		h.Key = ""
		if h.Name == "" || h.Name[0] == ':' || strings.HasPrefix(h.Name, "grpc-") {
			continue
		}
		if c := notAttachments[h.Name]; c == inNone || c == inRequests && m.Kind == rpc.Response {
			if h.Name == "tri-header-convert" && !h.Unknown {
				original = convertedKeys(original, h.Value)
			}
			continue
		}
		h.Key = h.Name
		if key, ok := strings.CutPrefix(h.Name, hessianAttachment); ok && key != "" && ofHessian {
			h.Key = key
			continue
		}
		for _, end := range [...]string{wrapped, binary} {
			if key, ok := strings.CutSuffix(h.Name, end); ok && key != "" {
				h.Key = key
				break
			}
		}
	}
	if original == nil {
		return
	}
	for i := range headers {
		if key, ok := original[headers[i].Key]; ok && headers[i].Key != "" && strings.EqualFold(key, headers[i].Key) {
			headers[i].Key = key
		}
	}
}

// convertedKeys adds the keys that a header tri-header-convert has: a JSON object, percent-encoded, of texts.
func convertedKeys(keys map[string]string, value string) map[string]string {
	text := percentDecoded(value)
	for len(text) > 1 {
		key, rest, ok := quoted(text[1:]) // after { or a comma
		if !ok || !strings.HasPrefix(rest, ":") {
			break
		}
		own, rest, ok := quoted(rest[1:])
		if !ok {
			break
		}
		if keys == nil {
			keys = make(map[string]string)
		}
		keys[key] = own
		text = rest
		if !strings.HasPrefix(text, ",") {
			break
		}
	}
	return keys
}

// quoted takes a JSON text at the start of s.
func quoted(s string) (text, rest string, ok bool) {
	s = strings.TrimLeft(s, " ")
	end := 1
	for end < len(s) && s[end] != '"' {
		if s[end] == '\\' {
			end++
		}
		end++
	}
	if len(s) == 0 || s[0] != '"' || end >= len(s) {
		return "", "", false
	}
	text = s[1:end]
	if strings.Contains(text, `\`) {
		if unquoted, err := strconv.Unquote(s[:end+1]); err == nil {
			text = unquoted
		}
	}
	return text, strings.TrimLeft(s[end+1:], " "), true
}

// percentDecoded returns a text without its percent-encoding, as grpc-message has it. A % without two digits stands for itself.
func percentDecoded(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(v))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	if !utf8.Valid(b) {
		return strings.ToValidUTF8(string(b), "\ufffd")
	}
	return string(b)
}

// units are the units of grpc-timeout, in nanoseconds.
const units = "numSMH"

var nanos = [...]int64{1, 1e3, 1e6, 1e9, 60e9, 3600e9}

// parseTimeout reads grpc-timeout: a number and its unit, rounded up to milliseconds.
func parseTimeout(name, text string) (millis int64, ok bool) {
	if name != "grpc-timeout" || len(text) < 2 {
		return 0, false
	}
	unit := strings.IndexByte(units, text[len(text)-1])
	n, err := strconv.ParseInt(text[:len(text)-1], 10, 64)
	if unit < 0 || err != nil || n <= 0 || n > math.MaxInt64/nanos[unit] {
		return 0, false
	}
	millis = n * nanos[unit] / 1e6
	if millis*1e6 < n*nanos[unit] {
		millis++ // no response is late within a part of a millisecond
	}
	return millis, true
}
