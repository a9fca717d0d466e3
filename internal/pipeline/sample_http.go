package pipeline

import (
	"hash/maphash"
	"net/http"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
)

// maxCookies limits the cookies of a message that are listed.
const maxCookies = 64

// httpSample returns what the head of a whole message of plain HTTP tells, nil of other messages, and if a field of the head is not known.
func httpSample(msg *rpc.Message) *call.HTTPSample {
	if !msg.Protocol.PlainHTTP || msg.Unresolved || len(msg.Headers) == 0 {
		return nil
	}
	s := new(call.HTTPSample)
	method, authority, path := "", "", ""
	for i := range msg.Headers {
		h := &msg.Headers[i]
		switch h.Name {
		case ":method":
			method = h.Value
		case ":path":
			path = h.Value
		case ":authority", "host":
			authority = h.Value
		case "if-none-match", "if-modified-since":
			s.Conditional = true
		case "etag", "last-modified":
			s.Validator = true
		case "cache-control":
			s.NoStore = s.NoStore || strings.Contains(strings.ToLower(h.Value), "no-store")
		case "accept-encoding":
			s.AcceptsEncoding = s.AcceptsEncoding || acceptsEncoding(h.Value)
		case "cookie":
			s.Cookies = appendCookies(s.Cookies, h, ";")
		case "set-cookie":
			s.Cookies = appendCookies(s.Cookies, h, "\x00")
		}
	}
	switch {
	case msg.Request && method == http.MethodGet:
		var h maphash.Hash
		h.SetSeed(seed)
		_, _ = h.WriteString(authority)
		_ = h.WriteByte(0)
		_, _ = h.WriteString(path)
		s.Target = h.Sum64()
	case !msg.Request && msg.Status == http.StatusOK && msg.BodyLen > 0:
		s.Content = maphash.Bytes(seed, msg.Body)
	}
	return s
}

// targetHash returns a hash of the target of a request of plain HTTP, with its query, 0 of other requests. known is false if the capture
// lacks it.
func targetHash(msg *rpc.Message) (hash uint64, known bool) {
	if !msg.Protocol.PlainHTTP {
		return 0, true
	}
	for i := range msg.Headers {
		if h := &msg.Headers[i]; h.Name == ":path" && !h.Unknown {
			return maphash.String(seed, h.Value), true
		}
	}
	return 0, false
}

// acceptsEncoding reports whether a list of content codings has one that is accepted and compresses (RFC 9110, section 12.5.3).
func acceptsEncoding(list string) bool {
	for item := range strings.SplitSeq(list, ",") {
		name, weight, _ := strings.Cut(item, ";")
		if q := strings.ReplaceAll(weight, " ", ""); strings.HasPrefix(q, "q=0") && strings.Trim(q[len("q=0"):], ".0") == "" {
			continue
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip", "deflate", "br", "zstd", "compress", "*":
			return true
		}
	}
	return false
}

// appendCookies adds the cookies of a header field, which a separator divides: their names, and the part of the field's bytes that their
// texts have. What is left over, by rounding or beyond maxCookies, belongs to the first one.
func appendCookies(list []call.SentField, h *rpc.Header, separator string) []call.SentField {
	from, left := len(list), int(h.Len)
	all := len(h.Value) - strings.Count(h.Value, separator)
	for text := range strings.SplitSeq(h.Value, separator) {
		if len(list) >= maxCookies || all == 0 {
			break
		}
		name, _, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || !isCookieName(name) {
			name = ""
		}
		n := int(int64(h.Len) * int64(len(text)) / int64(all))
		left -= n
		list = append(list, call.SentField{Name: strings.Clone(name), Bytes: n})
	}
	if len(list) == from { // the field is empty, or the list is full
		return append(list, call.SentField{Bytes: left})
	}
	list[from].Bytes += left
	return list
}

// maxCookieName limits the bytes of a cookie's name.
const maxCookieName = 64

// isCookieName reports whether a name may be shown: it is a token (RFC 6265, section 4.1.1), and not so long that it may be a value.
func isCookieName(name string) bool {
	return name != "" && len(name) <= maxCookieName && strings.IndexFunc(name, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, c)
	}) < 0
}
