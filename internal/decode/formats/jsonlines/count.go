package jsonlines

import (
	"bytes"
	"encoding/binary"

	"dubbo-wire/internal/decode"
)

// tally counts the bytes of a text by class in one pass, without a tree. It takes the JSON that nearly every text consists
// of; the reader in walk.go reads texts with anything else. It is two to three times as fast as that reader.

// Flags of an open object or list.
const (
	isObject = 1 << iota
	isKeyed  // an object whose keys are values
)

// tally is what was counted, in bytes and nodes.
type tally struct{ names, punct, nodes int }

// count takes a whole object or list. It returns false, and takes nothing, if the text needs the reader.
func (r *Reader) count(l decode.Label, name string, index int) bool {
	if r.cut || r.Off >= r.end || r.Buf[r.Off]|0x20 != '{' || r.proto && r.outer == theAttachments {
		return false
	}
	sum, end := r.tally(r.Buf[:r.end], r.Off)
	if end != r.end || r.printing.to != nil && !r.print(l, name, index, r.Buf[r.Off:end]) {
		return false
	}
	r.outer = aValue
	r.Open(decode.Map, l, name, index)
	r.Off = end
	r.Tally(sum.punct, sum.nodes)
	r.Recount(decode.ClassNames, sum.names)
	r.Close()
	return true
}

// tally counts the object or list that starts at offset i of text and returns the offset after it, 0 where it gives up.
func (r *Reader) tally(text []byte, i int) (sum tally, end int) {
	if r.stack == nil {
		r.stack = new([decode.MaxDepth]byte)
	}
	depth := 0
	flags := byte(0)         // of the innermost open object or list
	named, class := 0, false // Dubbo's JSON: the length of the last value if it names a class; whether the last key is "class"
	outer := r.outer
	var classes [8][]byte // names of classes, by length

value:
	sum.nodes += 2 // the value and the punctuation before it
	named = 0
first:
	if i >= len(text) {
		return sum, 0
	}
	switch c := text[i]; c {
	case '"':
		end := stringEnd(text, i)
		if end == 0 {
			return sum, 0
		}
		if class {
			name := text[i+1 : end-1]
			// Most objects are of few classes.
			known := &classes[len(name)%len(classes)]
			if len(name) > 0 && bytes.Equal(*known, name) {
				named = end - i
			} else if className(name) {
				named, *known = end-i, name
			}
		}
		i = end
	case ' ', '\t', '\r', '\n':
		sum.punct++
		i++
		goto first
	case '{', '[':
		if c == '{' && r.fastjson && bytes.HasPrefix(text[i:], []byte(referenceStart)) {
			n := referenceEnd(text[i:])
			if n == 0 || depth == 0 {
				return sum, 0
			}
			i += n
			break
		}
		if depth >= len(r.stack) {
			return sum, 0
		}
		r.stack[depth] = flags
		depth++
		i++
		sum.punct++
		flags = 0
		if c == '{' {
			if flags = isObject; outer == theAttachments || outer == aMap {
				flags |= isKeyed
			}
		}
		outer, class = aValue, false
		for ; i < len(text) && isSpace(text[i]); i++ {
			sum.punct++
		}
		if i < len(text) && text[i] == c+2 { // { and }, [ and ] are two apart
			goto closing
		}
		if c == '[' {
			goto value
		}
		if r.classFirst && i+1 < len(text) && text[i+1] == '@' {
			n, own := r.tallyClass(text[i:])
			if n == 0 {
				return sum, 0
			}
			if own != 0 {
				flags = own
				sum.names += n
				sum.nodes += 2
				i += n
				goto afterValue
			}
		}
		goto key
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		k := i + 1
		for k+8 <= len(text) { // longer numbers are times mostly
			if d := digits(binary.LittleEndian.Uint64(text[k:])); d < 8 {
				k += d
				break
			}
			k += 8
		}
		for k < len(text) && text[k]-'0' <= 9 {
			k++
		}
		if c == '-' || k == len(text) || text[k] != ',' && text[k] != '}' && text[k] != ']' {
			if k = r.scanNumber(text, i).end; k == 0 {
				return sum, 0
			}
		}
		i = k
	case 'n', 't':
		if w := text[i:]; len(w) < 4 || string(w[:4]) != "null" && string(w[:4]) != "true" {
			return sum, 0
		}
		i += 4
	case 'f':
		if w := text[i:]; len(w) < 5 || string(w[:5]) != "false" {
			return sum, 0
		}
		i += 5
	default:
		return sum, 0
	}

afterValue:
	if i >= len(text) {
		return sum, 0
	}
	switch c := text[i]; {
	case c == ',':
		i++
		sum.punct++
		if flags&isObject == 0 {
			class = false
			goto value
		}
		goto key
	case c == '}' && flags&isObject != 0, c == ']' && flags&isObject == 0:
		goto closing
	case isSpace(c):
		sum.punct++
		i++
		goto afterValue
	}
	return sum, 0

closing:
	i++
	sum.punct++
	sum.nodes++
	if named != 0 && flags&isKeyed == 0 {
		sum.names += named
	}
	named, class = 0, false
	if depth--; depth == 0 {
		return sum, i
	}
	flags = r.stack[depth]
	goto afterValue

key:
	end = stringEnd(text, i)
	if end == 0 {
		if i < len(text) && isSpace(text[i]) {
			sum.punct++
			i++
			goto key
		}
		return sum, 0
	}
	sum.nodes += 2
	if flags&isKeyed == 0 {
		sum.names += end - i
	}
	if class = r.classLast && end-i == len(`"class"`) && string(text[i+1:end-1]) == "class"; r.classLast && bytes.IndexByte(text[i:end], '\\') >= 0 {
		return sum, 0 // it may be "class" as well
	}
	for i = end; i < len(text); i++ {
		sum.punct++
		if c := text[i]; c == ':' {
			i++
			goto value
		} else if !isSpace(c) {
			break
		}
	}
	return sum, 0
}

// tallyClass returns the length of the member that names a class, the first one of an object, and the flags of the object.
// own is 0 if it is another member, n is 0 if tally gives up.
func (r *Reader) tallyClass(text []byte) (n int, own byte) {
	switch {
	case !r.fastjson: // Jackson's annotations are rare
		return 0, 0
	case !bytes.HasPrefix(text, []byte(typeMember)):
		return 1, 0
	}
	n = stringEnd(text, len(typeMember)-1)
	if n == 0 || bytes.IndexByte(text[len(typeMember):n], '\\') >= 0 {
		return 0, 0
	}
	if isMap(text[len(typeMember) : n-1]) {
		return n, isObject | isKeyed
	}
	return n, isObject
}

func isSpace(c byte) bool { return c <= ' ' && (c == ' ' || c == '\t' || c == '\r' || c == '\n') }
