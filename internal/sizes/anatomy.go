package sizes

import (
	"cmp"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
)

// GroupAnatomy holds the bytes of a group's sampled bodies by path.
type GroupAnatomy struct{ Request, Response Anatomy }

// Classes returns the bytes of both directions by class, without ClassMissing.
func (g *GroupAnatomy) Classes() (sum [decode.ClassMissing]int64) {
	for _, a := range []*Anatomy{&g.Request, &g.Response} {
		for i := range a.paths.All {
			if p := &a.paths.All[i]; p.Class < decode.ClassMissing {
				sum[p.Class] += p.Bytes
			}
		}
	}
	return sum
}

// Anatomy holds the bytes of the sampled bodies of one direction by path.
type Anatomy struct {
	// Messages is the number of sampled bodies, Bytes their bytes, which is the sum of all paths.
	Messages, Bytes int64
	paths           decode.Listed[pathKey, PathSum, *PathSum]
	attachments     int // paths in paths
	// Fields are how fields are used in those bodies that were read to their end.
	Fields decode.FieldUses
}

// PathSum holds the number of messages that contain a path, and its bytes in all of them. Paths are those of
// [decode.PathBytes]; a path with two classes has two sums.
type PathSum struct {
	Path            string
	Class           decode.Class
	Bytes, Messages int64
}

type pathKey struct {
	path  string
	class decode.Class
}

const (
	// maxPaths limits the paths of a direction; further ones are added to decode.OtherPaths.
	maxPaths = 512
	// maxAttachments limits the keys of attachments; further ones are added to attachments.*.
	maxAttachments   = 64
	attachmentPrefix = "attachments"
	otherAttachments = "attachments.*"
)

// add adds a sampled message.
func (a *Anatomy) add(m *call.Message) {
	in := m.Sample
	a.Messages++
	if in.HasFields {
		a.Fields.Add(in.Fields, 1, int64(m.BodyLen), maxPaths)
	}
	a.paths.Reserve(len(in.Paths))
	for i := range in.Paths {
		p := &in.Paths[i]
		a.Bytes += p.Bytes
		a.addPath(p.Path, p.Class, p.Bytes, 1)
	}
}

// addPath adds bytes to a path.
func (a *Anatomy) addPath(path string, class decode.Class, bytes, messages int64) {
	k := pathKey{path, class}
	sum := a.paths.Find(k)
	if sum == nil {
		attachment := class == decode.ClassAttachments && strings.HasPrefix(path, attachmentPrefix)
		switch {
		case attachment && a.attachments >= maxAttachments:
			k.path = otherAttachments
		case len(a.paths.All) >= maxPaths:
			k.path = decode.OtherPaths
		case attachment:
			a.attachments++
		}
		if sum = a.paths.Find(k); sum == nil {
			sum = a.paths.Add(PathSum{Path: k.path, Class: class})
		}
	}
	sum.Bytes += bytes
	sum.Messages += messages
}

// Key returns the path and the class.
func (p *PathSum) Key() pathKey { return pathKey{p.Path, p.Class} }

// Paths returns all paths in descending order of their bytes.
func (a *Anatomy) Paths() []PathSum {
	return a.paths.Sorted(func(x, y PathSum) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Path, y.Path), cmp.Compare(x.Class, y.Class))
	})
}

// merge adds another anatomy.
func (a *Anatomy) merge(o *Anatomy) {
	a.Messages += o.Messages
	a.Bytes += o.Bytes
	a.Fields.Add(o.Fields.List(), o.Fields.Messages, o.Fields.Bytes, maxPaths)
	for _, p := range o.Paths() { // in a fixed order, so that the same paths exceed the limit each time
		a.addPath(p.Path, p.Class, p.Bytes, p.Messages)
	}
}

// addSample adds a sampled message to its group.
func (g *Group) addSample(m *call.Message) {
	side := 0
	if !m.Request {
		side = 1
	}
	g.Sampled[side]++
	if m.Sample == nil || m.Sample.Paths == nil {
		return
	}
	if g.Anatomy == nil {
		g.Anatomy = new(GroupAnatomy)
	}
	[2]*Anatomy{&g.Anatomy.Request, &g.Anatomy.Response}[side].add(m)
}
