package estimate

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strconv"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"dubbo-wire/internal/pipeline"
)

// Compression is a way to compress bodies: gzip, zstd or snappy. A Level of 0 is the usual one.
type Compression struct {
	Name  string
	Level int
	// Connection is set if the bodies of one direction of a connection are one stream that is flushed after each of them, as if a
	// layer below the messages compressed.
	Connection bool
}

// String returns the compression as names of targets have it.
func (c Compression) String() string {
	text := "+" + c.Name
	if c.Level != 0 {
		text += ":" + strconv.Itoa(c.Level)
	}
	if c.Connection {
		text += " stream"
	}
	return text
}

// Check refuses levels that do not exist.
func (c Compression) Check() error {
	most := map[string]int{"gzip": gzip.BestCompression, "zstd": 22}[c.Name]
	if c.Level < 0 || c.Level > most {
		return fmt.Errorf("--%s=%d: must be from 1 to %d", c.Name, c.Level, most)
	}
	return nil
}

// flusher is a compressor of a stream.
type flusher interface {
	io.Writer
	Flush() error
	Reset(w io.Writer)
}

// writer returns a compressor.
func (c Compression) writer(w io.Writer) flusher {
	switch c.Name {
	case "gzip":
		level := gzip.DefaultCompression
		if c.Level > 0 {
			level = c.Level
		}
		z, _ := gzip.NewWriterLevel(w, level)
		return z
	case "zstd":
		level := zstd.SpeedDefault
		if c.Level > 0 {
			level = zstd.EncoderLevelFromZstd(c.Level)
		}
		z, _ := zstd.NewWriter(w, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithAllLitEntropyCompression(true), zstd.WithWindowSize(1<<20))
		return z
	}
	return nil
}

// compressor returns a function that measures single bodies. It belongs to one goroutine.
func (c Compression) compressor() func(body []byte) int {
	switch c.Name {
	case "snappy":
		var buf []byte
		return func(body []byte) int {
			buf = snappy.Encode(buf[:cap(buf)], body)
			return len(buf)
		}
	case "zstd":
		z, _ := c.writer(nil).(*zstd.Encoder)
		var buf []byte
		return func(body []byte) int {
			buf = z.EncodeAll(body, buf[:0])
			return len(buf)
		}
	}
	var n counter
	z := c.writer(&n)
	return func(body []byte) int {
		n = 0
		z.Reset(&n)
		_, _ = z.Write(body)
		_ = z.(io.Closer).Close()
		return int(n)
	}
}

// counter counts what is written.
type counter int

func (n *counter) Write(b []byte) (int, error) {
	*n += counter(len(b))
	return len(b), nil
}

// streams compresses the bodies of connections as streams, in capture order.
type streams struct {
	kinds []Compression // those per connection; others are zero
	any   bool
	open  map[[2]int][]*stream
}

type stream struct {
	n  counter
	w  flusher
	in int // bytes of bodies
}

// Bounds of streams: the first connections, since a stream takes about a megabyte, and the first bytes of each direction.
const (
	maxStreams     = 32
	maxStreamBytes = 32 << 20
)

func newStreams(list []Compression) *streams {
	s := &streams{kinds: list, open: make(map[[2]int][]*stream)}
	for _, c := range list {
		s.any = s.any || c.Connection
	}
	return s
}

// message measures the body of a message in the streams of its direction.
func (s *streams) message(r *pipeline.Row, p *prepared) {
	if !s.any || p.body == nil {
		return
	}
	key := [2]int{r.Conn.Number, r.Side}
	list, ok := s.open[key]
	if !ok {
		if len(s.open) >= 2*maxStreams {
			return
		}
		list = make([]*stream, len(s.kinds))
		for i, c := range s.kinds {
			if c.Connection {
				list[i] = new(stream)
				list[i].w = c.writer(&list[i].n)
			}
		}
		s.open[key] = list
	}
	p.streamed = make([]int32, len(s.kinds))
	for i, one := range list {
		p.streamed[i] = -1
		if one != nil && one.in < maxStreamBytes {
			one.in += len(p.body)
			before := one.n
			_, _ = io.Copy(one.w, bytes.NewReader(p.body))
			_ = one.w.Flush()
			p.streamed[i] = int32(one.n - before)
		}
	}
}
