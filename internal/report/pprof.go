package report

import (
	"compress/gzip"
	"io"
	"path/filepath"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/term"
)

// Numbers of the fields of a profile and its messages that are written, as profile.proto of github.com/google/pprof has them.
const (
	profileSampleType, profileSample, profileMapping, profileLocation, profileFunction = 1, 2, 3, 4, 5
	profileString, profileTime, profileDuration, profileComment, profileDefaultType    = 6, 9, 10, 13, 14

	typeName, typeUnit                           = 1, 2
	sampleLocation, sampleValue, sampleLabel     = 1, 2, 3
	labelKey, labelText                          = 1, 2
	mappingID, mappingFile                       = 1, 5
	mappingHasFunctions, mappingHasInlineFrames  = 7, 10
	locationID, locationMapping, locationLine    = 1, 2, 4
	lineFunction                                 = 1
	functionID, functionName, functionSystemName = 1, 2, 3
)

// WritePprof prints a profile for "go tool pprof": bytes, requests and responses by service, method, direction and path. The class of
// bytes and the serialization are labels. Samples are written one by one, because there may be many.
func (r *Report) WritePprof(w io.Writer) error {
	out := gzip.NewWriter(w)
	p := profileWriter{out: out, strings: newNumbers(0, ""), places: newNumbers(1)}
	for _, kind := range [][2]string{{"bytes", "bytes"}, {"requests", "count"}, {"responses", "count"}} {
		p.message = appendInt(p.message[:0], typeName, p.strings.of(kind[0]))
		p.message = appendInt(p.message, typeUnit, p.strings.of(kind[1]))
		p.write(profileSampleType)
	}
	for s := range r.stacks() {
		p.sample(s)
	}
	// Without a mapping that has all symbols, pprof would look for a binary.
	p.message = appendInt(p.message[:0], mappingID, 1)
	if name := r.inputName(); name != "" {
		p.message = appendInt(p.message, mappingFile, p.strings.of(name))
	}
	for field := protowire.Number(mappingHasFunctions); field <= mappingHasInlineFrames; field++ {
		p.message = appendInt(p.message, field, 1)
	}
	p.write(profileMapping)
	for i := range p.places.list { // each place has one function
		id := int64(i + 1)
		p.message = appendInt(appendInt(p.message[:0], locationID, id), locationMapping, 1)
		p.message = protowire.AppendBytes(protowire.AppendTag(p.message, locationLine, protowire.BytesType), appendInt(nil, lineFunction, id))
		p.write(profileLocation)
	}
	for i, name := range p.places.list {
		n := p.strings.of(name)
		p.message = appendInt(appendInt(appendInt(p.message[:0], functionID, int64(i+1)), functionName, n), functionSystemName, n)
		p.write(profileFunction)
	}
	comments := []string{
		"bytes: headers and bodies of the calls' frames. requests, responses: counted at the part header.",
		"labels: class (what the bytes are for), serialization.",
	}
	if note := r.ProfileNote(); note != "" {
		comments = append(comments, note)
	}
	numbers := listOf(comments, p.strings.of)
	for _, text := range p.strings.list {
		p.message = append(p.message[:0], text...)
		p.write(profileString)
	}
	p.field = p.field[:0]
	for _, n := range []struct {
		field protowire.Number
		n     int64
	}{{profileTime, r.First}, {profileDuration, r.nanos()}} {
		if n.n != 0 {
			p.field = appendInt(p.field, n.field, n.n)
		}
	}
	p.field = appendInt(appendInts(p.field, profileComment, numbers), profileDefaultType, p.strings.of("bytes"))
	_, _ = out.Write(p.field)
	return out.Close() // returns the first error of all
}

// profileWriter writes the messages of a profile.
type profileWriter struct {
	out             io.Writer
	strings, places numbers
	message, field  []byte // scratch
	label           []byte
	frames          []string // of the last sample, from the root
	ids             []int64  // of their locations
	locations       []int64
}

// numbers numbers texts in the order in which they come first.
type numbers struct {
	first int64
	by    map[string]int64
	list  []string
}

func newNumbers(first int64, list ...string) numbers {
	n := numbers{first: first, by: make(map[string]int64)}
	for _, text := range list {
		n.of(text)
	}
	return n
}

// of returns the number of a text.
func (n *numbers) of(text string) int64 {
	i, ok := n.by[text]
	if !ok {
		i = n.first + int64(len(n.list))
		n.by[text] = i
		n.list = append(n.list, text)
	}
	return i
}

// write writes message as a field of the profile. The writer keeps an error, which Close returns.
func (p *profileWriter) write(field protowire.Number) {
	p.field = protowire.AppendTag(p.field[:0], field, protowire.BytesType)
	p.field = protowire.AppendBytes(p.field, p.message)
	_, _ = p.out.Write(p.field)
}

// sample writes a stack.
func (p *profileWriter) sample(s *stack) {
	p.locations = p.locations[:0]
	p.ids = slices.Grow(p.ids, max(0, len(s.frames)-len(p.ids)))[:len(s.frames)]
	for i, f := range slices.Backward(s.frames) { // the leaf first
		if i >= len(p.frames) || p.frames[i] != f { // most frames are those of the sample before
			p.ids[i] = p.places.of(f)
		}
		p.locations = append(p.locations, p.ids[i])
	}
	p.frames = append(p.frames[:0], s.frames...)
	p.message = appendInts(p.message[:0], sampleLocation, p.locations)
	p.message = appendInts(p.message, sampleValue, []int64{s.bytes, s.requests, s.responses})
	for _, l := range [2][2]string{{"class", s.class}, {"serialization", s.serialization}} {
		if l[1] != "" {
			p.label = appendInt(appendInt(p.label[:0], labelKey, p.strings.of(l[0])), labelText, p.strings.of(l[1]))
			p.message = protowire.AppendBytes(protowire.AppendTag(p.message, sampleLabel, protowire.BytesType), p.label)
		}
	}
	p.write(profileSample)
}

// appendInt appends a number as a field.
func appendInt(b []byte, field protowire.Number, n int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(n))
}

// appendInts appends numbers as a field, packed if they are more than two.
func appendInts(b []byte, field protowire.Number, list []int64) []byte {
	if len(list) <= 2 {
		for _, n := range list {
			b = appendInt(b, field, n)
		}
		return b
	}
	size := 0
	for _, n := range list {
		size += protowire.SizeVarint(uint64(n))
	}
	b = protowire.AppendVarint(protowire.AppendTag(b, field, protowire.BytesType), uint64(size))
	for _, n := range list {
		b = protowire.AppendVarint(b, uint64(n))
	}
	return b
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
