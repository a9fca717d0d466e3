// Package route names requests of HTTP by patterns that a user gives: "GET /users/{id}".
//
// Patterns are those of net/http's ServeMux without a host: [VERB ]/path, where {name} stands for one segment that is not empty, and {name...}
// or ** as the last segment for the rest of the path. Unlike there, a slash at the end stands for itself only. Of the patterns that a request
// matches the most specific one counts: at the first segment in which they differ, a text precedes {name}, which precedes {name...}; of equal
// paths the one with a verb. A pattern for GET matches HEAD, too. A [Set] is immutable and may be shared; matching allocates nothing.
package route

import (
	"errors"
	"fmt"
	"strings"
)

// Set is a set of patterns.
type Set struct {
	// Patterns are the patterns as they were given.
	Patterns []string
	root     node
}

// node is a place in the tree of patterns: what may follow the segments that lead to it.
type node struct {
	texts map[string]*node
	one   *node  // after {name}
	rest  []leaf // after {name...}
	ends  []leaf // of patterns that end here
}

// leaf is the end of a pattern. Those with a verb precede the one without.
type leaf struct{ verb, path string }

// maxPattern is the number of bytes of a pattern: paths that are longer are not names.
const maxPattern = 1 << 10

// Parse returns the set of the patterns. The error names the pattern and what to change in it.
func Parse(patterns []string) (*Set, error) {
	s := &Set{Patterns: patterns}
	for _, p := range patterns {
		if err := s.add(p); err != nil {
			return nil, fmt.Errorf("%q: %w", p, err)
		}
	}
	return s, nil
}

func (s *Set) add(pattern string) error {
	if len(pattern) > maxPattern {
		return fmt.Errorf("is longer than %d bytes", maxPattern)
	}
	verb, path, hasVerb := strings.Cut(pattern, " ")
	if !hasVerb {
		verb, path = "", pattern
	}
	path = strings.TrimLeft(path, " ")
	switch {
	case hasVerb && !isVerb(verb):
		return fmt.Errorf("%q is not a method of HTTP such as GET; write 'GET /users/{id}'", verb)
	case !strings.HasPrefix(path, "/"):
		return errors.New("the path must begin with /; write 'GET /users/{id}'")
	case strings.ContainsAny(path, "?#;"):
		return errors.New("a pattern has no query, fragment or matrix parameters; leave out what follows the path")
	case strings.ContainsFunc(path, func(c rune) bool { return c <= ' ' || c == 0x7f }):
		return errors.New("a path has no spaces; write %20")
	}
	at, names := &s.root, map[string]bool{}
	for rest, more := path[1:], true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		kind, name, err := kindOf(segment)
		switch {
		case err != nil:
			return err
		case name != "" && names[name]:
			return fmt.Errorf("{%s} is there twice; give each place its own name", name)
		case kind == restKind && more:
			return fmt.Errorf("%s must be the last segment, because it stands for the rest of the path", segment)
		case kind == restKind:
			return addLeaf(&at.rest, leaf{verb, path})
		}
		names[name] = true
		at = at.add(kind, segment)
	}
	return addLeaf(&at.ends, leaf{verb, path})
}

// add returns the node after a segment.
func (n *node) add(kind segmentKind, segment string) *node {
	if kind == oneKind {
		if n.one == nil {
			n.one = new(node)
		}
		return n.one
	}
	next := n.texts[segment]
	if next == nil {
		if n.texts == nil {
			n.texts = make(map[string]*node)
		}
		next = new(node)
		n.texts[segment] = next
	}
	return next
}

// addLeaf adds a leaf, which must not match the same requests as another one.
func addLeaf(to *[]leaf, l leaf) error {
	for _, other := range *to {
		if other.verb == l.verb {
			return fmt.Errorf("matches the same requests as '%s'; keep one of them", strings.TrimPrefix(other.verb+" "+other.path, " "))
		}
	}
	if l.verb == "" {
		*to = append(*to, l)
	} else {
		*to = append([]leaf{l}, *to...)
	}
	return nil
}

type segmentKind uint8

const (
	textKind segmentKind = iota
	oneKind
	restKind
)

// kindOf returns what a segment of a pattern stands for, and its name.
func kindOf(segment string) (kind segmentKind, name string, err error) {
	switch {
	case segment == "**":
		return restKind, "", nil
	case !strings.ContainsAny(segment, "{}*"):
		return textKind, "", nil
	}
	name, opened := strings.CutPrefix(segment, "{")
	name, closed := strings.CutSuffix(name, "}")
	if !opened || !closed {
		return 0, "", fmt.Errorf("%s is not {name}, {name...} or a text", segment)
	}
	kind = oneKind
	if before, isRest := strings.CutSuffix(name, "..."); isRest {
		kind, name = restKind, before
	}
	for i := range len(name) {
		c := name[i]
		isLetter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !isLetter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return 0, "", fmt.Errorf("%s: a name has letters, digits, - and _", segment)
		}
	}
	if name == "" {
		return 0, "", fmt.Errorf("%s has no name; write {id}", segment)
	}
	return kind, name, nil
}

// isVerb reports whether a text is a method of HTTP: a token of RFC 9110 in capitals.
func isVerb(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == "" && text[0] != '-'
}

// Match returns the path of the pattern that a request matches, "" if there is none. The path has no query; matrix parameters are not
// compared.
func (s *Set) Match(verb, path string) string {
	if s == nil || path == "" || path[0] != '/' {
		return ""
	}
	return s.root.match(verb, path[1:])
}

// match matches the rest of a path. Each node is visited once at most, since the segments lead to it in one way.
func (n *node) match(verb, rest string) string {
	segment, after, more := strings.Cut(rest, "/")
	segment, _, _ = strings.Cut(segment, ";")
	if next := n.texts[segment]; next != nil {
		if path := next.follow(verb, after, more); path != "" {
			return path
		}
	}
	if n.one != nil && segment != "" {
		if path := n.one.follow(verb, after, more); path != "" {
			return path
		}
	}
	return choose(n.rest, verb)
}

// follow matches what follows a segment.
func (n *node) follow(verb, after string, more bool) string {
	if more {
		return n.match(verb, after)
	}
	return choose(n.ends, verb)
}

// choose returns the path of the leaf for a verb, "" if there is none.
func choose(leaves []leaf, verb string) string {
	head := ""
	for i := range leaves {
		switch l := &leaves[i]; {
		case l.verb == verb:
			return l.path
		case l.verb == "GET" && verb == "HEAD", l.verb == "" && head == "":
			head = l.path
		}
	}
	return head
}
