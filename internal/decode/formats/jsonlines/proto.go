package jsonlines

import (
	"bytes"
	"strconv"

	"dubbo-wire/internal/decode"
)

// protobuf's JsonFormat writes two messages of Dubbo: ThrowableProto, whose member
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

// holder takes the message around attachments.
func (r *Reader) holder(l decode.Label, name string, index int) {
	var typed map[string]struct{}
	if r.Tree != nil { // only the second map tells which keys are written twice
		start, tree := r.Off, r.Tree
		r.Tree = nil
		typed = make(map[string]struct{})
		r.maps(typed, func(key string) { typed[key] = struct{}{} })
		r.Tree = tree
		r.Resume(start) // the second pass finds the error again
		r.Enter()
	}
	r.Open(decode.Map, l, name, index)
	r.maps(typed, func(string) {})
	r.Close()
}

// maps takes the members of the message. It calls found with the keys of the second map.
func (r *Reader) maps(typed map[string]struct{}, found func(key string)) {
	m := members{kind: decode.Map, label: decode.ByKey, entry: decode.ByEntry}
	r.Off++
	for first := true; !r.next('}', first); first = false {
		start := r.Off
		switch member, ok := r.member(); {
		case !ok:
			r.Off = start
			r.fail("a member of Dubbo's message of attachments")
			return
		case string(member) == "attachments":
			r.entries(func() {
				start := r.Off
				key, ok := r.member()
				if ok && r.twice(typed, key) {
					r.Hidden("text", func() { r.value(decode.ByEntry, "", 0) })
					return
				}
				r.Off = start
				r.entry(&m, r.value)
			})
		case string(member) == "attachmentsV2":
			r.entries(func() {
				start := r.Off
				if key, ok := r.member(); ok {
					found(Unquote(key))
				}
				r.Off = start
				r.entry(&m, r.typed)
			})
		default:
			r.Off = start
			r.fail("a member of Dubbo's message of attachments")
			return
		}
	}
}

func (r *Reader) twice(typed map[string]struct{}, key []byte) bool {
	_, twice := typed[Unquote(key)]
	return twice
}

// member takes a key and the colon after it, where they come next.
func (r *Reader) member() (key []byte, ok bool) {
	r.space()
	text := r.Buf[r.Off:r.end]
	n := stringEnd(text, 0)
	if n == 0 {
		return nil, false
	}
	r.Off += n
	if r.space(); !r.at(':') {
		return nil, false
	}
	r.Off++
	return text[1 : n-1], true
}

// entries takes an object and calls one for each member.
func (r *Reader) entries(one func()) {
	if r.space(); !r.at('{') {
		r.fail("an object")
		return
	}
	r.Off++
	for first := true; !r.next('}', first); first = false {
		if one(); !r.OK() {
			return
		}
	}
}

// entry takes a key and its value.
func (r *Reader) entry(m *members, value func(decode.Label, string, int)) {
	key := r.key(m)
	if r.colon(); !r.OK() {
		return
	}
	value(decode.ByEntry, key, m.n)
	m.n++
}

// typed takes the value inside two nested Any. If these are not as Dubbo writes them, the outer one is the value.
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
	r.Rewind(start)
	r.value(l, name, index)
}

// any takes the start of an Any, up to the value of the member after its type, and returns the type's last name. An Any
// of Empty has no further member.
func (r *Reader) any(member string) (class string, ok bool) {
	r.space()
	if !r.at('{') {
		return "", false
	}
	r.Off++
	if key, _ := r.member(); string(key) != "@type" {
		return "", false
	}
	r.space()
	text := r.Buf[r.Off:r.end]
	n := stringEnd(text, 0)
	if n == 0 {
		return "", false
	}
	r.Off += n
	class = string(text[bytes.LastIndexAny(text[:n-1], "/.\"")+1 : n-1])
	return class, class == "Empty" || r.another(member)
}

// another takes the bytes between a value and the value of the next member, which has the given name. A value that was not
// taken yet is a string.
func (r *Reader) another(member string) bool {
	r.space()
	if r.at('"') {
		n := stringEnd(r.Buf[r.Off:r.end], 0)
		if n == 0 {
			return false
		}
		r.Off += n
		r.space()
	}
	if !r.at(',') {
		return false
	}
	r.Off++
	key, _ := r.member()
	return string(key) == member
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
		n := stringEnd(text, 0)
		if n == 0 {
			return false
		}
		v, err := strconv.ParseInt(string(text[1:n-1]), 10, 64)
		if err != nil {
			return false
		}
		r.Off += n
		r.Leaf(decode.Int, l, name, index).SetNum(v)
		return r.OK()
	}
	r.value(l, name, index)
	return r.OK()
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
