package report

import (
	"fmt"
	"math"
	"slices"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/sizes"
)

const compositionTitle = "BODY COMPOSITION"

// composition returns the composition of bodies by class, with the rows of the comparison. It has no columns if bodies were not
// decoded.
func (r *Report) composition(s *Style) Section {
	if !r.Parts && !r.Sampled {
		return Section{}
	}
	columns := []Column{{Name: "bytes", unit: volume, drop: 1}}
	const group = "% of body bytes"
	classes := r.Classes()
	for _, c := range classes {
		columns = append(columns, Column{Group: group, Name: c.String(), unit: percent})
	}
	unsampled := r.Sampled && r.Selected.UnsampledBytes > 0
	if unsampled {
		columns = append(columns, Column{Group: group, Name: "not sampled", unit: percent})
	}
	sec, _, _ := r.comparedTable(s, columns, func(g *sizes.Group) []cell {
		all := g.UnsampledBytes
		for _, n := range g.Parts() {
			all += n
		}
		cells := []cell{numberCell(all)}
		for _, c := range classes {
			cells = append(cells, ratioCell(g.Parts()[c], all))
		}
		if unsampled {
			cells = append(cells, ratioCell(g.UnsampledBytes, all))
		}
		return cells
	}, nil)
	sec.Title = compositionTitle
	if sampled, all := r.sampledBodies(); r.Sampled && sampled < all {
		sec.note("Estimated from a sample of %s of %s: each stands for bodies of the same method and about the same size. --parts decodes all.",
			Count(sampled), plural(all, "body", "bodies"))
	}
	return sec
}

// sampledBodies returns the number of sampled bodies and of all bodies of complete messages.
func (r *Report) sampledBodies() (sampled, all int64) {
	n := r.Selected.Sampled()
	return n[0] + n[1], r.Selected.Request.Body.Count + r.Selected.Response().Body.Count
}

// SampleNote says how many bodies bytes by path were taken from, "" if they are those of all bodies.
func (r *Report) SampleNote() string {
	if !r.Inside || r.SampledAll() {
		return ""
	}
	n := r.Selected.Sampled()
	return fmt.Sprintf("Bytes by path come from a sample: %s of %s and %s of %s, the first ones of each method. --sample all measures all bodies.",
		Count(n[0]), Plural(r.Selected.Request.Body.Count, "request"),
		Count(n[1]), Plural(r.Selected.Response().Body.Count, "response"))
}

// SampledAll reports whether all bodies were sampled, so that bytes by path are exact.
func (r *Report) SampledAll() bool {
	sampled, all := r.sampledBodies()
	return sampled == all
}

// Classes returns the classes of bytes of bodies, decode.ClassCompressed only if there are such bytes.
func (r *Report) Classes() (list []decode.Class) {
	for c := range decode.ClassMissing {
		if c != decode.ClassCompressed || r.compressed() {
			list = append(list, c)
		}
	}
	return list
}

// compressed reports whether a group has compressed bodies.
func (r *Report) compressed() bool {
	return slices.ContainsFunc(r.Groups, func(g *sizes.Group) bool {
		return g.Request.Uncompressed != nil || g.Response().Uncompressed != nil || g.Parts()[decode.ClassCompressed] > 0
	})
}

// Estimate extrapolates the composition of sampled bodies to all bodies of the same method, direction and approximate size.
// Bytes of bodies without a sample are added to Group.UnsampledBytes.
func (r *Report) Estimate() {
	r.Sampled, r.Selected.UnsampledBytes = true, 0
	var sum sizes.ClassBytes
	for _, g := range r.Groups {
		var parts sizes.ClassBytes
		g.UnsampledBytes = 0
		for s := g.Strata; s != nil; s = s.Next {
			for i := range s.Layers {
				if l := &s.Layers[i]; l.Parts == nil {
					g.UnsampledBytes += l.Body
				} else {
					extrapolate(&parts, l.Parts, l.Body)
				}
			}
		}
		g.SetParts(&parts)
		r.Selected.UnsampledBytes += g.UnsampledBytes
		for i, n := range parts {
			sum[i] += n
		}
	}
	r.Selected.SetParts(&sum)
}

// extrapolate adds all bytes of some bodies to sum, in the proportions of the sampled parts.
func extrapolate(sum, parts *sizes.ClassBytes, all int64) {
	seen := int64(0)
	for _, n := range parts {
		seen += n
	}
	for i, n := range parts {
		if seen != all {
			n = int64(math.Round(float64(n) * float64(all) / float64(seen)))
		}
		sum[i] += n
	}
}
