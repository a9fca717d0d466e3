package scrub

import (
	"fmt"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// keepsWalk decodes the changed body and reports whether its tree is that of the original but for values.
func (j *job) keepsWalk() bool {
	if j.walksLeft--; j.walksLeft < 0 {
		return false
	}
	j.rewritePaths()
	m := &j.again
	*m = j.original
	m.Body = j.body
	if j.checkDialect && j.s.decoders.Decode(m, rpc.Envelope).Serialization != j.dialect {
		j.reason = "dialect"
		return false
	}
	m.Native = j.native
	return j.sameMessage(j.s.decoders.DecodeAs(m, j.format))
}

// sameMessage reports whether a message is the original one but for values.
func (j *job) sameMessage(m *rpc.Message) bool {
	was := j.m
	if !sameCall(m, was) || m.Decoded != was.Decoded || m.HasErrorText != was.HasErrorText || m.Parts != was.Parts ||
		len(m.GenericTypes) != len(was.GenericTypes) {
		if j.s.trace != nil {
			j.reason = fmt.Sprint("message ", m.Kind, m.ResultKind, m.Decoded, m.ExceptionClass, m.Parts, m.Err, " for ", was.Kind, was.ResultKind, was.Decoded, was.ExceptionClass, was.Parts, was.Err)
		}
		return false
	}
	if (m.Err == nil) != (was.Err == nil) || m.Err != nil && (m.Err.Cause != was.Err.Cause || m.Err.At != was.Err.At) {
		j.reason = fmt.Sprint("error", m.Err, " for ", was.Err)
		return false
	}
	if len(m.Tree.Nodes) != len(was.Tree.Nodes) {
		j.reason = "nodes"
		return false
	}
	for i := range m.Tree.Nodes {
		if !j.sameNode(i, &was.Tree.Nodes[i], &m.Tree.Nodes[i]) {
			if j.s.trace != nil {
				j.reason = fmt.Sprintf("node %s: %+v for %+v", m.Tree.Path(i), m.Tree.Nodes[i], was.Tree.Nodes[i])
			}
			return false
		}
	}
	j.walked = m.Tree
	return true
}

// sameCall reports whether two messages have the same kind, result and generic call, and m has a tree.
func sameCall(m, was *rpc.Message) bool {
	return m.Tree != nil && m.Kind == was.Kind && m.ResultKind == was.ResultKind && m.ExceptionClass == was.ExceptionClass &&
		m.Group == was.Group && m.GenericMethod == was.GenericMethod
}

// sameNode compares node i of the original, a, and of the changed body, b.
func (j *job) sameNode(i int, a, b *decode.Node) bool {
	if a.Kind != b.Kind || a.Label != b.Label || a.Index != b.Index || a.End != b.End || a.Parent != b.Parent ||
		a.Off != b.Off || a.Len != b.Len || a.Class != b.Class {
		return false
	}
	if a.Name != b.Name && a.Label != decode.ByEntry && a.Label != decode.ByKey && (a.Label != decode.ByMember || j.s.kept[i]) {
		return false
	}
	switch {
	case j.s.kept[i], a.Kind == decode.Enum: // the name of a kept node is that of its key, which may be a value
		return a.Text == b.Text && a.Num == b.Num
	case a.Kind == decode.Ref || a.Kind == decode.Alias:
		return a.Num == b.Num
	}
	return true
}
