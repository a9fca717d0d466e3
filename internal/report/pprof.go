package report

import (
	"io"
	"path/filepath"

	"github.com/google/pprof/profile"

	"dubbo-wire/internal/term"
)

// WritePprof prints a profile for "go tool pprof": bytes, requests and responses by service, method, direction and path. The class of
// bytes and the serialization are labels.
func (r *Report) WritePprof(w io.Writer) error {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{
			{Type: "bytes", Unit: "bytes"},
			{Type: "requests", Unit: "count"},
			{Type: "responses", Unit: "count"},
		},
		DefaultSampleType: "bytes",
		Comments: []string{
			"bytes: headers and bodies of the calls' frames. requests, responses: counted at the part header.",
			"labels: class (what the bytes are for), serialization.",
		},
		TimeNanos: r.First, DurationNanos: r.nanos(),
	}
	if note := r.ProfileNote(); note != "" {
		p.Comments = append(p.Comments, note)
	}
	// Without a mapping that has all symbols, pprof would look for a binary.
	m := &profile.Mapping{ID: 1, File: r.inputName(), HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
	p.Mapping = []*profile.Mapping{m}
	places := make(map[string]*profile.Location)
	place := func(name string) *profile.Location {
		l := places[name]
		if l == nil {
			f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name, SystemName: name}
			l = &profile.Location{ID: f.ID, Mapping: m, Line: []profile.Line{{Function: f}}}
			p.Function, p.Location, places[name] = append(p.Function, f), append(p.Location, l), l
		}
		return l
	}
	labels := make(map[[2]string]map[string][]string) // which samples share
	for _, s := range r.stacks() {
		kinds := [2]string{s.class, s.serialization}
		label := labels[kinds]
		if label == nil {
			label = make(map[string][]string)
			for i, name := range [2]string{"class", "serialization"} {
				if kinds[i] != "" {
					label[name] = []string{kinds[i]}
				}
			}
			labels[kinds] = label
		}
		sample := &profile.Sample{
			Value: []int64{s.bytes, s.requests, s.responses}, Label: label, Location: make([]*profile.Location, 0, len(s.frames)),
		}
		for i := len(s.frames) - 1; i >= 0; i-- { // the leaf first
			sample.Location = append(sample.Location, place(s.frames[i]))
		}
		p.Sample = append(p.Sample, sample)
	}
	return p.Write(w)
}

// inputName returns a short name of the inputs.
func (r *Report) inputName() string {
	if len(r.Inputs) == 0 {
		return ""
	}
	name := term.Clean(filepath.Base(r.Inputs[0].File))
	if r.Inputs[0].File == "-" {
		name = "standard input"
	}
	if n := len(r.Inputs) - 1; n > 0 {
		name += " and " + Plural(int64(n), "more file")
	}
	return name
}
