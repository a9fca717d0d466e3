package findings

import (
	"fmt"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/report"
)

const (
	leastDefaultsShare, leastDefaults     = 10, 50 // percent of the bodies; bytes per body
	leastUndeclaredShare                  = 1      // percent
	leastNeverSetShare, leastNeverSet     = 5, 20  // percent; bytes per body
	leastNeverSetIn                       = 10     // bodies
	maxFields, maxAllFields           int = 1 << 9, 1 << 16
)

// usedFields are how the sampled messages of one direction use the fields of their objects.
type usedFields struct {
	decode.FieldUses
	defaults, undeclared mostBytes
}

// mostBytes is the message with most bytes of something.
type mostBytes struct {
	bytes int64
	at    place
}

func (x *mostBytes) add(bytes int64, m *call.Message) {
	if bytes > x.bytes {
		*x = mostBytes{bytes, placeOf(m)}
	}
}

// addFields adds the fields of a sampled message.
func (k *Collector) addFields(to *bodySample, m *call.Message) {
	in := m.Sample
	if in == nil || in.Fields == nil {
		return
	}
	if to.fields == nil {
		to.fields = new(usedFields)
	}
	u, before := to.fields, to.fields.Len()
	u.Add(in.Fields, int64(m.BodyLen), min(maxFields, before+maxAllFields-k.fields))
	k.fields += u.Len() - before
	defaults, undeclared := int64(0), int64(0)
	for _, f := range in.Fields.All {
		defaults += f.DefaultBytes
		undeclared += f.UndeclaredBytes
	}
	u.defaults.add(defaults, m)
	u.undeclared.add(undeclared, m)
}

// fieldRule is what the rules about fields have in common.
type fieldRule struct {
	fact         string // the name of its bytes
	leastShare   int64  // percent of the bodies
	least        int64  // bytes per body
	bodies       int64
	fields       func(*usedFields) []decode.FieldUse
	bytes        func(*decode.FieldUse) int64
	values       func(*decode.FieldUse) int64
	at           func(*usedFields) place
	what, advice string
}

// find finds directions of a method with many such bytes.
func (r *fieldRule) find(m *method, e *evidence) {
	const inText, inFacts = 3, 20
	for i, l := range m.samples {
		if l == nil || l.fields == nil || l.fields.Messages < r.bodies {
			continue
		}
		u := l.fields
		by := map[string]int64{}
		counts := map[string]string{}
		sum := int64(0)
		for _, f := range r.fields(u) {
			if n := r.bytes(&f); n > 0 {
				sum += n
				by[f.Path] = n
				counts[f.Path] = report.Count(r.values(&f))
				if all := f.Set + f.Defaults; all > r.values(&f) {
					counts[f.Path] += " of " + report.Count(all)
				}
			}
		}
		if sum == 0 || 100*sum < r.leastShare*u.Bytes || sum < r.least*u.Messages {
			continue
		}
		var names, parts []string
		for _, f := range most(by, func(s string) string { return s }) {
			names = append(names, f.key)
			parts = append(parts, fmt.Sprintf("%s (%s in %s)", f.key, report.Count(f.n), counts[f.key]))
		}
		what := directionNames[i]
		f := m.finding(r.at(u))
		f.Text = fmt.Sprintf("%s are %s of its %s bytes (%s of %s per body, %s sampled): %s; %s", r.what, share(sum, u.Bytes), what, mean(sum, u.Messages),
			mean(u.Bytes, u.Messages), report.Plural(u.Messages, what), someOf(parts, inText), r.advice)
		f.Facts = []report.Fact{
			words("direction", what), fact(r.fact, sum), fact("bodyBytes", u.Bytes), fact("looked", u.Messages), fact("fields", int64(len(names))),
			{Name: "heaviest", Names: names[:min(len(names), inFacts)]},
		}
		f.Weight = scaled(m.side(i).bodyBytes, sum, u.Bytes)
		e.add(f)
	}
}

func defaultsOf(f *decode.FieldUse) int64     { return f.Defaults }
func defaultBytesOf(f *decode.FieldUse) int64 { return f.DefaultBytes }

var (
	sentDefaults = fieldRule{
		fact: "defaultBytes", leastShare: leastDefaultsShare, least: leastDefaults, bodies: leastSampled,
		fields: func(u *usedFields) []decode.FieldUse { return u.List() }, bytes: defaultBytesOf, values: defaultsOf,
		at:   func(u *usedFields) place { return u.defaults.at },
		what: "null, 0, false and empty values of fields", advice: "a class with fewer fields or a serialization that leaves them out saves these bytes",
	}
	undeclared = fieldRule{
		fact: "undeclaredBytes", leastShare: leastUndeclaredShare, bodies: leastSampled,
		fields: func(u *usedFields) []decode.FieldUse { return u.List() },
		bytes:  func(f *decode.FieldUse) int64 { return f.UndeclaredBytes }, values: func(f *decode.FieldUse) int64 { return f.Set },
		at:   func(u *usedFields) place { return u.undeclared.at },
		what: "fields that the schema or the class path does not have", advice: "they come from another version; a peer of this one takes them and has no use for them",
	}
	neverSet = fieldRule{
		fact: "neverSetBytes", leastShare: leastNeverSetShare, least: leastNeverSet, bodies: leastNeverSetIn,
		fields: func(u *usedFields) []decode.FieldUse { return u.NeverSet() }, bytes: defaultBytesOf, values: defaultsOf,
		at:   func(u *usedFields) place { return u.defaults.at },
		what: "fields that never had a value other than null, 0, false or empty", advice: "if no call needs them, remove them from the class",
	}
)
