package explain

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"strings"

	"dubbo-wire/internal/report"
	"dubbo-wire/internal/term"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// Without Style.Full a page has the first and last bytes only of parts that are longer than pagePart, and bytes and rows each
// end after pageHalf bytes of HTML, so that it is smaller than a megabyte.
const (
	pagePart, pageFirst, pageLast = 512, 256, 48
	pageHalf                      = 440 << 10
)

// WritePage prints the frame as a page of HTML without further files. Pointing at a part marks its bytes, pointing at a byte
// marks its part.
func (f *Frame) WritePage(w io.Writer, s *Style) error {
	heading := f.heading(&Style{Local: s.Local})
	data := struct {
		Title   string
		Heading []string
		Hex     template.HTML
		Rows    template.HTML
		Sums    []sum
		Damage  string
		Likely  string
		Stops   bool
		Version string
	}{Title: heading[0], Heading: heading[1:], Hex: f.hexHTML(s), Rows: f.rowsHTML(s), Sums: f.sums()}
	if d := f.damage; d != nil {
		data.Damage, data.Likely, data.Stops = d.text(), d.likely, d.stops()
	}
	return page.Execute(w, data)
}

// sum is the bytes of a class and their share.
type sum struct {
	Class   string
	Bytes   string
	Percent string
	Width   template.CSS
}

func (f *Frame) sums() (all []sum) {
	length := f.subject.Row.Msg.FrameLen()
	add := func(class string, n int) {
		if n > 0 {
			p := 100 * float64(n) / float64(length)
			all = append(all, sum{class, report.Count(int64(n)), fmt.Sprintf("%.1f %%", p), template.CSS(fmt.Sprintf("width:%.3f%%", p))})
		}
	}
	add("header", len(f.header))
	f.eachClass(add)
	return all
}

// rowsHTML returns the tree as rows of a table. data-r is the number of a row, data-e that of the first row after its subtree.
func (f *Frame) rowsHTML(s *Style) template.HTML {
	var b strings.Builder
	for _, ln := range f.lines(s) {
		if !s.Full && b.Len() > pageHalf {
			b.WriteString(`<tr class="more"><td></td><td colspan="3">… more rows: --full prints all</td></tr>`)
			break
		}
		r := &f.rows[ln.row]
		if ln.more > 0 {
			fmt.Fprintf(&b, `<tr class="more"><td></td><th scope="row" style="--d:%d">… %s more</th><td>%s</td><td>--full prints them</td></tr>`,
				min(r.depth, 24), report.Count(int64(ln.more)), report.Count(int64(ln.bytes)))
			continue
		}
		class, offset, size := r.class, "", report.Count(int64(r.len))
		if r.len > 0 {
			offset = fmt.Sprintf("%04x", r.off)
		}
		if r.container && r.len == 0 {
			class, size = "box", report.Count(int64(r.total))
		}
		if d := f.damage; d != nil && d.stops() && d.row == ln.row {
			class += " stop"
		}
		value := r.value
		if len(value) > 300 && !s.Full {
			value = strings.ToValidUTF8(value[:300], "") + "…"
		}
		fmt.Fprintf(&b, `<tr class="%s" data-r="%d" data-e="%d" tabindex="0"><td>%s</td><th scope="row" style="--d:%d" title="%s">%s</th><td>%s</td><td>%s</td></tr>`+"\n",
			class, ln.row, r.end, offset, min(r.depth, 24), safe(r.path), safe(r.name), size, safe(value))
	}
	return template.HTML(b.String())
}

// safe escapes a text of the message for the page.
func safe(text string) string { return html.EscapeString(term.Clean(text)) }

// hexHTML returns the bytes in lines of 16. The bytes of a row in a line are one element.
func (f *Frame) hexHTML(s *Style) template.HTML {
	total := len(f.header) + len(f.body)
	owner := make([]int32, total)
	for i := range owner {
		owner[i] = -1
	}
	skip := make([]bool, total)
	for i := range f.rows {
		r := &f.rows[i]
		for k := r.off; k < min(r.off+r.len, total); k++ {
			owner[k] = int32(i)
			if !s.Full && r.len > pagePart && k >= r.off+pageFirst && k < r.off+r.len-pageLast {
				skip[k] = true
			}
		}
	}
	at := func(k int) byte {
		if k < len(f.header) {
			return f.header[k]
		}
		return f.body[k-len(f.header)]
	}
	var b strings.Builder
	for from := 0; from < total; from += 16 {
		to := min(from+16, total)
		if !s.Full && b.Len() > pageHalf {
			fmt.Fprintf(&b, "<span class=more>… %s more bytes: --full prints all</span>\n", report.Count(int64(total-from)))
			break
		}
		if skip[from] && skip[to-1] && owner[from] == owner[to-1] {
			end := from
			for end+16 <= total && skip[end+15] && skip[end] && owner[end] == owner[from] {
				end += 16
			}
			if end > from {
				fmt.Fprintf(&b, "<span class=more>      … %s bytes</span>\n", report.Count(int64(end-from)))
				from = end - 16
				continue
			}
		}
		fmt.Fprintf(&b, "<u>%04x</u>  ", from)
		f.runs(&b, owner, from, to, func(k int, masked bool) {
			if k > from {
				b.WriteByte(' ')
			}
			if masked {
				b.WriteString("··")
			} else {
				fmt.Fprintf(&b, "%02x", at(k))
			}
		})
		b.WriteString(strings.Repeat("   ", 16-(to-from)) + "  ")
		f.runs(&b, owner, from, to, func(k int, masked bool) {
			switch c := at(k); {
			case masked:
				b.WriteString("·")
			case c >= 0x20 && c < 0x7f:
				b.WriteString(html.EscapeString(string(rune(c))))
			default:
				b.WriteByte('.')
			}
		})
		b.WriteByte('\n')
	}
	return template.HTML(b.String())
}

// runs calls write for each byte from from to before to, between the tags of the rows that own them.
func (f *Frame) runs(b *strings.Builder, owner []int32, from, to int, write func(k int, masked bool)) {
	for k := from; k < to; {
		o := owner[k]
		class, masked := "opaque", f.redact
		if o >= 0 {
			r := &f.rows[o]
			class, masked = r.class, f.redact && r.secret
			if d := f.damage; d != nil && d.stops() && d.at == k {
				class += " stop"
			}
		}
		fmt.Fprintf(b, `<i class="%s" data-r="%d">`, class, o)
		for first := k; k < to && owner[k] == o; k++ {
			if d := f.damage; d != nil && d.stops() && d.at == k && k > first {
				break
			}
			write(k, masked)
		}
		b.WriteString("</i>")
	}
}
