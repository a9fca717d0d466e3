package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// writeProtocols prints the frames of Triple's rows beside those of the dubbo protocol.
func writeProtocols(w io.Writer, all []*row) {
	fmt.Fprint(w, `
# Triple beside the dubbo protocol

The same object over both protocols of one release, as far as there are captures of both. The dubbo protocol has the service, the
method, the types and the attachments in its body, after a header of 16 bytes. Triple has the service, the method and the attachments
in headers of HTTP/2, and the serialization and the types in a wrapper around the object, which messages of protobuf do not need. So
frames compare: with Triple all DATA and HEADERS frames of a direction, each with its own header of 9 bytes. HTTP/2 sends a
header in full once on each connection and then refers to it, in a byte or two. The first call of a connection therefore has more
bytes than the calls after it.

| serialization | Dubbo | request: body | frames, first call | later calls | response: body | frames, first call | later calls | both, later calls |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
`)
	inTriple := func(r *row) bool { return strings.HasPrefix(r.name, "triple/") }
	slices.SortFunc(all, func(a, b *row) int {
		return cmp.Or(strings.Compare(withoutProtocol(a.name), withoutProtocol(b.name)), slices.Compare(version(a.dubbo), version(b.dubbo)), strings.Compare(a.name, b.name))
	})
	for _, r := range all {
		wanted := inTriple(r) || !r.optimizer && slices.ContainsFunc(all, func(o *row) bool { return inTriple(o) && withoutProtocol(o.name) == r.name && o.dubbo == r.dubbo })
		if !wanted {
			continue
		}
		name := r.name
		if !inTriple(r) {
			name = "dubbo/" + name
		}
		fmt.Fprintf(w, "| %s | %s |", name, r.dubbo)
		sum := 0
		for side, body := range r.sizes {
			first := ""
			if r.first[side] > 0 {
				first = strconv.Itoa(body + r.first[side])
			}
			sum += body + r.later[side]
			fmt.Fprintf(w, " %d | %s | %d |", body, first, body+r.later[side])
		}
		fmt.Fprintf(w, " %d |\n", sum)
	}
}

// withoutProtocol returns the name of a serialization without that of the protocol.
func withoutProtocol(name string) string { return name[strings.IndexByte(name, '/')+1:] }
