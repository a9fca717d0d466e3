package call

import (
	"bytes"
	"math/bits"
	"sync"
)

// valueBuffer has the values of a message.
type valueBuffer struct{ b []byte }

// valueBuffers are those that are free, by size: four sizes for each power of two. The goroutine that prints calls frees what others fill.
var valueBuffers [4 * (maxValueBits - minValueBits + 1)]sync.Pool

// Buffers of 2^minValueBits to 2^maxValueBits bytes are used again, others are as large as their values.
const (
	minValueBits = 8
	maxValueBits = 20
)

// sizeOfValues returns the size of a buffer for n bytes and its index in valueBuffers.
func sizeOfValues(n int) (size, class int) {
	n = max(n, 1<<minValueBits)
	if n > 1<<maxValueBits {
		return n, -1
	}
	step := bits.Len(uint(n-1)) - 3
	steps := (n + 1<<step - 1) >> step // 5 to 8
	return steps << step, 4*(step+3-minValueBits) + steps - 5
}

// KeepValues keeps copies of the values and the attachments of a message, until FreeValues.
func (m *Message) KeepValues(values, attachments []byte) {
	d, n := m.Detail(), len(values)+len(attachments)
	size, class := sizeOfValues(n)
	d.buffer = nil
	if class >= 0 {
		d.buffer, _ = valueBuffers[class].Get().(*valueBuffer)
	}
	if d.buffer == nil {
		d.buffer = &valueBuffer{make([]byte, 0, size)}
	}
	b := append(append(d.buffer.b, values...), attachments...)
	if len(values) > 0 {
		d.Values = b[:len(values):len(values)]
	}
	if len(attachments) > 0 {
		d.AttachmentsJSON = b[len(values):n:n]
	}
}

// FreeValues ends the use of the values of the messages from m on.
func (m *Message) FreeValues() {
	for ; m != nil; m = m.Next {
		if m.Details != nil {
			m.Details.freeValues()
		}
	}
}

func (d *Details) freeValues() {
	if d.buffer == nil {
		return
	}
	if _, class := sizeOfValues(cap(d.buffer.b)); class >= 0 {
		valueBuffers[class].Put(d.buffer)
	}
	d.Values, d.AttachmentsJSON, d.buffer = nil, nil, nil
}

// OwnValues gives a copy of a message values that are not freed with those of the original.
func (m *Message) OwnValues() {
	if m.Details == nil || m.Details.buffer == nil {
		return
	}
	d := *m.Details
	d.Values, d.AttachmentsJSON, d.buffer = bytes.Clone(d.Values), bytes.Clone(d.AttachmentsJSON), nil
	m.Details = &d
}
