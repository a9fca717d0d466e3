package triple

import (
	"encoding/base64"
	"net/netip"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// Headers of a redacted copy. A text has an alphabet if it can be replaced only character by character: alike returns the characters
// that may replace one, among them itself. It is nil if the text may become any text of its length.

// stay are the headers whose values say what is called and how it is written.
var stay = map[string]bool{
	":method": true, ":scheme": true, ":status": true, "content-type": true, "content-length": true, "content-encoding": true,
	"te": true, "trailer": true, "transfer-encoding": true, "connection": true, "accept": true, "accept-encoding": true,
	"user-agent": true, "server": true, "grpc-encoding": true, "grpc-accept-encoding": true, "grpc-status": true, "grpc-timeout": true,
	"tri-service-timeout": true, "tri-exception-code": true, "http-status": true, "upgrade": true, "http2-settings": true, "expect": true,
}

// named are headers whose values stay if they can be what an attachment of that name has.
var named = map[string]string{
	"tri-service-version": "version", "tri-service-group": "group", "rest-service-version": "version", "rest-service-group": "group",
	"version": "version", "group": "group", "interface": "interface", "path": "path", "dubbo": "dubbo",
}

// ScrubHeaderName replaces the name of a header if it cannot be one.
func ScrubHeaderName(name []byte, alike func(byte) string, r decode.Mapper) {
	for i, c := range name {
		if !inKey(c) && !(c == ':' && i == 0) {
			scrubText(name, alike, r)
			return
		}
	}
}

// inKey reports whether a key of an attachment, and so the name of a header, may have c: RFC 9110 allows more.
func inKey(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '$' || c == '/'
}

// Callee is what the headers of a call say besides the names of a service and a method. Plain is set for calls without gRPC: their host, and
// the resource in their path, are what is called. Template is the path in the name of the method if the user gave it, or else that of a
// resource; "" if it is not known.
type Callee struct {
	Plain    bool
	Template string
}

// CalleeOf returns what the headers of a call of op say; plain is set if they are not those of gRPC, whatever op is.
func CalleeOf(op *rpc.Operation, plain bool) Callee {
	if !OnResource(op) { // the path of a request whose body has the method names a service, as it does with gRPC
		return Callee{Plain: plain && (op == nil || op.ContentType == "")}
	}
	_, template, _ := strings.Cut(op.Method, " ")
	return Callee{true, template}
}

// ScrubHeaderValue replaces the value of the header with that name, "" if the name is not known, unless it says what is called.
func ScrubHeaderValue(name string, value []byte, of Callee, alike func(byte) string, r decode.Mapper) {
	text := string(value)
	switch {
	case headerStays(name, text):
	case namesHost(name, text, of) && addressLen(text) > 0:
		scrubAddress(value[:addressLen(text)], r)
	case namesHost(name, text, of) && of.Plain && isHostName(text):
	case name == ":path" && of.Plain && !isPath(text): // of an unusual scheme, or of none
		scrubText(value, alike, r)
	case name == ":path":
		path, _, _ := strings.Cut(text, "?")
		scrubPath(value, of.Template, of.Template != "" || of.Plain && !namesInterface(path), alike, r)
	case name == "grpc-message":
		scrubPercent(value, alike, r)
	case name == "grpc-status-details-bin":
		scrubDetails(value, alike, r)
	case strings.HasSuffix(name, binary):
		scrubBase64(value, nil, alike, r)
	case isInteger(text):
		scrubInteger(value, alike, r)
	default:
		scrubText(value, alike, r)
	}
}

// headerStays reports whether redaction keeps the value of a header, other than :path. A number of one or two digits in a header whose
// name is not known may be the status.
func headerStays(name, value string) bool {
	if name == "" && len(value) <= len("16") && isInteger(value) {
		return true
	}
	key := named[name]
	return stay[name] || key != "" && (value == "" || decode.NamesCallee(key, value)) || value == "true" || value == "false" ||
		name == "tri-header-convert" && areKeys(percentDecoded(value))
}

// scrubText replaces a whole text.
func scrubText(text []byte, alike func(byte) string, r decode.Mapper) {
	switch {
	case alike != nil:
		r.Alike(text, func(_ int, c byte) string { return alike(c) })
	case !r.UTF8(text):
		r.Bytes(text)
	}
}

func isInteger(text string) bool {
	text = strings.TrimPrefix(text, "-")
	return text != "" && len(text) < 20 && strings.Trim(text, "0123456789") == ""
}

// scrubInteger replaces the digits of an integer.
func scrubInteger(text []byte, alike func(byte) string, r decode.Mapper) {
	if alike == nil {
		r.Digits(text)
		return
	}
	r.Alike(text, func(i int, c byte) string {
		of := alike(c)
		if (i == 0 || text[0] == '-' && i == 1) && c != '0' {
			of = strings.TrimPrefix(of, "0")
		}
		return of
	})
}

// namesHost reports whether a header has the host and the port that are called. The target of CONNECT does, too (RFC 9112, section 3.2.3).
func namesHost(name, value string, of Callee) bool {
	return name == ":authority" || name == "host" || name == ":path" && of.Plain && !isPath(value) && strings.Contains(value, ":")
}

// isPath reports whether a target is a path, or asks about the server as a whole.
func isPath(target string) bool { return strings.HasPrefix(target, "/") || target == "*" }

// addressLen returns the length of the IP address that an authority begins with, 0 if it is not an address with or without a port.
func addressLen(authority string) int {
	host := authority
	if _, err := netip.ParseAddrPort(authority); err == nil {
		host = authority[:strings.LastIndexByte(authority, ':')]
	}
	if addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")); err != nil || addr.Zone() != "" {
		return 0
	}
	return len(host)
}

