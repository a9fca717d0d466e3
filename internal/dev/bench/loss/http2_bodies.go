package main

import (
	"encoding/binary"
	"math/rand/v2"

	"dubbo-wire/internal/dev/bench/traffic"
)

// http2Body is what the messages of an HTTP/2 scene are filled with.
type http2Body struct {
	name string
	// nested: they hold whole frames.
	nested bool
	fill   func(w *http2Writer, b []byte)
}

var http2Bodies = []http2Body{
	{name: "benchmark mix"},
	{name: "random bytes", fill: func(w *http2Writer, b []byte) { w.random(b) }},
	{name: "zeros", fill: func(_ *http2Writer, b []byte) { clear(b) }},
	{name: "frames, of the same connection", nested: true, fill: (*http2Writer).own},
	{name: "frames, of streams around its own", nested: true, fill: (*http2Writer).near},
	{name: "such frames in one message of twenty", nested: true, fill: (*http2Writer).seldom},
}

type http2Writer struct {
	writer
	scene *scene
	m     *traffic.Message
}

// write fills all messages of s. What is compressed can no longer be decompressed.
func (k *http2Body) write(s *scene) {
	if k.fill == nil {
		return
	}
	w := &http2Writer{writer: writer{rng: rand.New(rand.NewPCG(7, 13))}, scene: s}
	for _, st := range s.streams {
		for _, m := range st.messages {
			w.m = m
			b := make([]byte, m.BodyLen)
			k.fill(w, b)
			for _, p := range m.Body {
				b = b[copy(st.bytes[p.From:p.To], b):]
			}
		}
	}
	s.rewrite()
}

const frameHeadLen = 9

func frameLen(b []byte) int { return frameHeadLen + int(b[0])<<16 + int(b[1])<<8 + int(b[2]) }

// own writes copies of frames that this connection sends, of both directions, one after the other; what is left becomes a
// frame that fills it.
func (w *http2Writer) own(b []byte) {
	for range 16 {
		st := w.scene.streams[2*w.m.Conn+w.rng.IntN(2)]
		m := st.messages[w.rng.IntN(len(st.messages))]
		from := st.bytes[m.Spans[0].From:]
		if m.Ordinal > 0 || len(from) < frameHeadLen {
			continue // it may begin within a frame
		}
		n := frameLen(from)
		if n > len(from) || n > len(b)-frameHeadLen && n != len(b) {
			continue
		}
		b = b[copy(b, from[:n]):]
		if len(b) == 0 {
			return
		}
	}
	w.chain(b)
}

// near writes frames of streams around the one that holds them.
func (w *http2Writer) near(b []byte) {
	for len(b) >= 2*(frameHeadLen+100) {
		n := frameHeadLen + w.rng.IntN(300)
		n = min(n, len(b)-frameHeadLen)
		w.chain(b[:n])
		b = b[n:]
	}
	w.chain(b)
}

// seldom writes random bytes, and as near does now and then.
func (w *http2Writer) seldom(b []byte) {
	if w.rng.IntN(20) == 0 {
		w.near(b)
	} else {
		w.random(b)
	}
}

// chain fills b with a frame: DATA with a whole message, or HEADERS.
func (w *http2Writer) chain(b []byte) {
	clear(b)
	if len(b) < frameHeadLen {
		return
	}
	n := len(b) - frameHeadLen
	binary.BigEndian.PutUint32(b, uint32(n)<<8) // and the type, DATA
	binary.BigEndian.PutUint32(b[5:], w.m.Stream+uint32(w.rng.IntN(9))*2)
	body := b[frameHeadLen:]
	switch {
	case n >= 5 && w.rng.IntN(3) > 0:
		b[4] = byte(w.rng.IntN(2)) // the last frame of the stream, or not
		binary.BigEndian.PutUint32(body[1:], uint32(n-5))
	case n > 0 && n < 64:
		b[3], b[4] = 1, 4 // HEADERS, a whole block
		for i := range body {
			body[i] = 0xbe + byte(w.rng.IntN(8)) // from the table
		}
	}
}
