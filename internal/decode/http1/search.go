package http1

import (
	"bytes"
	"slices"
	"strings"

	"dubbo-wire/internal/rpc"
)

// A search finds a message of HTTP/1 by its first line. It is verified by the lines after it: all of them are header fields, and one has
// a name that clients and servers send. In a body whose length is known nothing is searched.

// methods are those that are usual: they tell that bytes are a request, whatever follows. Other methods, as WebDAV and caches have them
// (PROPFIND, PURGE), count before a path or a URL only.
var methods = []string{"GET", "POST", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE"}

// usualNames are the names of header fields of which one verifies a head.
var usualNames = []string{"host", "content-length", "transfer-encoding", "content-type", "connection", "date", "server", "user-agent"}

// Sniff recognises the first line of a request or a response. Empty lines may precede it (RFC 9112, section 2.2).
func Sniff(head []byte) rpc.Verdict {
	b := bytes.TrimLeft(head, "\r\n")
	if bytes.HasPrefix(b, []byte(VersionStart)) {
		if after := len(VersionStart + "1"); len(b) > after && (b[after] == '\r' || b[after] == '\n') { // the end of the first line of a request
			return rpc.NotMine
		}
		return rpc.Mine
	}
	method, target, ok := bytes.Cut(b, []byte(" "))
	if ok && len(target) > 0 && (slices.Contains(methods, string(method)) || otherRequest(string(method), string(target)) && MayStart(b)) {
		return rpc.Mine
	}
	return rpc.NotMine
}

// KeepHead keeps the method of a request and what tells that it is one, or the version of a response.
func KeepHead(head []byte) []rpc.Span {
	from := len(head) - len(bytes.TrimLeft(head, "\r\n"))
	end := from + bytes.IndexAny(head[from:], " /") + 1
	if head[end-1] == '/' { // HTTP/1.
		end = min(end+2, len(head))
	} else if otherRequest(string(head[from:end-1]), string(head[end:])) {
		end++
		if head[end-1] == 'h' {
			end += len("ttp:")
		}
	}
	return []rpc.Span{{From: 0, To: int64(end)}}
}

// otherRequest reports whether a method that is not usual, and the start of a target, may begin a request. PRI begins HTTP/2; the end of a
// usual method is one whose start the capture lacks.
func otherRequest(method, target string) bool {
	return len(method) >= len("ACL") && strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == "" && method != "PRI" &&
		!slices.ContainsFunc(methods, func(usual string) bool { return strings.HasSuffix(usual, method) }) &&
		(strings.HasPrefix(target, "/") || strings.HasPrefix(target, "http:"))
}

// End returns the offset after the empty line that ends a head, 0 if it is not there. Lines before from are known not to be it.
func End(b []byte, from int) int {
	for at := from; ; {
		n := bytes.IndexByte(b[at:], '\n')
		if n < 0 {
			return 0
		}
		at += n + 1
		switch rest := b[at:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return at + 1
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return at + 2
		}
	}
}

// MayStart reports whether b may begin with a message, as far as it is there.
func MayStart(b []byte) bool {
	line, _, whole := bytes.Cut(b, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) > 0 && line[0] == 'H' && strings.HasPrefix(VersionStart, string(line[:min(len(line), len(VersionStart))])) {
		return isStatusLine(line) && (!whole || len(line) >= len(VersionStart+"0 000"))
	}
	method, target, ok := bytes.Cut(line, []byte(" "))
	switch {
	case !isToken(string(method)):
		return false
	case !ok:
		return !whole && len(method) < maxMethod
	case !whole:
		return len(target) == 0 || target[0] > ' '
	}
	var h Head
	return h.requestLine(string(line))
}

// maxMethod is the number of bytes that methods do not have.
const maxMethod = 32

// VerifiedEnd returns the offset after the head that b begins with, 0 if there is more of it, -1 if it is none.
func VerifiedEnd(b []byte) int {
	end, _ := verify(b)
	return end
}

// verify is VerifiedEnd. usual is set if one of the lines that are there is a header field with a usual name.
func verify(b []byte) (end int, usual bool) {
	if !MayStart(b) {
		return -1, false
	}
	for at := bytes.IndexByte(b, '\n') + 1; at > 0; {
		n := bytes.IndexByte(b[at:], '\n') + 1
		if n == 0 {
			break
		}
		line := bytes.TrimSuffix(b[at:at+n-1], []byte("\r"))
		at += n
		if len(line) == 0 {
			if !usual {
				return -1, false
			}
			return at, true
		}
		name, _, ok := strings.Cut(string(line), ":")
		if line[0] != ' ' && line[0] != '\t' && (!ok || !isToken(name)) {
			return -1, false
		}
		usual = usual || slices.Contains(usualNames, strings.ToLower(name))
	}
	return 0, usual
}

// StartIn returns the first offset from from on where a message may begin: where b begins, after the end of a line, or a response anywhere;
// -1 if there is none.
func StartIn(b []byte, from int) int {
	for at := 0; at < len(b); {
		if at >= from && mayBeRequest(b[at:]) {
			return at
		}
		n := bytes.IndexByte(b[at:], '\n') + 1
		if n == 0 {
			n = len(b) - at
		}
		for k := max(at, from); k < at+n; {
			i := bytes.Index(b[k:at+n], []byte(VersionStart))
			if i < 0 {
				break
			}
			if line := b[k+i : at+n]; (k+i == 0 || b[k+i-1] != ' ') && MayStart(line) {
				return k + i
			}
			k += i + 1
		}
		at += n
	}
	return -1
}

// mayBeRequest reports whether b begins with a method and the start of a target.
func mayBeRequest(b []byte) bool {
	method, target, ok := strings.Cut(string(b[:min(len(b), maxMethod)]), " ")
	if !ok || target == "" {
		return false
	}
	if !slices.Contains(methods, method) {
		return otherRequest(method, target) && MayStart(b)
	}
	return (target[0] == '/' || target[0] == '*' || target[0] == 'h' || method == "CONNECT") && MayStart(b)
}

// Found reports whether b, bytes from anywhere in a direction of a connection, begins with a message of HTTP/1 for certain. The end of its
// head need not be there, since heads with cookies or tokens are often longer than a packet.
func Found(b []byte) bool {
	b = bytes.TrimLeft(b[:min(len(b), MaxHead)], "\r\n") // the end of a chunked body, for example
	if !mayBeRequest(b) && !bytes.HasPrefix(b, []byte(VersionStart)) {
		return false
	}
	end, usual := verify(b)
	return end >= 0 && usual
}
