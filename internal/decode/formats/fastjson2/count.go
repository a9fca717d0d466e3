package fastjson2

import (
	"math"

	"dubbo-wire/internal/decode"
)

// Where bytes are counted, the elements of arrays and the fields of beans are taken here, with the sums of value and member:
// values that tell their size in the first byte, short references, and short arrays and beans of such values. Everything else
// and every error is left to these.

// container is an array or a bean whose values are counted.
type container struct {
	left     int // the elements of an array that were not taken, the fields of a bean without end
	isBean   bool
	referred string // see [Reader.field]
}

// beanFields is a container for the fields of a bean.
var beanFields = container{left: math.MaxInt, isBean: true}

// countValues takes the values of a container, unless there is an error.
func (r *Reader) countValues(c container) {
	base := len(r.around)
	r.around = append(r.around, c)
	for r.OK() && !r.countCommon(base) {
		k := len(r.around) - 1
		if c := &r.around[k]; !c.isBean {
			c.left--
			r.value(decode.ByIndex, "", 0)
			continue
		}
		end, referred := r.member(r.around[k].referred)
		if r.around[k].referred = referred; end {
			r.around[k] = container{}
		}
	}
	r.around = r.around[:base]
}

// countCommon takes common values up to the end of container base, and reports whether it came there. If not, the next element
// or field of the innermost container is another one.
func (r *Reader) countCommon(base int) (done bool) {
	b, at := r.Buf, r.Off
	names, overhead, nodes := 0, 0, 0 // not counted yet, of the bytes from the last node to at
	c := &r.around[len(r.around)-1]
	for {
		if c.left == 0 {
			k := len(r.around) - 1
			if done = k == base; done {
				break
			}
			r.around = r.around[:k]
			c = &r.around[k-1]
			r.Leave()
			continue
		}
		value, name := at, "" // name is that of a field
		if c.isBean {
			if c.referred == "" {
				stop, n := r.fields(at)
				at = stop
				names += 2 * n
				nodes += 2 * n
			}
			if at < len(b) && b[at] == opObjectEnd {
				at++
				overhead++
				nodes++
				c.left = 0
				continue
			}
			s := r.symbolAt(at, opSymbol)
			if s == nil {
				break
			}
			value, name = at+2, s.text
			if b[value] == opNull && c.referred != "" && c.referred == name { // see [Reader.field]
				c.referred = ""
				names += 3
				nodes++
				at += 3
				r.repeated += len(name)
				continue
			}
		} else {
			at, nodes, c.left = elements(b, at, nodes, c.left)
			if c.left == 0 {
				continue
			}
			value = at
		}
		stop, isReference := r.scalarEnd(value)
		if stop < 0 {
			if stop = r.beginContainer(value); stop < 0 {
				break
			}
			c = &r.around[len(r.around)-2]
			if class := stop - value - 1; class > 0 {
				names += class
				nodes++
			}
			overhead++
			nodes++
		}
		nodes++
		at = stop
		if c.isBean {
			names += 2
			nodes++
			r.repeated += len(name)
			if isReference {
				c.referred = name
			} else if c.referred != "" {
				c.referred = ""
			}
		} else {
			c.left--
		}
		c = &r.around[len(r.around)-1]
	}
	r.Off = at
	r.Tally(overhead, nodes)
	r.Recount(decode.ClassNames, names)
	return done
}

// symbolAt returns the symbol with a small number that follows op at offset at, nil for anything else. Something follows it.
func (r *Reader) symbolAt(at int, op byte) *symbol {
	b := r.Buf
	if len(b)-at < 3 || b[at] != op || b[at+1] > opIntMax || int(b[at+1]) >= len(r.symbols) {
		return nil
	}
	if s := &r.symbols[b[at+1]]; r.repeated+len(s.text) <= maxRepeated {
		return s
	}
	return nil
}

// scalarEnd returns the offset after a value at offset at whose first byte tells its size, or after a reference whose path is short, -1
// for others.
func (r *Reader) scalarEnd(at int) (stop int, isReference bool) {
	b := r.Buf
	if at >= len(b) {
		return -1, false
	}
	size := int(sizes[b[at]])
	if size == noSize {
		if b[at] != opReference || at+1 >= len(b) || b[at+1] < opASCII0 || b[at+1] >= opASCII {
			return -1, false
		}
		size, isReference = 1+int(b[at+1]-opASCII0), true
	}
	if size >= len(b)-at {
		return -1, false
	}
	return at + 1 + size, isReference
}

// fields takes fields of a bean whose values tell their sizes in their first bytes, after one that is not a reference.
func (r *Reader) fields(at int) (stop, n int) {
	b, symbols, repeated := r.Buf, r.symbols, r.repeated
	for ; at < len(b)-3 && b[at] == opSymbol && b[at+1] <= opIntMax && int(b[at+1]) < len(symbols); n++ {
		size, name := int(sizes[b[at+2]]), len(symbols[b[at+1]].text)
		if size == noSize || size >= len(b)-at-2 || repeated+name > maxRepeated {
			break
		}
		at += 3 + size
		repeated += name
	}
	r.repeated = repeated
	return at, n
}

// elements takes elements that tell their sizes in their first bytes.
func elements(b []byte, at, nodes, left int) (int, int, int) {
	for ; left > 0 && at < len(b); left-- {
		size := int(sizes[b[at]])
		if size == noSize || size >= len(b)-at {
			break
		}
		at += 1 + size
		nodes++
	}
	return at, nodes, left
}

// beginContainer begins the container at offset at, which is common, and returns the offset after its head, -1 for others.
func (r *Reader) beginContainer(at int) (stop int) {
	if r.Level() >= decode.MaxDepth || at >= len(r.Buf) {
		return -1
	}
	s := r.symbolAt(at, opTyped)
	if s != nil {
		at += 2
	}
	left := math.MaxInt
	b := r.Buf[at:]
	isBean := b[0] == opObject && len(b) > 1 && b[1] == opSymbol
	if !isBean {
		if b[0] < opArray0 || b[0] >= opArray {
			return -1
		}
		left = int(b[0] - opArray0)
	}
	if s != nil {
		r.repeated += len(s.text)
	}
	r.Enter()
	// A processor waits for the parts of a container that is copied at once.
	k := len(r.around)
	if k == cap(r.around) {
		r.around = append(r.around, container{})
	}
	r.around = r.around[:k+1]
	c := &r.around[k]
	c.left, c.isBean = left, isBean
	if c.referred != "" {
		c.referred = ""
	}
	return at + 1
}
