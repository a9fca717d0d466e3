package estimate

import (
	"fmt"
	"slices"
	"strings"

	"dubbo-wire/internal/estimate/releases"
)

// Target is a row of the table: what calls are estimated in.
type Target struct {
	As string
	// Release is the release of Dubbo that encodes, "" if none does.
	Release string
	// Measured is set for what was observed.
	Measured bool
	// Of is the observed serialization whose calls the target is about; "" for all.
	Of string

	hidden bool // only for calibration
	triple bool // its frames are those of Triple
	// size measures a call without a Java virtual machine.
	size func(s *sampled, c *cell)
}

// Endings and beginnings of names of targets.
const (
	registeredSuffix = " registered"
	triplePrefix     = "triple/"
)

// derived is the serialization with a schema that is derived from the classes.
const derived = "protobuf"

// numbered are the serializations that number registered classes.
var numbered = []string{"kryo", "kryo2", "fst"}

// Names returns the names that --as takes.
func Names() []string {
	names := []string{"all"}
	for _, name := range releases.All() {
		if names = append(names, name); slices.Contains(numbered, name) {
			names = append(names, name+registeredSuffix)
		}
	}
	return append(names, triplePrefix+"hessian2", triplePrefix+derived)
}

// Known reports whether --as takes a name.
func Known(name string) bool {
	base, triple := strings.CutPrefix(name, triplePrefix)
	return slices.Contains(Names(), name) || triple && slices.Contains(releases.All(), base)
}

// Plan is which targets there are, and which machines encode them.
type Plan struct {
	// Release is that of the capture, or the one that was asked for. Guessed is set if it is known only from the calls.
	Release string
	Guessed bool
	Targets []*Target
	runs    []*run
	byVM    map[string]*run
	c       *Collector
}

// Plan plans the targets with these names, "all" for those of the release, in the release or the nearest one that writes them. registered is
// set if there are registered classes. usable says why a release cannot be used, "" if it can.
func (c *Collector) Plan(as []string, release string, registered bool, usable func(release string) string) *Plan {
	p := &Plan{Release: release, byVM: make(map[string]*run), c: c}
	if release == "" {
		p.Release, p.Guessed = c.Release(), true
	}
	for _, name := range as {
		if name != "all" {
			p.add(name, usable)
			continue
		}
		names := slices.Concat(releases.Of(p.Release), releases.All())
		for i, name := range names {
			if slices.Contains(names[:i], name) {
				continue
			}
			p.add(name, usable)
			if registered && slices.Contains(numbered, name) {
				p.add(name+registeredSuffix, usable)
			}
		}
		p.add(triplePrefix+"hessian2", usable)
		p.add(triplePrefix+derived, usable)
	}
	return p
}

// Releases returns the releases of the planned machines.
func (p *Plan) Releases() (list []string) {
	for _, r := range p.runs {
		if !slices.Contains(list, r.vm.Release) {
			list = append(list, r.vm.Release)
		}
	}
	return list
}

// add plans a target, unless it is planned already.
func (p *Plan) add(name string, usable func(string) string) (t *Target, r *run) {
	for _, t := range p.Targets {
		if t.As == name && !t.Measured {
			t.hidden = false
			return t, nil
		}
	}
	base := strings.TrimSuffix(strings.TrimPrefix(name, triplePrefix), registeredSuffix)
	t = &Target{As: name, triple: strings.HasPrefix(name, triplePrefix)}
	release, ok := p.nearest(base, t.triple)
	t.Release = release
	p.Targets = append(p.Targets, t)
	why := ""
	switch {
	case !ok:
		why = "no release of Dubbo writes it"
	default:
		why = usable(release)
	}
	if why != "" {
		t.size = func(_ *sampled, c *cell) { c.state, c.cause = failed, why }
		return t, nil
	}
	isRegistered := strings.HasSuffix(name, registeredSuffix)
	key := fmt.Sprint(release, isRegistered)
	if r = p.byVM[key]; r == nil {
		r = &run{vm: &VM{Release: release, Registered: isRegistered}, spool: p.c.spool}
		p.byVM[key] = r
		p.runs = append(p.runs, r)
	}
	r.vm.Targets = append(r.vm.Targets, strings.TrimSuffix(name, registeredSuffix))
	r.columns = append(r.columns, column{target: len(p.Targets) - 1})
	return t, r
}

// nearest returns the nearest release that writes a serialization, over Triple if it must be.
func (p *Plan) nearest(name string, triple bool) (release string, ok bool) {
	if name == derived && !slices.ContainsFunc(p.c.order, func(o *observed) bool { return strings.HasPrefix(o.format, derived) }) {
		name = "hessian2" // which every release has: a schema that is derived from classes needs nothing of Dubbo's
	}
	if !triple || p.Release >= firstTriple {
		release, ok = releases.Nearest(name, p.Release)
	}
	for _, line := range tripleLines {
		if triple && (!ok || release < firstTriple) {
			from, _ := releases.Find(line)
			release, ok = releases.Nearest(name, from)
		}
	}
	return release, ok && (!triple || release >= firstTriple)
}

// firstTriple is the first release with Triple, tripleLines the lines that have it.
const firstTriple = "3"

var tripleLines = []string{"3.0", "3.1", "3.2", "3.3"}

// observe plans to encode each observed serialization again.
func (p *Plan) observe(registered bool, usable func(string) string) (list []*Calibration) {
	for _, o := range p.c.order {
		names := []string{o.as()}
		if registered && slices.Contains(numbered, o.format) && !strings.HasPrefix(o.as(), triplePrefix) {
			names = append(names, o.as()+registeredSuffix)
		}
		if !Known(o.as()) {
			list = append(list, &Calibration{Serialization: o.name, cause: "no serialization of Dubbo's"})
			continue
		}
		var same []*Calibration
		for _, name := range names {
			known := slices.ContainsFunc(p.Targets, func(t *Target) bool { return t.As == name && !t.Measured })
			t, _ := p.add(name, usable)
			t.hidden = t.hidden || !known
			k := &Calibration{Serialization: o.name, As: t.As, Release: t.Release, methods: make(map[calibrated]*difference)}
			for _, r := range p.runs {
				for i := range r.columns {
					if p.Targets[r.columns[i].target] == t {
						r.columns[i].calibrate = append(r.columns[i].calibrate, k.body)
					}
				}
			}
			same = append(same, k)
		}
		same[0].or = same[1:]
		list = append(list, same[0])
	}
	return list
}

// as returns the target that is the observed serialization.
func (o *observed) as() string {
	if o.protocol == "triple" || o.protocol == "grpc" {
		return triplePrefix + o.format
	}
	return o.format
}

// dialect returns the name of the serialization without that of the protocol.
func (o *observed) dialect() string {
	if _, name, ok := strings.Cut(o.name, "/"); ok {
		return name
	}
	return o.name
}
