package jsonlines

import (
	"bytes"

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
	if end != r.end {
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
	stack := r.stack[:0]
	defer func() { r.stack = stack[:0] }()
	flags := byte(0)         // of the innermost open object or list
	named, class := 0, false // Dubbo's JSON: the length of the last value if it names a class; whether the last key is "class"
	outer := r.outer

value:
	for ; i < len(text) && isSpace[text[i]]; i++ {
		sum.punct++
	}
	if i >= len(text) {
		return sum, 0
	}
	sum.nodes += 2 // the value and the punctuation before it
	named = 0
	switch c := text[i]; c {
	case '"':
		end := stringEnd(text, i)
		if end == 0 {
			return sum, 0
		}
		if class && className(text[i+1:end-1]) {
			named = end - i
		}
		i = end
	case '{', '[':
		if c == '{' && r.fastjson && bytes.HasPrefix(text[i:], []byte(referenceStart)) {
			n := referenceEnd(text[i:])
			if n == 0 || len(stack) == 0 {
				return sum, 0
			}
			i += n
			break
		}
		if len(stack) >= decode.MaxDepth {
			return sum, 0
		}
		stack = append(stack, flags)
		i++
		sum.punct++
		flags = 0
		if c == '{' {
			if flags = isObject; outer == theAttachments || outer == aMap {
				flags |= isKeyed
			}
		}
		outer, class = aValue, false
		for ; i < len(text) && isSpace[text[i]]; i++ {
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
				goto behind
			}
		}
		goto key
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		k := i + 1
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

behind:
	for ; i < len(text) && isSpace[text[i]]; i++ {
		sum.punct++
	}
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
	flags = stack[len(stack)-1]
	if stack = stack[:len(stack)-1]; len(stack) == 0 {
		return sum, i
	}
	goto behind

key:
	for ; i < len(text) && isSpace[text[i]]; i++ {
		sum.punct++
	}
	end = stringEnd(text, i)
	if end == 0 {
		return sum, 0
	}
	sum.nodes += 2
	if flags&isKeyed == 0 {
		sum.names += end - i
	}
	class = r.classLast && end-i == len(`"class"`) && string(text[i+1:end-1]) == "class"
	i = end
	for ; i < len(text) && isSpace[text[i]]; i++ {
		sum.punct++
	}
	if i >= len(text) || text[i] != ':' {
		return sum, 0
	}
	i++
	sum.punct++
	goto value
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

var isSpace = [256]bool{' ': true, '\t': true, '\r': true, '\n': true}
