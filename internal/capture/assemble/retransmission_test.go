package assemble

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What was captured twice is no part of a stream; what was sent twice is a repeat.
func TestDuplicates(t *testing.T) {
	for _, c := range []struct {
		name                string
		run                 func(w *wire)
		want                string // of the client's stream
		duplicate, repeated int64
	}{
		{"a mirror of both ways through a port", func(w *wire) {
			w.send("c", ack, 101, 5001, "abc")
			w.again(0, 0)
			w.send("c", ack, 104, 5001, "def")
			w.again(0, 0)
		}, "abcdef<end>", 6, 0},
		{"sent again", func(w *wire) {
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", ack, 101, 5001, "abc")
		}, "abc<repeat 0+3><end>", 0, 3},
		{"sent again, each captured twice", func(w *wire) {
			for range 2 {
				w.send("c", ack, 101, 5001, "abc")
				w.again(0, 0)
			}
		}, "abc<repeat 0+3><end>", 6, 3},
		{"sent again with the same identification, much later", func(w *wire) {
			w.send("c", ack, 101, 5001, "abc")
			w.sleep(2 * time.Second)
			w.again(0, 0)
		}, "abc<repeat 0+3><end>", 0, 3},
		{"without identification, at once", func(w *wire) {
			w.anonymous("c", ack, 101, "abc")
			w.again(0, 0)
		}, "abc<end>", 3, 0},
		{"without identification, later", func(w *wire) {
			w.anonymous("c", ack, 101, "abc")
			w.sleep(5 * time.Millisecond)
			w.again(0, 0)
		}, "abc<repeat 0+3><end>", 0, 3},
		{"on two interfaces", func(w *wire) {
			w.send("c", ack, 101, 5001, "abc")
			w.sleep(5 * time.Second)
			w.again(0, 1)
			w.send("c", ack, 104, 5001, "def")
			w.again(0, 1)
		}, "abcdef<end>", 6, 0},
		{"on two interfaces of a cooked capture, one sent it again", func(w *wire) {
			for range 2 {
				w.send("c", ack, 101, 5001, "abc")
				w.last.Source = 7
				w.again(0, 0)
			}
		}, "abc<repeat 0+3><end>", 6, 3},
		{"at both ends, in other segments", func(w *wire) {
			w.both()
			w.send("c", ack, 101, 5001, "abcdef")
			w.quiet = true
			w.send("c", ack, 101, 5001, "abcd")
			w.again(1, 0)
			w.send("c", ack, 105, 5001, "ef")
			w.again(1, 0)
			w.send("c", ack, 107, 5001, "gh")
			w.again(1, 0)
			w.send("c", ack, 105, 5001, "efghij")
			w.again(0, 0)
		}, "abcdefghij<end>", 10, 0},
		{"at both ends, behind a hole", func(w *wire) {
			w.both()
			w.send("c", ack, 104, 5001, "def")
			w.again(1, 0)
			w.send("c", ack, 101, 5001, "abc")
			w.again(1, 0)
		}, "abcdef<end>", 6, 0},
		{"across the border of two files of a rotated set", func(w *wire) {
			w.send("c", ack, 101, 5001, "abc")
			w.quiet = true
			w.send("c", ack, 101, 5001, "abc")
			w.again(1, 0)
		}, "abc<repeat 0+3><end>", 0, 3},
		{"the border of two files that overlap", func(w *wire) {
			w.send("c", ack, 101, 5001, "abc")
			w.again(1, 0)
		}, "abc<end>", 3, 0},
		{"a keep-alive", func(w *wire) {
			w.send("c", ack, 101, 5001, "abc")
			w.send("c", ack, 103, 5001, "\x00")
		}, "abc<repeat 2+1><end>", 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire(Config{})
			w.open(100)
			c.run(w)
			w.a.End()
			assert.Equal(t, c.want, w.h.streams["1.0"].b.String())
			l := &w.a.Ledger
			assert.Equal(t, c.duplicate, l.Duplicate)
			assert.Equal(t, c.repeated, l.Repeated)
			assert.Zero(t, l.Differing)
			balance(t, w)
		})
	}
}

