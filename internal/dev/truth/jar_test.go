package truth

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
)

const models = "../../../testdata/models/"

// jarNames are the serializations that need the application's classes for some of their objects.
var jarNames = map[string]bool{
	"compactedjava": true, "dubbo": true, "kryo": true, "kryo (Kryo 5)": true, "kryo2": true, "kryo2 (Kryo 5)": true, "fst": true, "fst (FST 1)": true, "avro": true,
	"protostuff": true, "protostuff (id 10)": true, "fury": true, "fury-compatible": true,
}

// whole is those of them whose values are all read with the classes.
var whole = map[string]bool{"compactedjava": true, "fst": true, "kryo": true, "protostuff": true, "protostuff (id 10)": true, "fury": true, "fury-compatible": true}

// isWhole reports whether all values of a capture are read with the classes. Dubbo 3 numbers registered classes in an order that is not
// known. Serializers of some models leave fields out; TestGraphs knows which.
func (p *provenance) isWhole() bool {
	if strings.HasPrefix(p.Name, "avro") { // other captures have values that are declared as Object
		return true
	}
	return !strings.HasPrefix(p.Name, "models-") && !(p.Optimizer && strings.HasPrefix(p.Dubbo, "3.")) && !slices.ContainsFunc(p.Serializations, func(s string) bool { return jarNames[s] && !whole[s] })
}

// classPath is what a user of the capture would bring.
func (p *provenance) classPath(t *testing.T) *classpath.Path {
	o := classpath.Options{Paths: []string{models + "rig.jar"}}
	if strings.HasPrefix(p.Name, "skew-") {
		o.Provider, o.Consumer = []string{models + "skew-provider.jar"}, []string{models + "skew-consumer.jar"}
	}
	if p.Optimizer {
		o.Optimizers = []string{"org.dubbowire.rig.apache.Optimizer"}
		if strings.HasPrefix(p.Name, "models-") {
			o.Optimizers[0] = "org.dubbowire.rig.apache.ModelsOptimizer"
		}
		if strings.HasPrefix(p.Dubbo, "2.6.") {
			o.Optimizers[0] = strings.Replace(o.Optimizers[0], "apache", "alibaba", 1)
		}
	}
	if strings.HasPrefix(p.Name, "models-") {
		o.Paths = append(o.Paths, models+"graphs.jar")
	}
	if strings.HasPrefix(p.Name, "two-optimizers-") {
		o.Optimizers = append(o.Optimizers, "org.dubbowire.rig.apache.UsersOptimizer")
	}
	path, err := classpath.Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, path.Close()) })
	return path
}

// TestWithClasses reads the captures of formats that need classes with those of the application, and compares every value with the
// log. Sizes and envelopes must be those that are found without classes.
func TestWithClasses(t *testing.T) {
	testkit.Once(t)
	for i, p := range allCaptures(t) {
		if testing.Short() && i%8 != 0 { // the race detector finds nothing more in the others
			continue
		}
		configured := map[string]bool{"compactedjava": true, "dubbo": true, "kryo": true, "kryo2": true, "fst": true, "avro": true, "protostuff": true, "fury": true, "fury-compatible": true}
		if p.foreign() || !slices.ContainsFunc(p.Serializations, func(s string) bool { return configured[s] }) || strings.HasPrefix(p.Name, "fork-") {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			sent, received, _, _ := readTruth(t, p.Truth)
			plain, r := analyze(t, p.File), analyzeWith(t, p.File, formats.With(p.classPath(t)))
			books(t, r)
			sameEnvelopes(t, plain, r)
			w := withClasses{t: t, p: &p, pairs: match(t, p, r, sent, received), missing: map[int64]bool{}}
			w.compare(r)
			w.report(r)
		})
	}
}

