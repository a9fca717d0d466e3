package scrub

import (
	"bytes"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
)

// keyEdit is a key of a map that was replaced: its text before and after.
type keyEdit struct{ was, is []byte }

// rewritePaths changes the paths in the body that lead through replaced keys: some serializations refer to a value by its path
// from the root of the document, with the keys of maps in it, as "$.users.anna".
func (j *job) rewritePaths() {
	s := j.s
	if len(j.refs) == 0 {
		return
	}
	var keys []keyEdit
	for k := range s.edits {
		e := &s.edits[k]
		n := &j.m.Tree.Nodes[e.node]
		if n.Label != decode.ByKey && n.Label != decode.ByMember || n.Kind != decode.String || n.Text == "" || bytes.Equal(j.body[e.off:e.end], s.original[e.off:e.end]) {
			continue
		}
		runes := []rune(n.Text)
		record := s.record
		s.record, s.plain = nil, e.strategy == strategyFormatPlain || e.strategy == strategySharedPlain
		s.Text(runes)
		s.record, s.plain = record, false
		keys = append(keys, keyEdit{[]byte(n.Text), []byte(string(runes))})
	}
	slices.SortStableFunc(keys, func(a, b keyEdit) int { return len(b.was) - len(a.was) })
	for _, i := range j.refs {
		n := &j.m.Tree.Nodes[i]
		was, is := s.original[n.Off:n.Off+n.Len], j.body[n.Off:n.Off+n.Len]
		copy(is, was)
		for at := 1; at < len(was); {
			at += rewriteKey(is[at:], was, at, keys)
		}
	}
}

// rewriteKey replaces the key that starts at offset at of a path, if there is one, and returns how many bytes to go on.
func rewriteKey(dst, path []byte, at int, keys []keyEdit) int {
	switch path[at-1] {
	case '.', '[', '\'', '"':
	default:
		return 1
	}
	for _, k := range keys {
		if n := k.write(dst, path[at:]); n > 0 {
			return n
		}
	}
	return 1
}

// write writes the new key over the old one that path starts with, in which backslashes may escape marks, and returns its
// length there; 0 if path does not start with the old key.
func (k *keyEdit) write(dst, path []byte) int {
	var places []int
	at := 0
	for _, c := range k.was {
		for at < len(path) && path[at] == '\\' && c != '\\' {
			at++
		}
		if at >= len(path) || path[at] != c {
			return 0
		}
		places = append(places, at)
		at++
	}
	if len(k.was) != len(k.is) || !endsKey(path[at:]) {
		return 0
	}
	for i, p := range places {
		dst[p] = k.is[i]
	}
	return at
}

// endsKey reports whether b, which follows a key in a path, ends the key.
func endsKey(b []byte) bool {
	return len(b) == 0 || bytes.IndexByte([]byte(`.[]'"\\`), b[0]) >= 0
}

// isPath reports whether a node is a reference by path.
func (j *job) isPath(n *decode.Node) bool {
	end := int(n.Off + n.Len)
	if n.Kind != decode.Ref && (n.Name != "$ref" || !strings.HasPrefix(n.Text, "$")) || end > len(j.body) {
		return false
	}
	b := j.s.original[n.Off:end]
	return bytes.IndexByte(b, '$') >= 0 || bytes.HasSuffix(b, []byte("#-1")) // of fastjson2: the path before it
}
