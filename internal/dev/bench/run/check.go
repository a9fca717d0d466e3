package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"dubbo-wire/internal/dev/bench/traffic"
)

// report is the part of analyze's JSON that the truth speaks of.
type report struct {
	Coverage struct {
		Frames, FramesIncomplete, SkippedBytes, GapBytes int64
		RequestsWithoutResponse, ResponsesWithoutRequest int64
	}
	Groups []struct {
		Service, Method   string
		Calls             int64
		Request, Response direction
	}
}

type direction struct {
	Count     int64
	BodyBytes struct{ Total int64 }
}

// check lets dubbo-wire analyze the capture and compares what it found with the truth.
func check(program, file string, t *traffic.Truth) error {
	r, err := analyze(program, file)
	if err != nil {
		return err
	}
	return r.compare(t)
}

// checkLossy lets dubbo-wire analyze a capture of the same traffic with losses: some frames are incomplete or missing, and
// none is too much. (What must be found after losses is measured by internal/dev/bench/loss.)
func checkLossy(program, file string, t *traffic.Truth) error {
	r, err := analyze(program, file)
	if err != nil {
		return err
	}
	if c := &r.Coverage; c.Frames > t.Frames || c.Frames < t.Frames*9/10 || c.GapBytes == 0 {
		return fmt.Errorf("with losses dubbo-wire says %d frames and %d bytes missing; %d frames were written", c.Frames, c.GapBytes, t.Frames)
	}
	return nil
}

// analyze returns what dubbo-wire reports of a capture.
func analyze(program, file string) (*report, error) {
	cmd := exec.Command(program, "analyze", file, "--format", "json")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("dubbo-wire analyze: %w", err)
	}
	return parse(out)
}

func parse(out []byte) (*report, error) {
	r := new(report)
	if err := json.Unmarshal(out, r); err != nil {
		return nil, fmt.Errorf("dubbo-wire analyze --format json: %w", err)
	}
	return r, nil
}

// compare says all that differs between a report and the truth.
func (r *report) compare(t *traffic.Truth) error {
	var errs []error
	equal := func(what string, got, want int64) {
		if got != want {
			errs = append(errs, fmt.Errorf("%s: dubbo-wire says %d, the truth is %d", what, got, want))
		}
	}
	c := &r.Coverage
	equal("frames", c.Frames, t.Frames)
	equal("incomplete frames, bytes skipped and missing", c.FramesIncomplete+c.SkippedBytes+c.GapBytes, 0)
	equal("messages without their other half", c.RequestsWithoutResponse+c.ResponsesWithoutRequest, 0)
	equal("methods", int64(len(r.Groups)), int64(len(t.Methods)))
	want := make(map[string]traffic.Method, len(t.Methods))
	for _, m := range t.Methods {
		want[m.Service+"/"+m.Method] = m
	}
	for _, g := range r.Groups {
		name := g.Service + "/" + g.Method
		m, ok := want[name]
		if !ok {
			errs = append(errs, fmt.Errorf("%s: there is no such method", name))
			continue
		}
		equal(name+" calls", g.Calls, m.Requests)
		equal(name+" responses", g.Response.Count, m.Responses)
		equal(name+" request bodies", g.Request.BodyBytes.Total, m.RequestBytes)
		equal(name+" response bodies", g.Response.BodyBytes.Total, m.ResponseBytes)
	}
	return errors.Join(errs...)
}
