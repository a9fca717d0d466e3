package sizes

import (
	"cmp"
	"slices"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
)

// GroupAnatomy holds the bytes of a group's sampled bodies by path.
type GroupAnatomy struct{ Request, Response Anatomy }

// Classes returns the bytes of both directions by class, without ClassMissing.
func (g *GroupAnatomy) Classes() (sum ClassBytes) {
	for _, a := range []*Anatomy{&g.Request, &g.Response} {
		for p := range a.all {
			if p.Class < decode.ClassMissing {
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
	only            *decode.BodyPaths // if there is one body, as in most directions of many methods
	sums            *pathSums
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

// pathSums holds the sums of several bodies by path.
type pathSums struct {
	decode.Listed[decode.PathKey, pathSum]
	attachments int // paths of attachments
}

type pathSum struct{ bytes, messages int64 }

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
	if in.Fields != nil {
		a.Fields.Add(in.Fields, int64(m.BodyLen), maxPaths)
	}
	for _, n := range in.Paths.All {
		a.Bytes += n
	}
	if a.Messages == 1 && len(in.Paths.Keys) <= maxPaths && attachments(in.Paths.Keys) <= maxAttachments {
		a.only = in.Paths
		return
	}
	a.addUp()
	for k, n := range in.Paths.All {
		a.sums.add(k, n, 1)
	}
}

// addUp makes the sums, to which paths may be added, if there are none.
func (a *Anatomy) addUp() {
	if a.sums != nil {
		return
	}
	a.sums = new(pathSums)
	if c := a.only; c != nil {
		a.sums.Keys, a.sums.Values = slices.Clip(c.Keys), make([]pathSum, 0, len(c.Keys))
		for _, n := range c.All {
			a.sums.Values = append(a.sums.Values, pathSum{n, 1})
		}
		a.sums.attachments, a.only = attachments(c.Keys), nil
	}
}

func isAttachment(k *decode.PathKey) bool {
	return k.Class == decode.ClassAttachments && strings.HasPrefix(k.Path, attachmentPrefix)
}

// attachments returns the number of paths of attachments.
func attachments(keys []decode.PathKey) (n int) {
	for i := range keys {
		if isAttachment(&keys[i]) {
			n++
		}
	}
	return n
}

// add adds bytes to a path.
func (s *pathSums) add(k decode.PathKey, bytes, messages int64) {
	sum := s.Find(k)
	if sum == nil {
		attachment := isAttachment(&k)
		switch {
		case attachment && s.attachments >= maxAttachments:
			k.Path = otherAttachments
		case len(s.Keys) >= maxPaths:
			k.Path = decode.OtherPaths
		case attachment:
			s.attachments++
		}
		if sum = s.Find(k); sum == nil {
			sum = s.Add(k, pathSum{})
		}
	}
	sum.bytes += bytes
	sum.messages += messages
}

// all yields all paths.
func (a *Anatomy) all(yield func(PathSum) bool) {
	if c := a.only; c != nil {
		for k, n := range c.All {
			if !yield(PathSum{k.Path, k.Class, n, 1}) {
				return
			}
		}
	}
	if s := a.sums; s != nil {
		for i, k := range s.Keys {
			if !yield(PathSum{k.Path, k.Class, s.Values[i].bytes, s.Values[i].messages}) {
				return
			}
		}
	}
}

// Paths returns all paths in descending order of their bytes.
func (a *Anatomy) Paths() []PathSum { return a.AppendPaths(nil) }

// AppendPaths appends what [Anatomy.Paths] returns.
func (a *Anatomy) AppendPaths(list []PathSum) []PathSum {
	from := len(list)
	list = slices.AppendSeq(list, a.all)
	slices.SortFunc(list[from:], func(x, y PathSum) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Path, y.Path), cmp.Compare(x.Class, y.Class))
	})
	return list
}

// merge adds another anatomy.
func (a *Anatomy) merge(o *Anatomy) {
	a.Messages += o.Messages
	a.Bytes += o.Bytes
	a.Fields.Merge(&o.Fields, maxPaths)
	a.addUp()
	for _, p := range o.Paths() { // in a fixed order, so that the same paths exceed the limit each time
		a.sums.add(decode.PathKey{Path: p.Path, Class: p.Class}, p.Bytes, p.Messages)
	}
}

// addSample adds a sampled message to its group.
func (g *Group) addSample(m *call.Message) {
	side := 0
	if !m.Request {
		side = 1
	}
	g.decoded().sampled[side]++
	if m.Sample == nil || m.Sample.Paths == nil {
		return
	}
	if g.Anatomy == nil {
		g.Anatomy = new(GroupAnatomy)
	}
	[2]*Anatomy{&g.Anatomy.Request, &g.Anatomy.Response}[side].add(m)
}
