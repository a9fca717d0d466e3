package report

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/sizes"
)

// View is a report as texts, for who draws it elsewhere: the tables that a terminal shows, and that of all groups.
type View struct {
	// Name is the file or files, Summary the first line of the report.
	Name, Summary string
	OnTheWire     Section
	// Compared are the serializations, or what groups are compared by where these are not a key: Comparison and MadeOf have a
	// row for each. MadeOf has no columns where bodies were not taken apart.
	Comparison, MadeOf Section
	// Same are the methods seen in several serializations, Worst the calls that presets ask for; Pairs has no columns where
	// they were not counted.
	Same, Worst []Section
	Pairs       Section
	Coverage    Section
	// Ranking is nil where there are no calls.
	Ranking *Ranking
}

// View makes the tables.
func (r *Report) View(s Style) *View {
	s.Width = 0
	all := s
	all.Top = 25
	v := &View{Name: r.inputName(), Summary: r.summary(&s), OnTheWire: r.onTheWire(&s), Coverage: r.coverageSection(&s)}
	if r.Selected.Calls == 0 {
		return v
	}
	v.Comparison = r.comparison(&all)
	if r.Parts || r.Sampled {
		v.MadeOf = r.madeOf(&all)
	}
	if r.SameMethods {
		v.Same = r.fairComparison(&s)
	}
	for _, w := range r.Worst {
		v.Worst = append(v.Worst, r.worst(w, &s))
	}
	pairs := s
	pairs.Top = max(s.Top, DefaultTop)
	v.Pairs = r.pairs(&pairs)
	v.Ranking = r.newRanking(&s, inPage)
	return v
}

// PathNode is a segment of the paths of an anatomy, with what lies below it.
type PathNode struct {
	Name string
	// Bytes are of all below it; Classes says what they are for.
	Bytes   int64
	Classes [decode.ClassMissing + 1]int64
	// Own are the bytes of this very path, by class, and Messages in how many messages they were: at least, where they are of
	// several classes.
	Own      [decode.ClassMissing + 1]int64
	Messages int64
	Children []*PathNode
	// Left is how many paths beside the children were left out, with LeftBytes.
	Left      int
	LeftBytes int64
}

// PathTree makes the tree of an anatomy's paths, children with most bytes first. At most so many paths are in it, those with
// most bytes; the others are counted where they would be.
func PathTree(a *sizes.Anatomy, paths int) *PathNode {
	root := &PathNode{}
	for i, p := range a.Paths() {
		n := root
		segments := PathSegments(p.Path)
		for k := 0; ; k++ {
			n.Bytes += p.Bytes
			n.Classes[p.Class] += p.Bytes
			if k == len(segments) {
				n.Own[p.Class] += p.Bytes
				n.Messages = max(n.Messages, p.Messages)
				break
			}
			next := n.child(segments[k])
			if next == nil && i >= paths {
				n.Left++
				n.LeftBytes += p.Bytes
				break
			}
			if next == nil {
				next = &PathNode{Name: segments[k]}
				n.Children = append(n.Children, next)
			}
			n = next
		}
	}
	root.sort()
	return root
}

func (n *PathNode) child(name string) *PathNode {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func (n *PathNode) sort() {
	slices.SortStableFunc(n.Children, func(a, b *PathNode) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	for _, c := range n.Children {
		c.sort()
	}
}

// Most is the class that most of these bytes have.
func Most(classes *[decode.ClassMissing + 1]int64) decode.Class {
	most := decode.Class(0)
	for c, b := range classes {
		if b > classes[most] {
			most = decode.Class(c)
		}
	}
	return most
}

// Percent prints n of d in percent, as tables do; without a sign.
func Percent(n, d int64) string {
	if d == 0 {
		return "-"
	}
	return formatPercent(n, d, false)
}
