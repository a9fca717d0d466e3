// Package jsonrpc finds the members of a message of JSON-RPC, Dubbo's protocol http of 2.7: the texts of JSON in them are a serialization's.
// The bytes are borrowed.
//
// Source: JSON-RPC 2.0 Specification; com.github.briandilley.jsonrpc4j 1.1, JsonRpcClient and JsonRpcServer.
package jsonrpc

import "bytes"

// Scanner goes over the members of the object that a body begins with, after white space.
type Scanner struct {
	// Name is the name of the member as it is written, and NameFrom its offset, after the quote. From is the offset of the value.
	Name           []byte
	NameFrom, From int

	b  []byte
	to int // where the value ends, -1 if that is not there, 0 if it was not looked for
	// next is the offset of what Next looks at, -1 at an end; end is the offset after the object, -1 if it is not there.
	next, end int
}

// Scan returns a scanner for b.
func Scan(b []byte) Scanner {
	s := Scanner{b: b, next: -1, end: -1}
	if at := space(b, 0); at < len(b) && b[at] == '{' {
		if at = space(b, at+1); at < len(b) && b[at] == '}' {
			s.end = at + 1
		} else {
			s.next = at
		}
	}
	return s
}

// Next goes to the next member, and reports whether there is one. The value of the last one may have been cut.
func (s *Scanner) Next() bool {
	b := s.b
	if s.From > 0 && !s.after() {
		return false
	}
	at := s.next
	if at < 0 || at >= len(b) || b[at] != '"' {
		return false
	}
	s.next = -1
	end := stringEnd(b, at)
	if end < 0 {
		return false
	}
	colon := space(b, end)
	if colon >= len(b) || b[colon] != ':' {
		return false
	}
	from := space(b, colon+1)
	if from >= len(b) {
		return false
	}
	s.Name, s.NameFrom, s.From, s.to = b[at+1:end-1], at+1, from, 0
	return true
}

// after goes past the value and the comma after it, or to the end of the object.
func (s *Scanner) after() bool {
	b := s.b
	at := s.To()
	if at < 0 {
		return false
	}
	if at = space(b, at); at >= len(b) {
		return false
	}
	switch b[at] {
	case ',':
		s.next = space(b, at+1)
		return true
	case '}':
		s.end = at + 1
	}
	return false
}

// End returns the offset after the object, -1 if b does not have all of it, or if Next was not called until it has returned false.
func (s *Scanner) End() int { return s.end }

// Is reports whether the member has that name.
func (s *Scanner) Is(name string) bool { return string(s.Name) == name }

// To returns the offset after the value, -1 if b does not have all of it.
func (s *Scanner) To() int {
	if s.to == 0 {
		s.to = valueEnd(s.b, s.From)
	}
	return s.to
}

// Text returns the text of a value that is a string without escapes, and false if it is none.
func (s *Scanner) Text() (text []byte, ok bool) {
	to := s.To()
	if to < 0 || s.b[s.From] != '"' || bytes.IndexByte(s.b[s.From:to], '\\') >= 0 {
		return nil, false
	}
	return s.b[s.From+1 : to-1], true
}

// IsBatch reports whether b is a list of messages.
func IsBatch(b []byte) bool {
	at := space(b, 0)
	return at < len(b) && b[at] == '['
}

// space returns the offset of the first byte from at on that is not white space.
func space(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\t' || b[at] == '\r' || b[at] == '\n') {
		at++
	}
	return at
}

// stringEnd returns the offset after the string at offset at, -1 if its end is not there.
func stringEnd(b []byte, at int) int {
	quote := at // the offset of the next quote
	for at++; at < len(b); at++ {
		if quote < at {
			n := bytes.IndexByte(b[at:], '"')
			if n < 0 {
				return -1
			}
			quote = at + n
		}
		escape := bytes.IndexByte(b[at:quote], '\\')
		if escape < 0 {
			return quote + 1
		}
		at += escape + 1 // and the character after it
	}
	return -1
}

// valueEnd returns the offset after the value at offset at, -1 if its end is not there. Only strings and brackets are looked at.
func valueEnd(b []byte, at int) int {
	depth := 0
	for at < len(b) {
		switch b[at] {
		case '"':
			if at = stringEnd(b, at); at < 0 {
				return -1
			}
		case '{', '[':
			depth++
			at++
		case '}', ']':
			if depth == 0 {
				return -1
			}
			depth--
			at++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return -1
			}
			at++
			continue
		default: // a number or a word
			for at < len(b) && !bytes.ContainsRune([]byte(",:]}[{\" \t\r\n"), rune(b[at])) {
				at++
			}
			if at == len(b) {
				return -1
			}
		}
		if depth == 0 {
			return at
		}
	}
	return -1
}
