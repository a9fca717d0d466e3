package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/report"
)

// opaqueBodies counts the sampled bodies of a method and direction that were not decoded further for one reason.
type opaqueBodies struct {
	bodies, opaque, bodyBytes int64
	most                      int32 // opaque bytes of the body at
	at                        place
}

// addOpaque counts a sampled message if it has opaque bytes.
func addOpaque[K comparable](to *map[K]*opaqueBodies, reason K, m *call.Message) {
	if opaque := m.Parts[decode.ClassOpaque]; opaque > 0 {
		addBody(to, reason, m, opaque)
	}
}

// addMisfit counts a sampled message that does not fit the classes of the class path, or its schema: then all of it, since a message that
// is shown without its schema has no opaque bytes.
func addMisfit(to *map[misfit]*opaqueBodies, why *decode.Misfit, m *call.Message) {
	if why.Schema {
		addBody(to, misfitOf(why), m, int32(m.BodyLen))
	} else {
		addOpaque(to, misfitOf(why), m)
	}
}

func addBody[K comparable](to *map[K]*opaqueBodies, reason K, m *call.Message, opaque int32) {
	o := (*to)[reason]
	if o == nil {
		if len(*to) >= maxKeys {
			return
		}
		if *to == nil {
			*to = make(map[K]*opaqueBodies)
		}
		o = new(opaqueBodies)
		(*to)[reason] = o
	}
	o.add(opaqueBodies{1, int64(opaque), int64(m.BodyLen), opaque, placeOf(m)})
}

func (o *opaqueBodies) add(p opaqueBodies) {
	o.bodies += p.bodies
	o.opaque += p.opaque
	o.bodyBytes += p.bodyBytes
	if p.most > o.most || p.most == o.most && p.at.frame < o.at.frame {
		o.most, o.at = p.most, p.at
	}
}

// ofMethods is the opaque bodies of several methods.
type ofMethods struct {
	opaqueBodies
	weight  int64
	methods []*method
}

func (x *ofMethods) add(m *method, side int, o *opaqueBodies) {
	x.opaqueBodies.add(*o)
	x.weight += scaled(m.side(side).bodyBytes, o.opaque, m.samples[side].bodyBytes)
	if !slices.Contains(x.methods, m) {
		x.methods = append(x.methods, m)
	}
}

// finding returns a finding about the bodies. why says why they have opaque bytes.
func (x *ofMethods) finding(why string) report.Finding {
	f := x.methods[0].finding(x.at)
	if len(x.methods) > 1 {
		f.Service, f.Method, f.Subject = "", "", report.Plural(int64(len(x.methods)), "method")
	}
	f.Text = fmt.Sprintf("%s of %s bytes (%s) of %s are opaque %s", report.Count(x.opaque), report.Count(x.bodyBytes), share(x.opaque, x.bodyBytes),
		verb(x.bodies, "1 sampled body", report.Count(x.bodies)+" sampled bodies"), why)
	f.Facts = []report.Fact{fact("opaqueBytes", x.opaque), fact("bodyBytes", x.bodyBytes), fact("looked", x.bodies), fact("methods", int64(len(x.methods)))}
	f.Weight = x.weight
	return f
}

// classSource is where a user finds the classes that are missing.
type classSource uint8

const (
	application classSource = iota
	jdk
	registered
)

// sources are what a finding says of each source: the flag, what is missing, and what to do.
var sources = [...]struct{ flag, what, advice string }{
	application: {"--classpath", "the class files of ", "pass their jar: --classpath app.jar"},
	jdk:         {"--jdk", "the JDK's ", "pass its folder: --jdk HOME"},
	registered: {
		"--register", "the classes with the registered numbers ",
		"list the registered classes: --register FILE, or name the SerializationOptimizer: --classpath app.jar --optimizer CLASS",
	},
}

// sourceOf says where a class comes from.
func sourceOf(class string) classSource {
	switch {
	case strings.HasPrefix(class, "#"):
		return registered
	case decode.IsJDKClass(class):
		return jdk
	}
	return application
}

// missingFrom is what classes of one source would tell.
type missingFrom struct {
	ofMethods
	classes map[string]int64 // opaque bytes
}

// missingClasses finds the classes without which bytes of bodies stay opaque.
func missingClasses(k *Collector, e *evidence) {
	const inText, inFacts = 3, 20
	var all [len(sources)]missingFrom
	for _, m := range k.order {
		for side, l := range m.samples {
			if l == nil {
				continue
			}
			for class, o := range l.missing {
				class = cmp.Or(class, m.service)
				x := &all[sourceOf(class)]
				if x.classes == nil {
					x.classes = make(map[string]int64)
				}
				x.add(m, side, o)
				x.classes[class] += o.opaque
			}
		}
	}
	for i, of := range sources {
		x := &all[i]
		if x.bodies == 0 {
			continue
		}
		var names, parts []string
		for _, c := range most(x.classes, func(s string) string { return s }) {
			names = append(names, c.key)
			parts = append(parts, fmt.Sprintf("%s (%s)", strings.TrimPrefix(c.key, "#"), report.Count(c.n)))
		}
		f := x.finding("without " + of.what + someOf(parts, inText) + "; " + of.advice)
		f.Facts = append(f.Facts, words("flag", of.flag), report.Fact{Name: "missing", Names: names[:min(len(names), inFacts)]}, fact("classes", int64(len(names))))
		e.add(f)
	}
}

// misfit is what bodies have in common that do not fit the class path.
type misfit struct {
	writer               decode.Side
	class, cause, reason string
	schema               bool
}

func misfitOf(m *decode.Misfit) misfit {
	return misfit{m.Writer, m.Class, m.Text(), m.Reason(), m.Schema}
}

// misfits finds bodies whose objects do not fit the classes of the class path, and those that do not fit their schema.
func misfits(k *Collector, e *evidence) {
	all := make(map[misfit]*ofMethods)
	for _, m := range k.order {
		for side, l := range m.samples {
			if l == nil {
				continue
			}
			for why, o := range l.misfits {
				if all[why] == nil {
					all[why] = new(ofMethods)
				}
				all[why].add(m, side, o)
			}
		}
	}
	for why, x := range all {
		f := x.finding("because they do not fit " + why.reason)
		if why.schema {
			f.Text = fmt.Sprintf("%s of %s bytes %s %s", verb(x.bodies, "1 sampled body", report.Count(x.bodies)+" sampled bodies"), report.Count(x.bodyBytes),
				verb(x.bodies, "does not fit", "do not fit"), why.reason)
			f.Facts = f.Facts[1:] // no opaque bytes
		}
		f.Facts = append(f.Facts, words("writer", why.writer.String()), words("class", why.class), words("cause", why.cause))
		e.add(f)
	}
}
