package kryo

import (
	"bytes"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/java"
)

// The first bytes of a Java serialization stream.
const (
	javaStream0 = 0xac
	javaStream1 = 0xed
)

// Objects of classes that Kryo cannot create are Java serialization streams: exceptions since Dubbo 2.7, classes of the
// application without a default constructor, and in Dubbo 2.6.0 such classes of the JDK, too. No other data start like a
// stream: a number with these first bytes would be written shorter, and a text cannot have them. Within a top-level object
// all objects of a class share one stream.
var (
	javaStream    = []byte{javaStream0, javaStream1, 0x00, 0x05}
	newJavaStream = append([]byte{refNew}, javaStream...)
)

// stream is the stream of a class within one top-level object.
type stream struct {
	class  string
	buffer int // in which it is
	java   *java.Reader
}

// streamOf returns the stream of a class, nil if it has none yet.
func (r *Reader) streamOf(cl *class) *java.Reader {
	for i := range r.streams {
		if r.streams[i].class == cl.serializer() {
			return r.streams[i].java
		}
	}
	return nil
}

// sameBuffer reports whether the stream of a class is in the data that are being read. Kryo 4 writes on into the chunks in which it
// began, which nobody can read.
func (r *Reader) sameBuffer(cl *class) bool {
	for i := range r.streams {
		if r.streams[i].class == cl.serializer() {
			return r.streams[i].buffer == r.buffer
		}
	}
	return false
}

// serializer returns the class whose objects share a stream with those of this one.
func (c *class) serializer() string {
	switch m := c.model; {
	case m == nil:
	case m.stream != "":
		return m.stream
	case m.throwable:
		return "java.lang.Throwable"
	case m.declares != "":
		return m.declares // constants with a body share the stream of the enum (Dubbox)
	}
	return c.name
}

// streamed reports whether the object of a class at the cursor, which is at its reference byte, is in a stream.
func (r *Reader) streamed(cl *class) bool {
	return bytes.HasPrefix(r.Buf[r.Off:], newJavaStream) || r.streamOf(cl) != nil
}

// maxName is the length limit of a name in a stream.
const maxName = 1 << 16

// maxStreams bounds the streams of a top-level object, each of which takes memory of its own, and maxIdle the readers that are kept for
// other objects.
const (
	maxStreams = 64
	maxIdle    = 4
)

// newStream returns a reader of streams, which may have read other ones before.
func (r *Reader) newStream() *java.Reader {
	last := len(r.idle) - 1
	if last < 0 {
		return java.NewWhole()
	}
	s := r.idle[last]
	r.idle[last] = nil
	r.idle = r.idle[:last]
	return s
}

// endStreams ends those of a top-level object.
func (r *Reader) endStreams() {
	for i := range r.streams {
		if len(r.idle) == maxIdle {
			break
		}
		s := r.streams[i].java
		s.Reset(nil, decode.Malformed, nil)
		r.idle = append(r.idle, s)
	}
	clear(r.streams)
	r.streams = r.streams[:0]
}

// stream takes an object written by Java serialization and reports whether it was one; its reference byte was taken.
func (r *Reader) stream(cl *class, p decode.Place) bool {
	if r.d.plain(cl) || cl.layout == uuid {
		return false
	}
	s := r.streamOf(cl)
	begins := s == nil
	if begins {
		if !bytes.HasPrefix(r.Buf[r.Off:], javaStream) {
			return false
		}
		if len(r.streams) == maxStreams {
			r.failUnknown(cl, p)
			return true
		}
		s = r.newStream()
		r.streams = append(r.streams, stream{cl.serializer(), r.buffer, s})
	} else if !r.sameBuffer(cl) {
		r.open(p, decode.Object, cl)
		r.Fail(decode.Unsupported, "a Java serialization stream in the data that it began in", "data in other chunks")
		return true
	} else {
		s.Buf = r.Buf
	}
	if end, h, ok := s.Referred(r.Off); !begins && ok {
		r.Off = end
		if n := r.Scalar(p, decode.Ref); n != nil {
			if s.Refer(n, h); n.Kind == decode.Ref {
				r.seen[len(r.seen)-1].node = int32(n.Num)
			}
		}
		return true
	}
	i := r.open(p, decode.Object, cl)
	t := r.Tree
	if t == nil {
		t = &r.scratch
		i = t.Open(decode.Object, decode.ByIndex, "", 0, r.Off)
	}
	if !r.OK() || i < 0 {
		r.Fail(decode.Limit, "fewer values in a body", "more")
		return true
	}
	if begins {
		r.Off = s.Inside(r.Buf, r.Off, t, i)
	} else {
		r.Off = s.More(r.Off, i)
	}
	r.Pass()
	err := s.Err()
	if err != nil {
		r.work += min(len(r.Buf)-r.Off, maxName) // looked at, for a name
	}
	switch {
	case err == nil:
		t.Close()
	case err.Cause == decode.Malformed && r.Short != decode.Malformed:
		r.Fail(r.Short, err.Expected, err.Found)
	default:
		r.Fail(decode.Unsupported, err.Expected, err.Found)
	}
	return true
}
