package sizes

import (
	"cmp"
	"slices"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
)

// Inside is what the bodies of a group are made of, by path: of those that were looked into.
type Inside struct {
	// Request and Response are the two directions.
	Request, Response Anatomy
}

// Anatomy is the bytes of one direction's bodies by path.
type Anatomy struct {
	// Messages is how many bodies were looked into, Bytes their bytes: what all paths add up to.
	Messages, Bytes int64
	paths           map[pathKey]*PathSum
	attachments     int
}

// PathSum is the bytes of one path: in how many messages it was, and how many bytes it had in all of them. It is a leaf of
// the anatomy as decode.PathBytes names it; the same path may stand twice, with two classes.
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
	// maxPaths is how many paths of a direction are kept apart; the others add up to decode.OtherPaths.
	maxPaths = 512
	// maxAttachments is how many keys of attachments are kept apart; the others are attachments.*.
	maxAttachments   = 64
	attachmentPrefix = "attachments"
	otherAttachments = "attachments.*"
)

// add takes a message that was looked into.
func (a *Anatomy) add(in *call.Inside) {
	a.Messages++
	for i := range in.Paths {
		p := &in.Paths[i]
		a.Bytes += p.Bytes
		a.path(p.Path, p.Class, p.Bytes, 1)
	}
}

// path adds bytes to a path.
func (a *Anatomy) path(path string, class decode.Class, bytes, messages int64) {
	k := pathKey{path, class}
	sum := a.paths[k]
	if sum == nil {
		attachment := class == decode.ClassAttachments && strings.HasPrefix(path, attachmentPrefix)
		switch {
		case attachment && a.attachments >= maxAttachments:
			k.path = otherAttachments
		case len(a.paths) >= maxPaths:
			k.path = decode.OtherPaths
		case attachment:
			a.attachments++
		}
		if sum = a.paths[k]; sum == nil {
			if a.paths == nil {
				a.paths = make(map[pathKey]*PathSum)
			}
			sum = &PathSum{Path: k.path, Class: class}
			a.paths[k] = sum
		}
	}
	sum.Bytes += bytes
	sum.Messages += messages
}

// Paths returns all paths, the one with most bytes first.
func (a *Anatomy) Paths() []PathSum {
	list := make([]PathSum, 0, len(a.paths))
	for _, p := range a.paths {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(x, y PathSum) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Path, y.Path), cmp.Compare(x.Class, y.Class))
	})
	return list
}

// merge adds another anatomy.
func (a *Anatomy) merge(o *Anatomy) {
	a.Messages += o.Messages
	a.Bytes += o.Bytes
	for _, p := range o.Paths() { // in order, so that what is beyond the limit is the same each time
		a.path(p.Path, p.Class, p.Bytes, p.Messages)
	}
}

// look adds what was seen in a message to its group.
func (g *Group) look(m *call.Message) {
	if m.Inside == nil || m.Inside.Paths == nil {
		return
	}
	if g.Inside == nil {
		g.Inside = new(Inside)
	}
	if m.Request {
		g.Inside.Request.add(m.Inside)
	} else {
		g.Inside.Response.add(m.Inside)
	}
}
