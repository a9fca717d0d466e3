package main

import (
	"fmt"
	"math/rand/v2"
	"net/netip"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/pipeline"
)

// cell is the outcome of one body at one share of loss, summed over the seeds.
type cell struct {
	body  *body
	share float64
	// Frames that were sent; those that lack bytes.
	frames, damaged int
	// Whole frames that were found, of those that are whole.
	complete, undamaged int
	// Frames whose header is there, and stands at a place known by the lengths of those before, but whose body is not.
	headers, headersKnown int
	invented              int
	skipped, bytes        int64
	first                 string // invention or miss
}

// found is a frame as it was reported.
type found struct {
	exchange uint64
	length   int // of the frame
	request  bool
	start    int64
	complete bool
	taken    bool
}

// finds takes the messages of calls: in these captures every frame is a request or a response.
type finds map[key][]found

func (f finds) Frame(*pipeline.Row) {}

func (f finds) Call(c *call.Call, _ bool) {
	for i, m := range [2]*call.Message{c.Request, c.Response} {
		if m == nil {
			continue
		}
		side := c.Side
		if i == 1 {
			side = 1 - side
		}
		k := keyOf(c.Conn.Ends[side], c.Conn.Ends[1-side])
		f[k] = append(f[k], found{exchange: m.Exchange, length: m.FrameLen(), request: m.Request, start: m.Span.From, complete: m.Complete})
	}
}

func keyOf(src, dst string) key {
	return key{netip.MustParseAddrPort(src), netip.MustParseAddrPort(dst)}
}

// run analyses what is left of a scene as analyze does.
func (l *lossy) run(sink pipeline.Sink) (*pipeline.Totals, error) {
	l.at = 0
	return pipeline.Run(l, pipeline.Options{Protocols: protocols.All(), Formats: formats.All()}, sink)
}

// measure removes packets of s, which has k's bodies, for each of the seeds.
func measure(s *scene, k *body, share float64, seeds int) (*cell, error) {
	c := &cell{body: k, share: share}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(uint64(seed), 5))
		l := s.remove(share, rng.Float64)
		got := finds{}
		t, err := l.run(got)
		if err != nil {
			return nil, err
		}
		c.skipped += t.Skipped
		c.bytes += s.bytes
		for i := range s.streams {
			c.compare(l, i, got[s.streams[i].key])
		}
	}
	return c, nil
}

// compare counts what was found of a stream.
func (c *cell) compare(l *lossy, stream int, got []found) {
	at := map[int64]*found{}
	for i := range got {
		f := &got[i]
		if at[f.start] != nil {
			c.wrong("twice", stream, f)
		}
		at[f.start] = f
	}
	whole, headerThere := l.whole(stream), l.whole(stream)
	known := true // the next frame stands at a known place
	for _, f := range l.streams[stream].frames {
		all, header := whole(f.start, f.end), headerThere(f.start, f.start+headerLen)
		g := at[int64(f.start)]
		ok := g != nil && int64(g.exchange) == f.id && g.request == f.request && g.length == f.end-f.start && g.complete == all
		if ok {
			g.taken = true
		}
		c.frames++
		switch {
		case all:
			c.undamaged++
			if ok {
				c.complete++
			} else if !c.body.nested && c.first == "" {
				c.first = fmt.Sprintf("missed: stream %d at %d: id %d, %d bytes", stream, f.start, f.id, f.end-f.start)
			}
		default:
			c.damaged++
			if header && known {
				c.headersKnown++
				if ok {
					c.headers++
				}
			}
		}
		known = ok || header && known || all && !c.body.nested
	}
	for i := range got {
		if f := &got[i]; !f.taken {
			c.wrong("invented", stream, f)
		}
	}
}

// wrong counts a frame that was never sent.
func (c *cell) wrong(how string, stream int, f *found) {
	c.invented++
	if c.first == "" {
		c.first = fmt.Sprintf("%s: stream %d at %d: id %d, %d bytes", how, stream, f.start, f.exchange, f.length)
	}
}

// broken says which promise the cell breaks; "" when none.
func (c *cell) broken() string {
	switch {
	case c.invented > 0:
		return "frames were invented"
	case !c.body.nested && c.complete != c.undamaged:
		return "whole frames were not found"
	case c.headers != c.headersKnown:
		return "headers at known places were not found"
	}
	return ""
}
