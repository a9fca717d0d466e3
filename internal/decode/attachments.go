package decode

import (
	"bytes"
	"strings"
)

// SearchAttachments looks for the one place of a body, at offset from or after it, where attachments start that end with
// the body: what [AttachmentFinder] does where classes are not known. next returns the first offset, at or after the
// given one, with bytes that look like the start of attachments, -1 for none; try parses them and returns how many bytes
// it looked at. The search is given up when it has looked at more than budget bytes. Where two places fit none is taken, and
// there is none where the capture lacks the end of the body.
func (c *Cursor) SearchAttachments(from, budget int, next func(off int) int, try func(off int) (cost int, ok bool)) (at int, ok bool) {
	if c.Short != Malformed || from < 0 {
		return 0, false
	}
	const costPerPlace = 256
	found := 0
	for off := next(from); off >= 0; off = next(off + 1) {
		if budget < 0 {
			return 0, false
		}
		cost, ok := try(off)
		budget -= cost + costPerPlace
		if ok {
			found++
			at = off
		}
	}
	return at, found == 1
}

// Next returns a function that finds head in the body, for [SearchAttachments].
func (c *Cursor) Next(head []byte) func(off int) int {
	return func(off int) int {
		if k := bytes.Index(c.Buf[min(off, len(c.Buf)):], head); k >= 0 {
			return off + k
		}
		return -1
	}
}

// DubboKey reports whether an attachment is one that Dubbo itself sets: each request has "path", each response with
// attachments "dubbo". Without that a map that ends the attachments, empty or not, would be taken for them where an object
// before it keeps the outer one from being parsed.
func DubboKey(key string) bool {
	return key == "path" || key == "interface" || key == "version" || key == "dubbo"
}

// NamesCallee reports whether an attachment names the called service, group or version. A redacted copy keeps it. A value that
// is not what must be there, as in a body that was misread, names nothing.
func NamesCallee(key, value string) bool {
	switch key {
	case "path", "interface":
		return isEnvelopeText("path", value)
	case "group":
		return isNames(value, "./:")
	case "version":
		return isVersion(value)
	case "dubbo":
		return IsRelease(value)
	}
	return false
}

// MayNameCallee reports whether NamesCallee returns true for values of a key.
func MayNameCallee(key []byte) bool {
	switch string(key) {
	case "path", "interface", "group", "version", "dubbo":
		return true
	}
	return false
}

// IsClassName reports whether text can be the name of a class, an array type or a constant.
func IsClassName(text string) bool {
	text = strings.TrimLeft(text, "[")
	return isNames(strings.TrimRight(strings.TrimSuffix(text, ";"), "[]"), "./")
}
