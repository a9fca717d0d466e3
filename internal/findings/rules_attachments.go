package findings

import (
	"fmt"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
)

// A finding about attachments needs leastSameShare percent of the bodies, or more bytes than the arguments, and leastSame bytes per
// body.
const leastSameShare, leastSame = 10, 50

// attachmentGroup is the methods that have the same keys of attachments with one value in all sampled messages, or whose
// attachments outweigh the arguments.
type attachmentGroup struct {
	side    int
	same    bool
	frames  bool // some are in headers: bytes are those of frames
	methods []*method
	first   place
	own     *rpc.Attachments
	// These are totals of the methods' sampled messages: bytes of the bodies or frames, of all attachments, of those with the same value, of
	// the avoidable ones of these, and of arguments.
	messages, allBytes, all, sameBytes, avoidable, arguments int64
	weight                                                   int64
	keys, extra                                              []string // with the same value; those that Dubbo does not add itself
}

// attachments finds attachments with the same value in all calls of a method, or with more bytes than the arguments. Methods with
// the same keys are one finding.
func attachments(k *Collector, e *evidence) {
	groups := make(map[string]*attachmentGroup)
	var order []*attachmentGroup
	for _, m := range k.order {
		if m.protocol.PlainHTTP {
			continue // its header fields are those of HTTP; the other findings about headers and cookies name the large ones
		}
		for side, l := range m.samples {
			if l == nil || l.known < leastSampled {
				continue
			}
			same, avoidable := int64(0), int64(0)
			var keys, extra []string
			for _, s := range l.same {
				same += s.bytes
				keys = append(keys, s.key)
				if !l.own.Added(side == 0, s.key) {
					avoidable += s.bytes
					extra = append(extra, s.key)
				}
			}
			arguments := l.classes[decode.ClassValues] + l.classes[decode.ClassNames] + l.classes[decode.ClassOverhead] + l.classes[decode.ClassOpaque] +
				l.classes[decode.ClassCompressed]
			large := 100*same >= leastSameShare*l.allBytes() && same >= leastSame*l.known
			heavier := side == 0 && l.known == l.messages && l.attachmentBytes > arguments && l.attachmentBytes >= leastSame*l.known
			if !large && !heavier {
				continue
			}
			name := directionNames[side]
			if l.inHeader {
				name += " frame"
			}
			if large {
				name += "\n" + strings.Join(slices.Sorted(slices.Values(keys)), "\n")
			}
			g := groups[name]
			if g == nil {
				g = &attachmentGroup{side: side, same: large, frames: l.inHeader, first: l.first, own: l.own, keys: keys, extra: extra}
				groups[name] = g
				order = append(order, g)
			}
			g.methods = append(g.methods, m)
			g.messages += l.known
			g.allBytes += l.allBytes()
			g.all += l.attachmentBytes
			g.sameBytes += same
			g.avoidable += avoidable
			g.arguments += arguments
			concerned := same
			if !large {
				concerned = l.attachmentBytes
			}
			of := m.side(side).bodyBytes
			if l.inHeader {
				of = m.side(side).frameBytes
			}
			g.weight += scaled(of, concerned, l.allBytes())
		}
	}
	for _, g := range order {
		g.find(e)
	}
}

// repeated names the keys whose values the envelope has as well.
func (g *attachmentGroup) repeated() string {
	var keys []string
	for _, key := range g.own.Repeated {
		if g.side == 0 && slices.Contains(g.keys, key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return ""
	}
	n := int64(len(keys))
	return fmt.Sprintf(" (%s %s at the start of the body as well)", both(keys, 2), verb(n, "is", "are"))
}

// find adds the finding about the group.
func (g *attachmentGroup) find(e *evidence) {
	what, bytes := directionNames[g.side], "bodyBytes"
	if g.frames {
		bytes = "frameBytes"
	}
	f := g.methods[0].finding(g.first)
	whose := "its"
	if len(g.methods) > 1 {
		f.Service, f.Method, f.Subject = "", "", report.Plural(int64(len(g.methods)), "method")
		whose = "their"
	}
	f.Facts = []report.Fact{
		words("direction", what), fact("looked", g.messages), fact(bytes, g.allBytes), fact("attachmentBytes", g.all),
		fact("methods", int64(len(g.methods))),
	}
	if g.side == 0 {
		f.Facts = append(f.Facts, fact("argumentBytes", g.arguments))
	}
	e.level = fixed
	if g.same {
		n := int64(len(g.keys))
		calls, it := "all calls", verb(n, "it", "them")
		if len(g.methods) > 1 {
			calls += " of a method"
		}
		f.Text = fmt.Sprintf("%s %s the same value in %s and %s %s of %s %s bytes (%s of %s per %s, %s sampled): %s",
			report.Plural(n, "attachment"), verb(n, "has", "have"), calls, verb(n, "takes", "take"), share(g.sameBytes, g.allBytes), whose, what,
			mean(g.sameBytes, g.messages), mean(g.allBytes, g.messages), what, report.Count(g.messages), someOf(g.keys, 6))
		switch len(g.extra) {
		case 0:
			f.Text += "; Dubbo always adds " + it + g.repeated() + ", no setting removes " + it
		case len(g.keys):
			f.Text += "; the application or a filter adds " + it + ", so " + verb(n, "it is", "they are") + " avoidable"
		default:
			f.Text += fmt.Sprintf("; %s of the %s bytes are avoidable: the application or a filter adds %s, Dubbo always adds the others%s",
				mean(g.avoidable, g.messages), mean(g.sameBytes, g.messages), someOf(g.extra, 6), g.repeated())
		}
		f.Facts = append(f.Facts, fact("sameBytes", g.sameBytes), report.Fact{Name: "sameKeys", Names: slices.Clip(g.keys)},
			fact("avoidableBytes", g.avoidable))
		if len(g.extra) > 0 {
			f.Facts = append(f.Facts, report.Fact{Name: "avoidableKeys", Names: g.extra})
			e.level = heavy
		}
	} else {
		e.level = heavy
		f.Text = fmt.Sprintf("attachments outweigh arguments: %s vs %s of %s bytes per request (%s sampled)",
			mean(g.all, g.messages), mean(g.arguments, g.messages), mean(g.allBytes, g.messages), report.Count(g.messages))
	}
	if len(g.methods) > 1 {
		var names []string
		for _, m := range g.methods {
			names = append(names, m.name)
		}
		f.Text += "; methods: " + someOf(names, 3)
	}
	f.Weight = g.weight
	e.add(f)
}