// addressDigits are the digits of addresses that have as many bits in Huffman's code.
var addressDigits = []string{"012", "3456789", "ace", "bdf", "BCDEF"}

// scrubAddress replaces the digits of an IP address. In any code an address becomes the same one, and no two become the same, so that
// calls to a host stay together and apart from those to other hosts.
func scrubAddress(text []byte, r decode.Mapper) {
	const many = 1 << 58 // ways to write the digits of a part
	var places [64]struct {
		at int
		of string
	}
	for at := 0; at < len(text); {
		number, count, n := int64(0), int64(1), 0
		for ; at < len(text) && count < many; at++ {
			for _, of := range addressDigits {
				if digit := strings.IndexByte(of, text[at]); digit >= 0 {
					places[n].at, places[n].of = at, of
					n++
					number, count = number*int64(len(of))+int64(digit), count*int64(len(of))
				}
			}
		}
		number = r.Within(number, 0, count-1)
		for n--; n >= 0; n-- {
			of := places[n].of
			text[places[n].at] = of[number%int64(len(of))]
			number /= int64(len(of))
		}
	}
}

// isHostName reports whether an authority is the name of a host, not an address, with or without a port.
func isHostName(authority string) bool {
	host, _, _ := strings.Cut(authority, ":")
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	return host != "" && strings.IndexFunc(host, func(c rune) bool { return c >= utf8.RuneSelf || !inKey(byte(c)) }) < 0 &&
		strings.Trim(authority[len(host):], ":0123456789") == ""
}

// scrubPath replaces what follows the path in a target, and segments that no name is like; those that are ids if the path is that of
// a resource, or have a name in its template.
func scrubPath(path []byte, template string, ofResource bool, alike func(byte) string, r decode.Mapper) {
	end := len(path)
	if at := strings.IndexByte(string(path), '?'); at >= 0 {
		scrubText(path[at+1:], alike, r)
		end = at
	}
	for from := 0; from < end; {
		to := from + segmentLen(path[from:end])
		segment := path[from:to]
		name := segment[:nameLen(segment)]
		isValue := ofResource && isID(name)
		if template != "" {
			place := template[:segmentLen(template)]
			isRest := place == "**" || strings.HasSuffix(place, "...}")
			if isValue = isValue || isRest || strings.HasPrefix(place, "{"); !isRest {
				template = strings.TrimPrefix(template[len(place):], "/")
			}
		}
		switch values := segment[len(name):]; {
		case ofResource && !isValue:
			scrubID(values, alike, r)
		case isValue && (alike != nil || decode.IsASCII(segment)):
			scrubID(name, alike, r)
			scrubID(values, alike, r)
		case isValue || !decode.CanBeName(string(segment)):
			scrubText(segment, alike, r)
			for i, c := range segment {
				if c == '/' || c == '?' {
					segment[i] = 'x'
				}
			}
		}
		from = to + 1
	}
}

// scrubID replaces the letters and digits of an id, so that it stays an id: hexadecimal digits by such ones, other letters by those of no name.
func scrubID(text []byte, alike func(byte) string, r decode.Mapper) {
	var s shape
	for _, c := range text {
		s.add(c)
	}
	isHex := s.isUUID(len(text)) || s.isHash()
	r.Alike(text, func(i int, c byte) string {
		lower := c | 0x20
		switch isLetter := lower >= 'a' && lower <= 'z'; {
		case i == 0 && c == '0':
			return "" // 0x7f is an id, 2fa is not
		case isHex && isLetter:
			for _, of := range addressDigits {
				if strings.IndexByte(of, c) >= 0 {
					return of
				}
			}
			return ""
		case alike != nil && !isLetter:
			return alike(c)
		case alike != nil:
			return strings.Map(func(c rune) rune {
				if strings.ContainsRune("aeiouyhvx", c|0x20) {
					return -1
				}
				return c
			}, alike(c))
		case c >= '0' && c <= '9':
			return "0123456789"
		case isLetter && c == lower:
			return "gjkpqwz"
		case isLetter:
			return "GJKPQWZ"
		}
		return ""
	})
}

