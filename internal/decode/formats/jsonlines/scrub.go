package jsonlines

import (
	"bytes"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

var forms = wire.Any(wire.Quoted, wire.Decimal)

// Scrub replaces values in JSON: escapes by escapes and numbers by numbers of the same length.
func Scrub(b []byte, n *decode.Node, m decode.Mapper) bool {
	if n.Kind == decode.Overhead {
		return n.Name == "text" && scrubTwice(b, m)
	}
	return forms(b, n, m)
}

// scrubTwice replaces the texts of attachments that are written twice, as texts and with their types.
func scrubTwice(b []byte, m decode.Mapper) bool {
	var key []byte
	for at := 0; at < len(b); {
		if b[at] != '"' {
			if bytes.IndexByte([]byte("{}:, \t\r\n"), b[at]) < 0 {
				return false // no text
			}
			at++
			continue
		}
		from := at + 1
		to := from
		for to < len(b) && b[to] != '"' {
			if b[to] == '\\' {
				to++
			}
			to++
		}
		if to >= len(b) {
			return false
		}
		at = to + 1
		switch isKey := bytes.HasPrefix(bytes.TrimLeft(b[at:], " \t\r\n"), []byte(":")); {
		case isKey:
			key = b[from:to]
		case !decode.NamesCallee(string(key), string(b[from:to])) && !wire.MapQuoted(b[from:to], decode.String, m):
			return false
		}
	}
	return true
}
