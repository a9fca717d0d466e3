package msgpack

import (
	"encoding/binary"

	"dubbo-wire/internal/decode"
)

// What the bytes of a value are for, counted in one pass without a tree: the walk in msgpack.go, for all types. What it
// cannot take, a value cut short among them, is walked.

// shape says how a value goes on behind its first byte.
type shape struct {
	kind  uint8 // see below
	width uint8 // of the length that follows, in bytes
	size  uint8 // bytes behind the first byte and the length, or the number of elements or entries
}

const (
	bad uint8 = iota
	scalar
	text
	array
	object
)

var shapes = func() (all [256]shape) {
	for c := range all {
		all[c] = shapeOf(byte(c))
	}
	return all
}()

func shapeOf(c byte) shape {
	switch {
	case c <= 0x7f, c >= 0xe0, c == nilByte, c == falseByte, c == trueByte:
		return shape{kind: scalar}
	case c&0xf0 == 0x80:
		return shape{kind: object, size: c & 0x0f}
	case c&0xf0 == 0x90:
		return shape{kind: array, size: c & 0x0f}
	case c&0xe0 == 0xa0:
		return shape{kind: text, size: c & 0x1f}
	case c >= bin8 && c <= bin32:
		return shape{kind: scalar, width: 1 << (c - bin8)}
	case c >= ext8 && c <= ext32:
		return shape{kind: scalar, width: 1 << (c - ext8), size: 1}
	case c == float32Byte:
		return shape{kind: scalar, size: 4}
	case c == float64Byte:
		return shape{kind: scalar, size: 8}
	case c >= uint8Byte && c <= uint64Byte:
		return shape{kind: scalar, size: 1 << (c - uint8Byte)}
	case c >= int8Byte && c <= int64Byte:
		return shape{kind: scalar, size: 1 << (c - int8Byte)}
	case c >= fixext1 && c <= fixext16:
		return shape{kind: scalar, size: 1 + 1<<(c-fixext1)}
	case c >= str8 && c <= str32:
		return shape{kind: text, width: 1 << (c - str8)}
	case c == array16, c == array32:
		return shape{kind: array, width: 2 << (c - array16)}
	case c == map16, c == map32:
		return shape{kind: object, width: 2 << (c - map16)}
	}
	return shape{}
}

// level is an array or a map that is begun.
type level struct {
	left  int  // elements, or keys and values, that follow
	isMap bool // the next is a key where left is even
	names bool // keys are names
	named bool // and nothing but names: an object with its class
}

// tally is what was counted.
type tally struct{ names, lengths, nodes int }

// count takes a whole array or map. It returns false, and has taken nothing, where it has to be walked.
func (r *Reader) count(l decode.Label, name string, index int) bool {
	if r.Tree != nil || !r.OK() || r.Off >= len(r.Buf) || shapes[r.Buf[r.Off]].kind < array {
		return false
	}
	sum, end := r.tally(r.Buf, r.Off, r.keys == decode.ByMember)
	if end == 0 {
		return false
	}
	r.Open(decode.Map, l, name, index)
	r.Off = end
	r.Tally(sum.lengths, sum.nodes)
	r.Recount(decode.ClassNames, sum.names)
	r.Close()
	r.keys = decode.ByMember
	return true
}

// tally counts the array or map that starts at offset i of b and returns the offset behind it, 0 where it gives up.
func (r *Reader) tally(b []byte, i int, names bool) (sum tally, end int) {
	levels := r.levels[:0]
	defer func() { r.levels = levels[:0] }()
	top := level{left: 1}
	for {
		for top.left == 0 {
			if len(levels) == 0 {
				return sum, i
			}
			top = levels[len(levels)-1]
			levels = levels[:len(levels)-1]
		}
		key := top.isMap && top.left&1 == 0
		top.left--
		if i >= len(b) {
			return sum, 0
		}
		s := shapes[b[i]]
		start, n := i, int(s.size)
		i++
		if s.width > 0 {
			if len(b)-i < int(s.width) {
				return sum, 0
			}
			switch s.width {
			case 1:
				n += int(b[i])
			case 2:
				n += int(binary.BigEndian.Uint16(b[i:]))
			default:
				n += int(binary.BigEndian.Uint32(b[i:]))
			}
			i += int(s.width)
		}
		sum.nodes++
		if n > len(b)-i {
			return sum, 0
		}
		if key && top.named && s.kind != text {
			return sum, 0
		}
		switch s.kind {
		case scalar, text:
			i += n
			if key && s.kind == text && top.names {
				sum.names += i - start
			}
		case array, object:
			if len(levels) >= decode.MaxDepth {
				return sum, 0
			}
			sum.lengths += i - start
			sum.nodes++
			levels = append(levels, top)
			top = level{left: n, isMap: s.kind == object, names: names}
			if top.isMap {
				if n > (len(b)-i)/2 {
					return sum, 0
				}
				top.left = 2 * n
				if _, end := classAt(b, i); n > 0 && end > 0 && names {
					sum.names += end - i
					sum.nodes++
					i = end
					top.left -= 2
					top.named = true
				}
			}
			names = true // but for the outermost
		default:
			return sum, 0
		}
	}
}