// TestWithOtherClasses reads what provider and consumer wrote with different versions of their classes, with the classes of one of them
// for both. What is printed must be right nevertheless; the rest is opaque.
func TestWithOtherClasses(t *testing.T) {
	testkit.Once(t)
	for _, p := range allCaptures(t) {
		if !strings.HasPrefix(p.Name, "skew-") {
			continue
		}
		for _, side := range []string{"provider", "consumer"} {
			t.Run(p.Name+" "+side, func(t *testing.T) {
				t.Parallel()
				sent, received, _, _ := readTruth(t, p.Truth)
				path, err := classpath.Open(classpath.Options{Paths: []string{models + "rig.jar", models + "skew-" + side + ".jar"}})
				require.NoError(t, err)
				t.Cleanup(func() { assert.NoError(t, path.Close()) })
				plain, r := analyze(t, p.File), analyzeWith(t, p.File, formats.With(path))
				books(t, r)
				sameEnvelopes(t, plain, r)
				w := withClasses{t: t, p: &p, pairs: match(t, p, r, sent, received), missing: map[int64]bool{}, partly: true}
				w.compare(r)
				w.differences = slices.DeleteFunc(w.differences, func(d string) bool {
					// The ordinal is all there is of a constant, so that another one in between cannot be seen.
					return strings.Contains(d, `"@enum"`) && strings.Contains(d, "Status") && strings.Contains(d, ".name: ")
				})
				w.report(r)
			})
		}
	}
}

// sameEnvelopes compares all but values.
func sameEnvelopes(t *testing.T, plain, r *run) {
	require.Len(t, r.frames, len(plain.frames))
	for i := range plain.frames {
		a, b := plain.frames[i], r.frames[i]
		a.Parts, b.Parts = nil, nil
		a.Decoded, b.Decoded, a.Cause, b.Cause, a.Error, b.Error, a.UndecodedAt, b.UndecodedAt = "", "", "", "", "", "", nil, nil
		if a.ErrorMessage == nil { // an exception may be an object of the application
			b.ErrorMessage = nil
		}
		if a.ExceptionClass == "" {
			b.ExceptionClass = ""
		}
		if a.ErrorMessage == nil && a.ResultKind == "exception" { // a field of that object
			b.ErrorMessage = nil
		}
		assert.Equal(t, a, b)
	}
	require.Len(t, r.calls, len(plain.calls))
	for i := range plain.calls {
		a, b := &plain.calls[i], &r.calls[i]
		sameTexts(t, a.RequestFrame, a.Attachments, b.Attachments)
		sameTexts(t, a.ResponseFrame, a.ResponseAttachments, b.ResponseAttachments)
	}
	var totals [2]pipeline.Totals
	for i, r := range []*run{plain, r} {
		totals[i] = *r.totals
		totals[i].BodiesDecoded, totals[i].BodiesPartly, totals[i].BodiesOpaque, totals[i].Causes = 0, 0, 0, nil
	}
	assert.Equal(t, totals[0], totals[1])
}

// sameTexts: attachments that were found without classes are there with them.
func sameTexts(t *testing.T, frame int64, plain, found any) {
	all, _ := found.(map[string]any)
	texts, _ := plain.(map[string]any)
	for key, value := range texts {
		if _, ok := value.(string); ok {
			assert.Equal(t, value, all[key], "frame %d, attachment %s", frame, key)
		}
	}
}

// withClasses compares the values of one capture.
type withClasses struct {
	t     *testing.T
	p     *provenance
	pairs map[int64]pair
	// partly says that some values cannot be read.
	partly bool
	// values are those that were compared; opaque is how many were not read to the end, and differences what is wrong.
	values, opaque int
	differences    []string
	missing        map[int64]bool // frames with classes that are not in the jars
}

// dubbosOwn are classes of Dubbo itself: an application has them in its jars, the models do not.
var dubbosOwn = regexp.MustCompile(`"(com\.alibaba|org\.apache)\.dubbo\.(common\.beanutil\.JavaBeanDescriptor|rpc\.service\.GenericException)"`)

