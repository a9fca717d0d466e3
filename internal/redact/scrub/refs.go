package scrub

import (
	"bytes"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
)

// Some serializations refer to a value by its path from the root of a document, in which keys of maps are: "$.users.anna".
// Where a key was replaced, paths through it are to be changed likewise.

// keyEdit is a key of a map that was replaced.
type keyEdit struct{ was, is []byte }

// references writes the paths in the body that lead through keys as those are now.
func (j *job) references() {
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
		s.record, s.plain = nil, e.way == wayPlain || e.way == wayPlain2
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
			at += replaceKey(is[at:], was, at, keys)
		}
	}
}

// replaceKey replaces the key that starts at offset at of a path, if one does, and returns how many bytes were looked at.
func replaceKey(dst, path []byte, at int, keys []keyEdit) int {
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

// write writes the key as it is now over the one that path starts with, in which marks may stand behind backslashes, and
// returns its length; 0 where path does not start with it.
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

// endsKey reports whether b, behind a key, ends it.
func endsKey(b []byte) bool {
	return len(b) == 0 || bytes.IndexByte([]byte(`.[]'"\\`), b[0]) >= 0
}

// isPath reports whether a node is a reference by a path.
func (j *job) isPath(n *decode.Node) bool {
	end := int(n.Off + n.Len)
	return (n.Kind == decode.Ref || n.Name == "$ref" && strings.HasPrefix(n.Text, "$")) && end <= len(j.body) && bytes.IndexByte(j.s.original[n.Off:end], '$') >= 0
}