// anonymous sends a segment without IPv4 identification.
func (w *wire) anonymous(from string, flags uint8, seq uint32, data string) {
	w.quiet = true
	w.send(from, flags, seq, 5001, data)
	w.last.IPID = 0
	w.again(0, 0)
}

// both lets packets of another connection come from two files in turn, so that they overlap.
func (w *wire) both() {
	quiet := w.quiet
	w.quiet = true
	w.send("c", ack, 1, 1, "")
	w.last.Src.Port++
	for _, file := range []int{0, 1, 0, 1} {
		w.again(file, 0)
	}
	w.quiet = quiet
}

// Copies that bring other bytes are counted.
func TestDiffering(t *testing.T) {
	for _, c := range []struct {
		name            string
		run             func(w *wire)
		want            string
		segments, bytes int64
	}{
		{"behind a hole", func(w *wire) {
			w.send("c", ack, 104, 5001, "defg")
			w.send("c", ack, 102, 5001, "bcdEfgh")
			w.send("c", ack, 101, 5001, "a")
		}, "abcdefg<repeat 3+0>h<end>", 1, 4},
		{"into held data", func(w *wire) {
			w.send("c", ack, 104, 5001, "defg")
			w.send("c", ack, 101, 5001, "abcD")
		}, "abcdefg<repeat 3+0><end>", 0, 0},
		{"into held data, two bytes", func(w *wire) {
			w.send("c", ack, 104, 5001, "defg")
			w.send("c", ack, 101, 5001, "abcDE")
		}, "abcdefg<repeat 3+0><end>", 1, 2},
		{"delivered", func(w *wire) {
			w.send("c", ack, 101, 5001, "abcdefghijklmnop")
			w.send("c", ack, 101, 5001, "abcdefghijklmnoP")
			w.send("c", ack, 101, 5001, "abcdefghijklmnop")
		}, "abcdefghijklmnop<repeat 0+16><repeat 0+16><end>", 1, 16},
		{"the same", func(w *wire) {
			w.send("c", ack, 104, 5001, "def")
			w.send("c", ack, 104, 5001, "def")
			w.send("c", ack, 101, 5001, "abcdef")
		}, "abcdef<repeat 3+0><end>", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire(Config{})
			w.open(100)
			c.run(w)
			w.a.End()
			assert.Equal(t, c.want, w.h.streams["1.0"].b.String())
			assert.Equal(t, c.segments, w.a.Ledger.Differing)
			assert.Equal(t, c.bytes, w.a.Ledger.DifferingBytes)
			balance(t, w)
		})
	}
}

// The books of several assemblers are one, in every line.
func TestAdd(t *testing.T) {
	var sum, one Ledger
	lines := reflect.ValueOf(&one).Elem()
	for i := range lines.NumField() {
		lines.Field(i).SetInt(int64(i + 1))
	}
	sum.Add(&one)
	require.Equal(t, one, sum)
	sum.Add(&one)
	lines = reflect.ValueOf(&sum).Elem()
	for i := range lines.NumField() {
		require.Equal(t, int64(2*(i+1)), lines.Field(i).Int())
	}
}

// Books that are wrong are found out, also while data is held.
func TestBalance(t *testing.T) {
	w := newWire(Config{})
	w.open(100)
	w.send("c", ack, 101, 5001, "abc")
	w.again(0, 0)
	w.send("c", ack, 3<<29, 5001, "abc")
	w.send("c", ack, 107, 5001, "abc")
	l := w.a.Ledger
	require.NoError(t, l.Balance())
	assert.Equal(t, int64(6), l.Held)
	l.Stray++
	require.Error(t, l.Balance())
	l.Stray--
	l.Overhead++
	require.Error(t, l.Balance())
}
