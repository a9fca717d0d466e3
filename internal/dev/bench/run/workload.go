package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	hessian "github.com/apache/dubbo-go-hessian2"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/dev/bench/bodies"
	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/rpc"
)

// captures is where the committed captures are, from the top of the repository.
const captures = "testdata/captures"

// workload is bodies of one serialization, which are read again and again as a command reads them.
type workload struct {
	name     string
	format   *decode.Format
	decoder  *dubbo.Decoder
	dialects dubbo.Dialects // of the connection that all belong to
	frames   []*dubbo.Frame
	requests []*rpc.Operation // of the calls of these frames; nil where no reader asks for them
	bytes    int              // of their bodies
	values   int              // in them
	json     []byte
	printed  decode.Printed
}

// newWorkload checks that the bodies are read to their end.
func newWorkload(name string, f *decode.Format, frames []*dubbo.Frame, requests []*rpc.Operation) (*workload, error) {
	w := &workload{name: name, format: f, decoder: dubbo.NewDecoder([]decode.Format{*f}), frames: frames, requests: requests}
	for i, f := range frames {
		w.bytes += len(f.Body)
		m := w.decode(i, dubbo.Values)
		if w.isWhole() && m.Decoded != "full" {
			return nil, fmt.Errorf("%s: a body of %d bytes is read %s: %w", name, len(f.Body), m.Decoded, m.Err)
		}
		for i := range m.Tree.Nodes {
			if k := m.Tree.Nodes[i].Kind; k != decode.Overhead && k != decode.Opaque {
				w.values++
			}
		}
	}
	if w.bytes == 0 {
		return nil, fmt.Errorf("%s: no bodies", name)
	}
	return w, nil
}

// withClasses ends the names of rows whose readers know the classes of the application.
const withClasses = ", with classes"

// isWhole reports whether every byte of the bodies is read.
func (w *workload) isWhole() bool {
	return w.format.Depth == decode.DepthFull || strings.HasSuffix(w.name, withClasses)
}

// walk tells what the bytes are for, as analyze --parts does.
func (w *workload) walk() {
	for i := range w.frames {
		w.decode(i, dubbo.Parts)
	}
}

func (w *workload) decode(i int, detail dubbo.Detail) *dubbo.Message {
	if w.requests != nil {
		w.dialects.Answer(w.requests[i])
	}
	return w.decoder.Decode(w.frames[i], detail, &w.dialects)
}

// print reads the values and writes them as JSON, as calls does.
func (w *workload) print() {
	w.printed.Printing = decode.PrintValues
	w.decoder.Print(&w.printed)
	defer w.decoder.Print(nil)
	for i := range w.frames {
		m := w.decode(i, dubbo.Values)
		w.json = w.json[:0]
		if p := m.Printed; p != nil {
			w.json = append(append(w.json, p.Values...), p.Attachments...)
			continue
		}
		if m.Names != nil {
			w.json = m.AppendArguments(w.json)
		} else {
			w.json = m.AppendResult(w.json)
		}
		w.json = m.AppendAttachments(w.json, false)
	}
}

// peer reads the bodies with dubbo-go-hessian2: value after value to the end. It returns their number.
func (w *workload) peer() (values int, err error) {
	d := hessian.NewDecoder(nil)
	for _, f := range w.frames {
		d.Reset(f.Body)
		for {
			if _, err := d.Decode(); err != nil {
				if errors.Is(err, io.EOF) {
					break
				}
				return values, err
			}
			values++
		}
	}
	return values, nil
}

// postsMethod is what the posts workload calls: a list of 100 posts, which share 10 topics, is the answer.
const postsMethod = "queryPost"

// models is the jar with the classes of the posts, from the top of the repository.
const models = "testdata/models/rig.jar"

// posts returns the posts workload of every serialization, from the capture that proves it: each request and its answer. Serializations
// that need classes are there with and without them.
func posts(dir string) (all []*workload, err error) {
	p, err := classpath.Open(classpath.Options{Paths: []string{filepath.Join(dir, "../..", models)}})
	if err != nil {
		return nil, err
	}
	list := formats.All()
	known := formats.With(p)
	for i := range list {
		f := &list[i]
		if f.Depth == decode.DepthNone {
			continue
		}
		found, err := bodies.Read(filepath.Join(dir, f.Capture))
		if err != nil {
			return nil, err
		}
		var frames []*dubbo.Frame
		var requests []*rpc.Operation
		for _, b := range found {
			if b.Method == postsMethod && b.Format != nil && b.Format.FullName() == f.FullName() {
				frames = append(frames, &b.Frame)
				requests = append(requests, b.Operation)
			}
		}
		if len(frames) == 0 && f.Depth < decode.DepthFull {
			continue // its capture has other calls
		}
		w, err := newWorkload(f.FullName(), f, frames, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
		if f.Classes != decode.DepthFull && !known[i].TypedResults {
			continue
		}
		if w, err = newWorkload(f.FullName()+withClasses, &known[i], frames, requests); err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// mixSize is how much of the benchmark's traffic is made for the table, in bytes.
const mixSize = 2e6

// mix returns bodies as the benchmark's captures have them.
func mix() (*workload, error) {
	var b bytes.Buffer
	if _, err := traffic.Write(&b, traffic.Config{Size: mixSize, Connections: 8}); err != nil {
		return nil, err
	}
	found, err := bodies.ReadFrom(&b)
	if err != nil {
		return nil, err
	}
	var frames []*dubbo.Frame
	var f *decode.Format
	for _, b := range found {
		if f = b.Format; !b.Event() {
			frames = append(frames, &b.Frame)
		}
	}
	w, err := newWorkload(f.FullName(), f, frames, nil)
	if err != nil {
		return nil, err
	}
	_, err = w.peer()
	return w, err
}
