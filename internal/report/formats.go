package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"dubbo-wire/internal/decode"
)

// WriteFormats prints the serializations that are known, and how deep, as "table", "markdown", "csv" or "json".
func WriteFormats(w io.Writer, format string, formats []decode.Format, s Style) error {
	formats = slices.SortedStableFunc(slices.Values(formats), func(a, b decode.Format) int { return int(a.ID) - int(b.ID) })
	switch format {
	case "table":
		return formatsDocument(formats).writeText(w, &s)
	case "markdown":
		return formatsDocument(formats).writeMarkdown(w, &s)
	case "csv":
		out := csv.NewWriter(w)
		rows := [][]string{{"id", "name", "protocol", "depth", "releases", "capture"}}
		for _, f := range formats {
			rows = append(rows, []string{strconv.Itoa(int(f.ID)), f.FullName(), "dubbo", f.Depth.String(), f.Releases, f.Capture})
		}
		return out.WriteAll(rows)
	case "json":
		list := []object{}
		for _, f := range formats {
			list = append(list, object{
				{"id", f.ID},
				{"name", f.FullName()},
				{"protocol", "dubbo"},
				{"depth", f.Depth.String()},
				{"releases", f.Releases},
				{"capture", f.Capture},
			})
		}
		return writeJSON(w, list)
	}
	return fmt.Errorf("formats has no format %q: choose table, markdown, csv or json", format)
}

func formatsDocument(formats []decode.Format) *document {
	tab := &table{columns: []column{
		{name: "id", unit: count},
		{name: "name", flex: true},
		{name: "protocol"},
		{name: "depth"},
		{name: "Dubbo releases", flex: true},
		{name: "proved by", flex: true, wide: true},
	}}
	for _, f := range formats {
		tab.rows = append(tab.rows, []cell{
			numberCell(int64(f.ID)), textCell(f.FullName()), textCell("dubbo"), textCell(f.Depth.String()),
			textCell(f.Releases), textCell(proof(&f)),
		})
	}
	return &document{
		summary: plural(int64(len(formats)), "serialization", "serializations"),
		sections: []section{{title: "FORMATS", table: tab, notes: []string{
			"full: every byte of a body has an owner. envelope: who calls what and the kind of a result, attachments " +
				"where they can be found; values are opaque. sizes: bodies are measured only.",
			"Any other serialization id is measured and shown as \"id 30\".",
		}}},
	}
}

// proof is the capture that proves a format; without one there are only values measured with its library.
func proof(f *decode.Format) string {
	if f.Capture == "" {
		return "measured values, no capture"
	}
	return f.Capture
}