// areKeys reports whether a text is a JSON object of keys.
func areKeys(text string) bool {
	return strings.HasPrefix(text, "{") && strings.IndexFunc(text, func(c rune) bool {
		return c >= utf8.RuneSelf || !inKey(byte(c)) && !strings.ContainsRune(`{}":, `, c)
	}) < 0
}

// scrubPercent replaces a text with percent-encoding.
func scrubPercent(text []byte, alike func(byte) string, r decode.Mapper) {
	const hex = "0123456789abcdef"
	digit := func(c byte) int { return strings.IndexByte(hex, c|0x20) }
	var plain []byte
	var places []int
	for i := 0; i < len(text); i++ {
		if c := text[i]; c == '%' && i+2 < len(text) && digit(text[i+1]) >= 0 && digit(text[i+2]) >= 0 {
			plain = append(plain, byte(digit(text[i+1])<<4|digit(text[i+2])))
			places = append(places, i)
			i += 2
		} else {
			plain = append(plain, c)
			places = append(places, i)
		}
	}
	if alike != nil || len(plain) == len(text) || !utf8.Valid(plain) {
		scrubText(text, alike, r)
		return
	}
	scrubText(plain, nil, r)
	for i, c := range plain {
		at := places[i]
		if text[at] == '%' && at+2 < len(text) && (i+1 == len(places) && at+3 == len(text) || i+1 < len(places) && places[i+1] == at+3) {
			const digits = "0123456789ABCDEF"
			text[at+1], text[at+2] = digits[c>>4], digits[c&15]
		} else {
			text[at] = c
		}
	}
}

// alphabet64 are the characters of base64 with those of URLs.
const alphabet64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// scrubBase64 replaces bytes in base64, except those that stay. A character stays if it has a bit of such a byte.
func scrubBase64(text []byte, stays []bool, alike func(byte) string, r decode.Mapper) {
	r.Alike(text, func(i int, c byte) string {
		if strings.IndexByte(alphabet64, c) < 0 && c != '-' && c != '_' {
			if c == '=' || alike == nil {
				return ""
			}
			return alike(c)
		}
		for at := i * 6 / 8; at <= (i*6+5)/8; at++ {
			if at < len(stays) && stays[at] {
				return ""
			}
		}
		if alike == nil {
			return alphabet64
		}
		return alike(c)
	})
}

// scrubDetails replaces the texts of a status with details in base64: the names of types and the class of an exception stay.
func scrubDetails(value []byte, alike func(byte) string, r decode.Mapper) {
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(string(value), "="))
	var stays []bool
	if err == nil && Details(raw) != nil {
		stays = make([]bool, len(raw))
		stayStatus(raw, stays)
	}
	scrubBase64(value, stays, alike, r)
}

// eachField calls f for the fields of a message, with the offset of the content of each.
func eachField(b []byte, f func(num protowire.Number, wire protowire.Type, from, at, to int)) {
	for at := 0; at < len(b); {
		num, wire, n := protowire.ConsumeTag(b[at:])
		if n < 0 {
			return
		}
		size := protowire.ConsumeFieldValue(num, wire, b[at+n:])
		if size < 0 {
			return
		}
		content := at + n
		if wire == protowire.BytesType {
			_, k := protowire.ConsumeVarint(b[content:])
			content += k
		}
		f(num, wire, at, content, at+n+size)
		at += n + size
	}
}

// set sets all of s.
func set(s []bool) {
	for i := range s {
		s[i] = true
	}
}

// stayStatus sets what stays of a google.rpc.Status.
func stayStatus(b []byte, stays []bool) {
	eachField(b, func(num protowire.Number, wire protowire.Type, from, at, to int) {
		if set(stays[from:at]); wire != protowire.BytesType {
			set(stays[at:to])
		} else if num == 3 {
			stayAny(b[at:to], stays[at:to])
		}
	})
}

// stayAny sets what stays of a google.protobuf.Any.
func stayAny(b []byte, stays []bool) {
	eachField(b, func(num protowire.Number, wire protowire.Type, from, at, to int) {
		set(stays[from:at])
		switch {
		case wire != protowire.BytesType:
			set(stays[at:to])
		case num == 1 && decode.IsClassName(string(b[at:to])):
			set(stays[at:to])
		case num == 2:
			stayDetail(b[at:to], stays[at:to])
		}
	})
}

// stayDetail sets what stays of a detail: what precedes its first text, and of that the class of an exception.
func stayDetail(b []byte, stays []bool) {
	found := false
	eachField(b, func(_ protowire.Number, wire protowire.Type, from, at, to int) {
		if found {
			return
		}
		set(stays[from:at])
		if wire != protowire.BytesType {
			set(stays[at:to])
			return
		}
		found = true
		line := string(b[at:to])
		if class, message, ok := throwableLine(line); ok {
			n := strings.Index(line, class) + len(class)
			if message != "" {
				n += len(": ")
			} else if n < len(line) {
				n++ // the end of the line
			}
			set(stays[at : at+min(n, len(line))])
		}
	})
}
