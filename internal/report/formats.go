package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// WriteFormats prints the known protocols and serializations and their depth as "table", "markdown", "csv" or "json".
func WriteFormats(w io.Writer, format string, protocols []*rpc.Protocol, formats []decode.Format, s Style) error {
	formats = slices.SortedStableFunc(slices.Values(formats), func(a, b decode.Format) int { return int(a.ID) - int(b.ID) })
	switch format {
	case "csv":
		out := csv.NewWriter(w)
		rows := [][]string{{"id", "name", "protocol", "depth", "releases", "capture"}}
		for _, p := range protocols {
			rows = append(rows, []string{"", p.Name, p.Name, p.Read, p.Releases, p.Capture})
		}
		for _, f := range formats {
			rows = append(rows, []string{strconv.Itoa(int(f.ID)), f.FullName(), numbered(protocols), f.Depth.String(), f.Releases, f.Capture})
		}
		return out.WriteAll(rows)
	case "json":
		type protocol struct {
			Name     string `json:"name"`
			Read     string `json:"read"`
			Releases string `json:"releases"`
			Capture  string `json:"capture"`
		}
		type serialization struct {
			ID       uint8  `json:"id"`
			Name     string `json:"name"`
			Protocol string `json:"protocol"`
			Depth    string `json:"depth"`
			Releases string `json:"releases"`
			Capture  string `json:"capture"`
		}
		return writeJSON(w, struct {
			Protocols      []protocol      `json:"protocols"`
			Serializations []serialization `json:"serializations"`
		}{
			listOf(protocols, func(p *rpc.Protocol) protocol { return protocol{p.Name, p.Read, p.Releases, p.Capture} }),
			listOf(formats, func(f decode.Format) serialization {
				return serialization{f.ID, f.FullName(), numbered(protocols), f.Depth.String(), f.Releases, f.Capture}
			}),
		}, false)
	}
	return formatsDocument(protocols, formats, &s).Write(w, format, s)
}

func formatsDocument(protocols []*rpc.Protocol, formats []decode.Format, s *Style) *Document {
	spoken := Section{Title: "PROTOCOLS", Columns: []Column{{Name: "name"}, {Name: "read"}, {Name: "Dubbo releases", Flex: true}, {Name: "proved by", Flex: true, Wide: true}}}
	for _, p := range protocols {
		spoken.add(
			s, textCell(p.Name), textCell(p.Read), textCell(cmp.Or(p.Releases, "none")), textCell(cmp.Or(p.Capture, "made bytes, no capture")),
		)
	}
	read := Section{Title: "SERIALIZATIONS", Columns: []Column{
		{Name: "id", unit: count},
		{Name: "name", Flex: true},
		{Name: "protocol"},
		{Name: "depth"},
		{Name: "Dubbo releases", Flex: true},
		{Name: "proved by", Flex: true, Wide: true},
	}}
	for _, f := range formats {
		read.add(
			s, numberCell(int64(f.ID)), textCell(f.FullName()), textCell(numbered(protocols)), textCell(f.Depth.String()),
			textCell(f.Releases), textCell(cmp.Or(f.Capture, "measured values, no capture")),
		)
	}
	spoken.note("recognised: the connection is named, and its bytes are counted beside Dubbo's.")
	read.note("full: every byte of a body has an owner. all but classes: the same, but objects of the application's classes, " +
		"whose layout is not written, are opaque. envelope: who calls what and the kind of a result, attachments " +
		"where they can be found, and values as far as the layout of classes is not needed; the rest is opaque. " +
		"sizes: bodies are measured only.")
	read.note(`Any other serialization id is measured and shown as "id 30".`)
	return &Document{
		Summary:  Plural(int64(len(protocols)), "protocol") + ", " + Plural(int64(len(formats)), "serialization"),
		Sections: []Section{spoken, read},
	}
}

// numbered names the protocol whose header has the numbers of serializations.
func numbered(protocols []*rpc.Protocol) string {
	for _, p := range protocols {
		if p.Numbered {
			return p.Name
		}
	}
	return ""
}
