package main

import (
	"encoding/binary"
	"math/rand/v2"
)

// body is what the bodies of a scene are filled with.
type body struct {
	name string
	// nested: they hold whole frames.
	nested bool
	fill   func(w *writer, b []byte)
}

// bodies are those of the experiment.
var bodies = []body{
	{name: "benchmark mix"},
	{name: "random bytes", fill: (*writer).random},
	{name: "da bb everywhere", fill: (*writer).magics},
	{name: "frames, of the same connection", nested: true, fill: (*writer).own},
	{name: "frames, with ids around its own", nested: true, fill: (*writer).near},
	{name: "frames, of the same kind, with ids around its own", nested: true, fill: (*writer).alike},
	{name: "such frames in one body of twenty", nested: true, fill: (*writer).seldom},
}

// writer fills the bodies of a scene.
type writer struct {
	rng    *rand.Rand
	stream *stream
	frame  *frame
}

// write fills all bodies of s: a request keeps its envelope and has one byte array as its argument and empty attachments,
// a response is a byte array and nothing else, so that what it holds ends where it does.
func (k *body) write(s *scene) {
	if k.fill == nil {
		return
	}
	w := &writer{rng: rand.New(rand.NewPCG(7, 11))}
	for _, st := range s.streams {
		w.stream = st
		for i := range st.frames {
			w.frame = &st.frames[i]
			b := st.bytes[w.frame.start+headerLen : w.frame.end]
			if w.frame.request {
				b = b[envelope(b) : len(b)-2]
				copy(b[len(b):len(b)+2], "HZ")
			} else {
				b[0] = 0x91
				b = b[1:]
			}
			w.array(b, k.fill)
		}
	}
	s.rewrite()
}

// envelope is the length of the five strings at the start of a request's body.
func envelope(b []byte) int {
	at := 0
	for range 5 {
		switch c := b[at]; {
		case c < 0x20:
			at += 1 + int(c)
		case c >= 0x30 && c < 0x34:
			at += 2 + int(c-0x30)<<8 + int(b[at+1])
		default:
			panic("a long string in an envelope")
		}
	}
	return at
}

// array writes a byte array of Hessian2 over b, in chunks of up to 64 KiB.
func (w *writer) array(b []byte, fill func(*writer, []byte)) {
	const most = 1<<16 - 1
	for len(b) > 3+most {
		b[0], b[1], b[2] = 'A', 0xff, 0xff
		fill(w, b[3:3+most])
		b = b[3+most:]
	}
	if len(b) < 3 {
		copy(b, "NNN")
		return
	}
	b[0] = 'B'
	binary.BigEndian.PutUint16(b[1:], uint16(len(b)-3))
	fill(w, b[3:])
}

func (w *writer) random(b []byte) {
	for i := range b {
		b[i] = byte(w.rng.Uint32())
	}
}

// magics writes the magic again and again, with nothing or with some bytes that look like a header's between.
func (w *writer) magics(b []byte) {
	between := w.rng.IntN(2) * 14
	for len(b) >= 2 {
		n := copy(b, "\xda\xbb")
		if between > 0 {
			n += copy(b[n:], "\xc2\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"[:w.rng.IntN(13)])
			for range w.rng.IntN(between) {
				if n < len(b) {
					b[n] = byte(w.rng.Uint32())
					n++
				}
			}
		}
		b = b[n:]
	}
}

// own writes copies of frames that this connection sent before, in both directions, one after the other: what a service
// is sent that keeps a record of traffic. What is left becomes a frame that fills it.
func (w *writer) own(b []byte) {
	for tries := 0; tries < 16; tries++ {
		st := w.stream
		if w.rng.IntN(2) == 0 {
			st = st.other
		}
		// Frames of the other direction were sent before if their ids are lower.
		k := 0
		for step := 1 << 20; step > 0; step /= 2 {
			if k+step <= len(st.frames) && st.frames[k+step-1].id < w.frame.id-16 {
				k += step
			}
		}
		if k == 0 {
			break
		}
		f := st.frames[max(0, k-1-w.rng.IntN(40))]
		if n := f.end - f.start; n <= len(b)-smallest || n == len(b) {
			// Its first bytes suffice: what it holds may not have been written yet.
			copy(b, st.bytes[f.start:f.end])
			b = b[n:]
			if len(b) == 0 {
				return
			}
		}
	}
	w.chain(b, w.frame.id-100, 50, false)
}

// near writes small frames with ids around that of the frame that holds them, later ones too.
func (w *writer) near(b []byte) { w.chain(b, w.frame.id-50, 100, false) }

// alike writes frames as near does, but requests in requests and responses in responses only.
func (w *writer) alike(b []byte) { w.chain(b, w.frame.id-50, 100, true) }

// seldom writes random bytes, and as near does now and then.
func (w *writer) seldom(b []byte) {
	if w.rng.IntN(20) == 0 {
		w.near(b)
	} else {
		w.random(b)
	}
}

// smallest is the size of a small frame.
const smallest = headerLen + len(smallRequest)

const smallRequest = "\x052.0.2\x01s\x050.0.0\x01a\x00HZ"

// chain fills b with frames whose ids are among the n from first on.
func (w *writer) chain(b []byte, first, n int64, alike bool) {
	for len(b) >= smallest {
		size := len(b)
		if size >= 2*smallest {
			size = min(smallest+w.rng.IntN(300), size-smallest)
		}
		f := b[:size]
		b = b[size:]
		clear(f)
		copy(f, "\xda\xbb\x02\x14")
		body := f[headerLen:]
		body[0], body[1] = 0x91, 'N'
		if alike && w.frame.request || !alike && w.rng.IntN(2) == 0 {
			copy(f, "\xda\xbb\xc2\x00")
			copy(body, smallRequest)
		}
		binary.BigEndian.PutUint64(f[4:], uint64(first+w.rng.Int64N(n)))
		binary.BigEndian.PutUint32(f[12:], uint32(len(body)))
	}
}
