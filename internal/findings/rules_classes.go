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

// missingClass counts the sampled bodies of a method and direction that were not decoded further because of a class.
type missingClass struct {
	bodies, opaque, bodyBytes int64
	most                      int32 // opaque bytes of the body at
	at                        place
}

// addMissing counts a sampled message with opaque bytes that need a class; "" is the interface of its service.
func (l *bodySample) addMissing(m *call.Message, class string) {
	opaque := m.Parts[decode.ClassOpaque]
	if opaque == 0 {
		return
	}
	c := l.missing[class]
	if c == nil {
		if len(l.missing) >= maxKeys {
			return
		}
		if l.missing == nil {
			l.missing = make(map[string]*missingClass)
		}
		c = new(missingClass)
		l.missing[class] = c
	}
	c.bodies++
	c.opaque += int64(opaque)
	c.bodyBytes += int64(m.BodyLen)
	if opaque > c.most {
		c.most, c.at = opaque, placeOf(m)
	}
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
	case strings.HasPrefix(class, "java.") || strings.HasPrefix(class, "javax.") || strings.HasPrefix(class, "sun.") || strings.HasPrefix(class, "jdk."):
		return jdk
	}
	return application
}

// missingFrom is what classes of one source would tell.
type missingFrom struct {
	missingClass
	weight  int64
	classes map[string]int64 // opaque bytes
	methods []*method
}

// missingClasses finds the classes without which bytes of bodies stay opaque.
func missingClasses(k *Collector, e *evidence) {
	var all [len(sources)]missingFrom
	for _, m := range k.order {
		for side, l := range m.samples {
			if l == nil {
				continue
			}
			for class, c := range l.missing {
				class = cmp.Or(class, m.service)
				all[sourceOf(class)].add(m, class, c, scaled(m.side(side).bodyBytes, c.opaque, l.bodyBytes))
			}
		}
	}
	for source := range all {
		if x := &all[source]; x.bodies > 0 {
			e.add(x.finding(classSource(source)))
		}
	}
}

func (x *missingFrom) add(m *method, class string, c *missingClass, weight int64) {
	x.bodies += c.bodies
	x.opaque += c.opaque
	x.bodyBytes += c.bodyBytes
	x.weight += weight
	if c.most > x.most || c.most == x.most && c.at.frame < x.at.frame {
		x.most, x.at = c.most, c.at
	}
	if x.classes == nil {
		x.classes = make(map[string]int64)
	}
	x.classes[class] += c.opaque
	if !slices.Contains(x.methods, m) {
		x.methods = append(x.methods, m)
	}
}

func (x *missingFrom) finding(source classSource) report.Finding {
	const inText, inFacts = 3, 20
	f := x.methods[0].finding(x.at)
	if len(x.methods) > 1 {
		f.Service, f.Method, f.Subject = "", "", report.Plural(int64(len(x.methods)), "method")
	}
	var names, parts []string
	for _, c := range most(x.classes, func(s string) string { return s }) {
		names = append(names, c.key)
		parts = append(parts, fmt.Sprintf("%s (%s)", strings.TrimPrefix(c.key, "#"), report.Count(c.n)))
	}
	of := &sources[source]
	f.Text = fmt.Sprintf("%s of %s bytes (%s) of %s are opaque without %s%s; %s", report.Count(x.opaque), report.Count(x.bodyBytes), share(x.opaque, x.bodyBytes),
		verb(x.bodies, "1 sampled body", report.Count(x.bodies)+" sampled bodies"), of.what, someOf(parts, inText), of.advice)
	f.Facts = []report.Fact{
		words("flag", of.flag), {Name: "missing", Names: names[:min(len(names), inFacts)]}, fact("classes", int64(len(names))),
		fact("opaqueBytes", x.opaque), fact("bodyBytes", x.bodyBytes), fact("looked", x.bodies), fact("methods", int64(len(x.methods))),
	}
	f.Weight = x.weight
	return f
}
