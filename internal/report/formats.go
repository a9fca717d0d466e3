package report

import (
	"cmp"
	"io"
	"slices"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// WriteFormats prints the known protocols and serializations and their depth as "table", "markdown", "csv" or "json".
func WriteFormats(w io.Writer, format string, protocols []*rpc.Protocol, formats []decode.Format, s Style) error {
	releases := ListColumn{Key: "releases", Column: Column{Name: "Dubbo releases", Flex: true}, Empty: "none"}
	capture := ListColumn{Key: "capture", Column: Column{Name: "verified with", Flex: true, Wide: true}, Empty: "synthetic, no capture"}
	spoken := List{
		Title: "PROTOCOLS", Columns: []ListColumn{{Key: "name"}, {Key: "read"}, {Key: "recognisedBy", Column: Column{Name: "recognised by", Flex: true}}, releases, capture},
		Notes: []string{"recognised: the protocol is named, and its bytes are counted separately from Dubbo's."},
	}
	releases.Empty, capture.Empty = "", "measured values, no capture"
	read := List{
		Title: "SERIALIZATIONS", Columns: []ListColumn{{Key: "id", Column: Column{Right: true}}, {Key: "name", Column: Column{Flex: true}}, {Key: "protocol"}, {Key: "depth"}, {Key: "withClasses", Column: Column{Name: "with classes"}}, releases, capture},
		Notes: []string{
			"full: every byte of a body is assigned to a field. all but classes: the same, except that objects of application " +
				"classes are opaque. envelope: service, method, types and the kind of result are decoded, and attachments if they " +
				"can be found; values that need class definitions are opaque. sizes: only the size of bodies is known.",
			"with classes: the depth if the application's classes are given with --classpath.",
			`Other serialization ids are measured and shown as "id 30".`,
		},
	}
	all := List{Columns: read.Columns}
	numbered := "" // the protocol whose header has the numbers of serializations
	for _, p := range protocols {
		spoken.Rows = append(spoken.Rows, []any{p.Name, p.Read, p.RecognisedBy, p.Releases, p.Capture})
		all.Rows = append(all.Rows, []any{"", p.Name, p.Name, p.Read, "", p.Releases, p.Capture})
		if p.Numbered {
			numbered = cmp.Or(numbered, p.Name)
		}
	}
	formats = slices.SortedStableFunc(slices.Values(formats), func(a, b decode.Format) int { return int(a.ID) - int(b.ID) })
	for _, f := range formats {
		with := ""
		if f.Classes > 0 {
			with = f.Classes.String()
		}
		read.Rows = append(read.Rows, []any{int(f.ID), f.FullName(), numbered, f.Depth.String(), with, f.Releases, f.Capture})
	}
	switch format {
	case "csv":
		all.Rows = append(all.Rows, read.Rows...)
		return all.Write(w, format, s)
	case "json":
		return WriteJSON(w, members{{"protocols", spoken.objects()}, {"serializations", read.objects()}})
	}
	return (&Document{
		Summary:  Plural(int64(len(protocols)), "protocol") + ", " + Plural(int64(len(formats)), "serialization"),
		Sections: []Section{spoken.section(&s), read.section(&s)},
	}).Write(w, format, s)
}
