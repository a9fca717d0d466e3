package java

import (
	"bytes"

	"dubbo-wire/internal/decode"
)

// CompactReader is the reader of compactedjava. Its streams have the names of classes and not their fields: values of the
// application's own classes have no visible end unless the class path has these, so the attachments after them are searched for.
type CompactReader struct {
	Reader
	tried bool // whether classes without fields lead to the end of the body
}

// Reset starts a body.
func (r *CompactReader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Reader.Reset(body, short, t)
	r.tried = false
}

// NewCompact returns a reader of compactedjava.
func NewCompact() decode.Reader { return &CompactReader{Reader: Reader{compact: true}} }

// Attachments are always a HashMap. After arguments the byte before it stands in a new block; its class follows, or a
// reference if a HashMap or a class derived from it came before. Null arguments before it have a byte in the same block.
var (
	mapStart  = []byte{1, tcObject}
	mapClass  = []byte("\x72\x01\x00\x11java.util.HashMap\x78\x70")
	mapFactor = []byte{0x3f, 0x40, 0, 0} // loadFactor 0.75
)

// searchFactor bounds the bytes that all candidates together may cost, in lengths of the body.
const searchFactor = 32

// FindAttachments looks for the one place where attachments start that end with the body.
func (r *CompactReader) FindAttachments(from int) (at int, ok bool) {
	if r.Short != decode.Malformed || from < 0 || from > len(r.Buf) {
		return 0, false
	}
	found, block := -1, 0
	cost := searchFactor * len(r.Buf)
	for next := from; ; next++ {
		i := bytes.Index(r.Buf[next:], mapStart)
		if i < 0 {
			break
		}
		next += i
		at, left := next, 1
		switch nulls, ok := nullsBefore(r.Buf[from:next]); {
		case !ok || !isMap(r.Buf[next+len(mapStart):]):
			continue
		case nulls == 0:
			at, left = next-2, 0
		}
		probe := *r
		probe.Tree = nil
		probe.moveTo(at, left)
		probe.Attachments()
		if cost -= probe.Off - at; cost < 0 {
			return 0, false
		}
		if probe.OK() && probe.Off == len(r.Buf) {
			if found >= 0 {
				return 0, false
			}
			found, block = at, left
		}
	}
	if found < 0 {
		return 0, false
	}
	r.moveTo(found, block)
	return found, true
}

// nullsBefore reports whether b ends with the head of a block and some bytes 0, after which the block has one more byte.
func nullsBefore(b []byte) (nulls int, ok bool) {
	for nulls < min(len(b), 255) && b[len(b)-1-nulls] == 0 {
		nulls++
	}
	head := len(b) - nulls
	return nulls, head >= 2 && nulls < 255 && b[head-2] == tcBlockData && int(b[head-1]) == nulls+1
}

// isMap reports whether b starts with the class and the first field of a HashMap.
func isMap(b []byte) bool {
	if rest, ok := bytes.CutPrefix(b, mapClass); ok {
		return bytes.HasPrefix(rest, mapFactor)
	}
	return len(b) > 5 && b[0] == tcReference && b[1] == 0 && b[2] >= baseHandle>>16 && bytes.HasPrefix(b[5:], mapFactor)
}

// moveTo goes on at a place whose handles are not known, since the skipped bytes have assigned some.
func (r *CompactReader) moveTo(at, block int) {
	r.Resume(at)
	r.started = true
	r.block = block
	r.unknownHandles = true
}

// Attachments takes the map at the end, also at the place where FindAttachments has found it.
func (r *CompactReader) Attachments() {
	if !r.unknownHandles {
		r.Reader.Attachments()
		return
	}
	open := r.Tree.Depth()
	if r.present() {
		r.Role("type")
		r.Skip(1, "an object")
		i := r.Open(decode.Map, decode.ByField, "attachments", 0)
		if n := r.Tree.Node(i); n != nil {
			n.Class = "java.util.HashMap"
		}
		r.Role("type")
		r.foundMap()
		r.Close()
	}
	r.Settle(open)
}

// foundMap takes the rest of a HashMap whose class may be a reference into skipped bytes.
func (r *CompactReader) foundMap() {
	if tc, _ := r.Peek(); tc == tcReference {
		r.Skip(5, "a reference to a class")
		r.Role("ref")
	} else {
		r.Skip(len(mapClass), "a class")
		r.Role("class")
	}
	r.Skip(8, "fields of a HashMap")
	r.Role("length")
	head := r.Bytes(10, "the size of a HashMap")
	if !r.OK() {
		return
	}
	if head[0] != tcBlockData || head[1] != 8 {
		r.FailAt(r.Off-10, decode.Malformed, "the size of a HashMap", "something else")
		return
	}
	r.Role("length")
	n := int(int32(be32(head[6:])))
	for k := 0; k < n && r.OK(); k++ {
		name := r.mapKey(k)
		r.item(decode.ByEntry, name, k)
	}
	if tc := r.Byte("the end of a HashMap"); r.OK() && tc != tcEndBlockData {
		r.FailAt(r.Off-1, decode.Malformed, "the end of a HashMap", "more")
	}
	r.Role("end")
}
