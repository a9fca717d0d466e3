package report

import (
	"maps"
	"math"
	"slices"
	"strings"

	"dubbo-wire/internal/sizes"
)

// Protocols returns the names of the protocols of the calls: those of the groups, or of all calls if the report is not grouped by protocol.
func (r *Report) Protocols() []string {
	names := make(map[string]bool)
	if at := r.keyIndex(sizes.Protocol); at >= 0 {
		last := ""
		for _, g := range r.Groups {
			if !g.Rest && (g.Values[at] != last || len(names) == 0) {
				last = g.Values[at]
				names[last] = true
			}
		}
	} else {
		for name, k := range r.Totals.Control {
			if k.Calls > 0 {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// dubbo is how texts write the name of Dubbo's own protocol.
const dubbo = "Dubbo"

// isDubbo reports whether a protocol is Dubbo's own.
func isDubbo(protocol string) bool { return strings.EqualFold(protocol, dubbo) }

// Whose names the protocols that coverage is about, in the genitive: Dubbo's.
func (r *Report) Whose() string {
	names := slices.Sorted(maps.Keys(r.Totals.Control))
	if len(names) == 0 || len(names) == 1 && isDubbo(names[0]) {
		return dubbo + "'s"
	}
	text := strings.Join(names, ", ")
	if at := strings.LastIndex(text, ", "); at >= 0 {
		text = text[:at] + " and " + text[at+2:]
	}
	return text + "'s"
}

// protocolOf returns the protocol of a group, or of a row of the comparison. ok is false if it has none or several.
func (r *Report) protocolOf(g *sizes.Group) (name string, ok bool) {
	keys := r.By.Keys
	if len(g.Values) != len(keys) {
		keys = slices.DeleteFunc(slices.Clone(keys), func(k sizes.Key) bool { return k != sizes.Protocol && k != sizes.Serialization })
	}
	if at := slices.Index(keys, sizes.Protocol); at >= 0 && at < len(g.Values) {
		return g.Values[at], true
	}
	return "", false
}

// IsOf reports whether a group may have calls of a protocol.
func (r *Report) IsOf(g *sizes.Group, protocol string) bool {
	name, ok := r.protocolOf(g)
	return !ok || name == protocol
}

// ControlPerCall returns the control bytes per call of all protocols, whatever is selected; NaN without calls.
func (r *Report) ControlPerCall() float64 {
	calls, bytes := int64(0), int64(0)
	for _, k := range r.Totals.Control {
		calls += k.Calls
		bytes += k.Bytes
	}
	if calls == 0 {
		return math.NaN()
	}
	return float64(bytes) / float64(calls)
}

// compares names the sizes that are compared between rows: those of frames between protocols, because one may have in the header what
// another one has in the body.
func (r *Report) compares() sizeKind {
	return sizeKind{frames: !oneProtocol(r)}
}

// sizeKind is bodies or frames.
type sizeKind struct{ frames bool }

func (k sizeKind) of(d *sizes.Direction) *sizes.Stat {
	if k.frames {
		return &d.Frame
	}
	return &d.Body
}

// String returns "body" or "frame".
func (k sizeKind) String() string {
	if k.frames {
		return "frame"
	}
	return "body"
}
