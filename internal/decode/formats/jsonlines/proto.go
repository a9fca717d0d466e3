package jsonlines

import (
	"bytes"
	"strconv"

	"dubbo-wire/internal/decode"
)

// What protobuf's JsonFormat makes of the two messages that are Dubbo's own: ThrowableProto, whose member
// originalClassName names the class of an exception, and MapValue.Map around attachments:
//
//	{"attachments": {"k": "5"}}
//
// and with the extension for Dubbo 3, which writes every attachment as text for older readers and again with its type,
//
//	{"attachments": {"k": "5"}, "attachmentsV2": {"k": {"@type": "…Attachment", "type": "java.lang.Integer",
//	"data": {"@type": "…Int32Value", "value": 5}}}}
//
// The attachments are the inner map here. Of those written twice the typed one is the value, and the text is overhead.

// holder takes the message around attachments; the text is opaque where it is something else.
func (r *Reader) holder(l decode.Label, name string, index int) {
	var typed map[string]struct{}
	if r.Tree != nil { // which are written twice is said only behind the first of both
		start, tree := r.Mark(), r.Tree
		r.Tree = nil
		typed = make(map[string]struct{})
		r.maps(typed, func(key string) { typed[key] = struct{}{} })
		r.Tree = tree
		r.Rewind(start)
		if r.bad || !r.OK() {
			return
		}
	}
	r.Open(decode.Map, l, name, index)
	r.maps(typed, func(string) {})
	r.Close()
}

// maps takes the members of the message. found hears the keys of the second map.
func (r *Reader) maps(typed map[string]struct{}, found func(key string)) {
	r.Off++
	k := 0
	for first := true; !r.next('}', first); first = false {
		switch member := r.member(); {
		case r.bad || !r.OK():
			return
		case string(member) == "attachments":
			r.entries(func() {
				start := r.Off
				key := r.member()
				if r.bad {
					return
				}
				if _, twice := typed[Unquote(key)]; twice {
					r.Hidden("text", func() { r.value(decode.ByEntry, "", 0) })
					return
				}
				r.entry(start, k, r.value)
				k++
			})
		case string(member) == "attachmentsV2":
			r.entries(func() {
				start := r.Off
				if key := r.member(); !r.bad {
					found(Unquote(key))
					r.entry(start, k, r.typed)
					k++
				}
			})
		default:
			r.bad = true
		}
	}
}

// member takes a key and the colon behind it.
func (r *Reader) member() []byte {
	r.space()
	key := r.string()
	r.space()
	if r.bad || !r.at(':') {
		r.bad = true
		return nil
	}
	r.Off++
	return key
}

// entries takes an object whose every member is read by one.
func (r *Reader) entries(one func()) {
	r.space()
	if !r.at('{') {
		r.bad = true
		return
	}
	r.Off++
	for first := true; !r.next('}', first); first = false {
		if one(); r.bad || !r.OK() {
			return
		}
	}
}

// entry takes entry number i, whose key stands at start.
func (r *Reader) entry(start, i int, value func(decode.Label, string, int)) {
	r.Off = start
	key := r.key(i, decode.Map, decode.ByKey)
	r.space()
	r.Off++ // the colon that member found
	value(decode.ByEntry, key, i)
}

// typed takes the value in the two Any around it; where they are not as Dubbo writes them, all of them is the value.
func (r *Reader) typed(l decode.Label, name string, index int) {
	r.space()
	r.Role("punct")
	start := r.Mark()
	if _, ok := r.any("type"); ok && r.another("data") {
		if class, ok := r.any("value"); ok && r.wrapped(class, l, name, index) && r.closed() && r.closed() {
			r.Role("type")
			return
		}
	}
	if !r.OK() {
		return
	}
	r.bad = false
	r.Rewind(start)
	r.value(l, name, index)
}

// any takes the start of an Any, up to the value of the member behind its type, and returns the type's last name. An Any
// of Empty has no further member.
func (r *Reader) any(member string) (class string, ok bool) {
	r.space()
	if !r.at('{') {
		return "", false
	}
	r.Off++
	if string(r.member()) != "@type" {
		return "", false
	}
	r.space()
	url := r.string()
	class = string(url[bytes.LastIndexAny(url, "/.")+1:])
	return class, !r.bad && (class == "Empty" || r.another(member))
}

// another takes what stands between a value and the one of the next member, which has that name. The value may still be
// ahead: a string.
func (r *Reader) another(member string) bool {
	r.space()
	if r.at('"') {
		r.string()
		r.space()
	}
	if r.bad || !r.at(',') {
		return false
	}
	r.Off++
	return string(r.member()) == member
}

// wrapped takes the value of a wrapper message. A long is written as a text.
func (r *Reader) wrapped(class string, l decode.Label, name string, index int) bool {
	r.space()
	r.Role("type")
	text := r.Buf[r.Off:r.end]
	switch class {
	case "Empty":
		r.Leaf(decode.Null, l, name, index)
		return r.OK()
	case "Int64Value":
		n := stringLen(text)
		if n == 0 {
			return false
		}
		v, err := strconv.ParseInt(string(text[1:n-1]), 10, 64)
		if err != nil {
			return false
		}
		r.Off += n
		if leaf := r.Leaf(decode.Int, l, name, index); leaf != nil {
			leaf.Num = v
		}
		return r.OK()
	}
	r.value(l, name, index)
	return !r.bad && r.OK()
}

// closed takes the end of an object.
func (r *Reader) closed() bool {
	r.space()
	if !r.at('}') {
		return false
	}
	r.Off++
	return true
}
