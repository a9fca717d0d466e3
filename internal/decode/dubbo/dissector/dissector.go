// Package dissector has the dubbo protocol's dissector for Wireshark, in Lua. What the Lua needs to know of serializations and
// statuses comes from the same tables that the decoder of package dubbo uses.
package dissector

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
)

//go:embed dubbo.lua
var script string

// tablesLine is the line of the script that tables replace.
const tablesLine = "--@tables@\n"

// Write writes the script for bodies in the given serializations.
func Write(w io.Writer, formats []decode.Format) error {
	_, err := io.WriteString(w, strings.Replace(script, tablesLine, tables(formats), 1))
	return err
}

// tables returns the definitions of the Lua tables.
func tables(formats []decode.Format) string {
	names, heartbeats := map[uint8][]string{}, map[uint8][]string{}
	empty := map[uint8]bool{}
	for i := range formats {
		f := &formats[i]
		if !slices.Contains(names[f.ID], f.Name) {
			names[f.ID] = append(names[f.ID], f.Name)
		}
		for _, b := range f.Heartbeats {
			if h := fmt.Sprintf("[%s] = %q", quote(b), f.Name); !slices.Contains(heartbeats[f.ID], h) {
				heartbeats[f.ID] = append(heartbeats[f.ID], h)
			}
		}
		empty[f.ID] = empty[f.ID] || f.EmptyHeartbeats
	}
	var b strings.Builder
	b.WriteString("-- By serialization id: the names, the bodies of heartbeats with the name to which they belong, and whether these may be empty.\nlocal serializations, heartbeats, empty_heartbeats = {}, {}, {}\n")
	for id := range uint8(32) {
		if len(names[id]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "serializations[%d] = { %s }\n", id, quoted(names[id]))
		if len(heartbeats[id]) > 0 {
			fmt.Fprintf(&b, "heartbeats[%d] = { %s }\n", id, strings.Join(heartbeats[id], ", "))
		}
		if empty[id] {
			fmt.Fprintf(&b, "empty_heartbeats[%d] = true\n", id)
		}
	}
	fmt.Fprintf(&b, "\nlocal status_ok = %d\nlocal statuses = {\n", dubbo.StatusOK)
	for status := range 256 {
		if text := dubbo.StatusText(byte(status)); text != "" {
			fmt.Fprintf(&b, "  [%d] = %q,\n", status, text)
		}
	}
	fmt.Fprintf(&b, "}\n\nlocal default_max_body = %d -- Dubbo's own default limit\n", dubbo.Protocol.PayloadLimit)
	return b.String()
}

func quoted(names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, fmt.Sprintf("%q", name))
	}
	return strings.Join(all, ", ")
}

// quote returns bytes as a string of Lua.
func quote(b []byte) string {
	var s strings.Builder
	s.WriteByte('"')
	for _, c := range b {
		if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '.' {
			s.WriteByte(c)
		} else {
			fmt.Fprintf(&s, "\\%03d", c)
		}
	}
	s.WriteByte('"')
	return s.String()
}