func (w *withClasses) compare(r *run) {
	for i := range r.calls {
		c := &r.calls[i]
		if q, ok := w.pairs[c.RequestFrame]; ok && q.ours.Complete && jarNames[q.ours.Serialization] && q.sent.Unknown == nil {
			got, want := any(c.Arguments), func(l *logged) any { return l.Arguments }
			if c.Generic && len(q.sent.Arguments) == 3 { // references count from the arguments of $invoke
				got = []any{nil, nil, c.Arguments}
				want = func(l *logged) any { return []any{nil, nil, l.Arguments[2]} }
			}
			w.check(c.RequestFrame, "args of "+c.Method, got, q.any(want, func(l *logged) bool { return len(l.Arguments) == len(q.sent.Arguments) })...)
			if w.writesAttachments(q) {
				w.check(c.RequestFrame, "attachments of "+c.Method, c.Attachments, q.sent.Attachments)
			}
		}
		q, ok := w.pairs[c.ResponseFrame]
		if !ok || !q.ours.Complete || q.sent.Status != 20 || q.sent.DecodeError != "" || !jarNames[q.ours.Serialization] {
			continue
		}
		if q.sent.ResultKind == "exception" {
			w.values++
			if c.Exception != nil && c.Exception.Class == nil && typedNames[q.ours.Serialization] != nil && typedNames[q.ours.Serialization].unnamed {
				c.Exception.Class = q.sent.Exception.Class
			}
			if c.Exception == nil || fmt.Sprint(text(c.Exception.Class), text(c.Exception.Message)) != fmt.Sprint(text(q.sent.Exception.Class), text(q.sent.Exception.Message)) {
				w.differ(c.ResponseFrame, "exception of "+c.Method, c.Exception, q.sent.Exception, "exception")
			}
			continue
		}
		w.check(c.ResponseFrame, "result of "+c.Method, c.Result, q.any(func(l *logged) any { return l.Result }, func(l *logged) bool { return l.ResultKind == q.sent.ResultKind })...)
		if q.sent.Attachments != nil && w.writesAttachments(q) {
			w.check(c.ResponseFrame, "attachments of the answer to "+c.Method, c.ResponseAttachments, q.sent.Attachments)
		}
	}
}

func (*withClasses) writesAttachments(q pair) bool { return q.ours.Serialization != "avro" }

// any returns what the sender logged, and what the receiver did, if it could read it.
func (q *pair) any(of func(l *logged) any, usable func(l *logged) bool) []any {
	all := []any{of(q.sent)}
	if r := q.received; r != nil && r.DecodeError == "" && usable(r) {
		all = append(all, of(r))
	}
	return all
}

// check compares a value with what one of the sides logged.
func (w *withClasses) check(frame int64, what string, got any, wants ...any) {
	w.values++
	first := ""
	for _, want := range wants {
		capture := newTyped()
		name := w.pairs[frame].ours.Serialization
		if capture.typedRules = (&typedRules{}); name == "avro" {
			capture.typedRules = typedNames[name]
		} else if rules := typedNames[name]; rules != nil {
			capture.nulls = rules.nulls
		}
		c := comparer{ours: got, truth: want, full: !w.partly, typed: capture, fst1: w.pairs[frame].ours.Serialization == "fst (FST 1)"}
		diff := c.compare("", got, want)
		if diff == "" {
			return
		}
		first = cmp.Or(first, diff)
	}
	w.differ(frame, what, got, wants[0], first)
}

func (w *withClasses) differ(frame int64, what string, got, want any, diff string) {
	if b, _ := json.Marshal(want); dubbosOwn.Match(b) {
		w.missing[frame] = true
		return
	}
	if unread(got) {
		w.opaque++
	}
	w.differences = append(w.differences, fmt.Sprintf("%s frame %d %s: %s\n  found    %s\n  expected %s", w.p.Name, frame, what, diff, short(got), short(want)))
}

// report says what differs; DIFFERENCES names a folder for files with all of it.
func (w *withClasses) report(r *run) {
	opaque := 0
	for i := range r.frames {
		if f := &r.frames[i]; jarNames[f.Serialization] && !w.missing[f.Frame] {
			for _, part := range f.Parts {
				if part.Path == "opaque" {
					opaque += part.Bytes
				}
			}
		}
	}
	line := fmt.Sprintf("%-32s %5d values, %4d differ, %4d of them are opaque in part; %6d opaque bytes", w.p.Name, w.values, len(w.differences), w.opaque, opaque)
	if folder := os.Getenv("DIFFERENCES"); folder != "" {
		require.NoError(w.t, os.WriteFile(filepath.Join(folder, strings.ReplaceAll(filepath.Base(w.t.Name()), " ", "-")+".txt"), []byte(line+"\n"+strings.Join(w.differences, "\n")+"\n"), 0o644))
		return
	}
	w.t.Log(line)
	if strings.HasPrefix(w.p.Name, "edge-avro") {
		assert.Len(w.t, w.differences, w.opaque, "what is not opaque is right")
	}
	if w.partly || !w.p.isWhole() {
		return
	}
	assert.Zero(w.t, opaque, "opaque bytes")
	for i, d := range w.differences {
		if i < shown {
			w.t.Error(d)
		}
	}
}
