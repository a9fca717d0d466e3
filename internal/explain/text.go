package explain

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/term"
)

// Style is the layout of the text.
type Style struct {
	Width int  // columns of the terminal, 0 for no limit
	Color bool // ANSI colors
	Local bool // local time instead of UTC
	// Full prints every byte, every element and whole values.
	Full bool
}

// Without Style.Full the first and the last elements of long lists are printed, and at most maxLines lines, the last of which
// are the last ones of the tree.
const (
	firstElements, lastElements = 16, 2
	maxLines, lastLines         = 2000, 40
)

// layout is the widths of the columns of the tree.
type layout struct {
	offset, bytes, name, size, value int // value 0 means no bound
}

// newLayout divides the width of the terminal among the columns.
func (f *Frame) newLayout(s *Style) layout {
	l := layout{offset: 4, bytes: 8, name: 12, size: 4}
	end := f.subject.Row.Msg.FrameLen() + len(f.subject.Row.Msg.Plain)
	for n := end; n > 0xffff; n >>= 4 {
		l.offset++
	}
	l.size = max(l.size, len(report.Count(int64(end))))
	most := 48
	switch w := s.Width; {
	case w == 0:
		most = 80
	case w < 100:
		l.bytes, most = 6, max(w/3-2, 10)
	case w >= 160:
		l.bytes = 16
	case w >= 120:
		l.bytes = 12
	}
	for i := range f.rows {
		l.name = max(l.name, min(f.rows[i].indent()+term.Width(term.Clean(f.rows[i].name)), most))
	}
	if s.Width > 0 {
		l.value = max(s.Width-(2+l.offset+1+l.hexWidth()+2+l.name+1+l.size+2), 8)
	}
	return l
}

func (l *layout) hexWidth() int { return 3*l.bytes - 1 }

// maxIndent bounds the indentation of deep trees, in columns.
const maxIndent = 16

func (r *row) indent() int { return min(2*r.depth, maxIndent) }

// WriteText prints the frame as an annotated tree beside its bytes.
func (f *Frame) WriteText(w io.Writer, s *Style) error {
	var b strings.Builder
	for _, line := range f.heading(s) {
		b.WriteString(line + "\n")
	}
	b.WriteByte('\n')
	f.writeTree(&b, s)
	f.writeDamage(&b, s)
	f.writeSums(&b, s)
	f.writeFields(&b, s)
	_, err := io.WriteString(w, b.String())
	return err
}

// heading returns the lines that identify the frame, wrapped to the width.
func (f *Frame) heading(s *Style) (lines []string) {
	r, m := f.subject.Row, f.subject.Row.Msg
	put := func(format string, args ...any) {
		text := term.Clean(fmt.Sprintf(format, args...))
		if s.Width == 0 || term.Width(text) <= s.Width {
			lines = append(lines, text)
			return
		}
		text = strings.Join(strings.Fields(text), " ")
		first := term.Wrap(text, s.Width)[0]
		lines = append(lines, first)
		if rest := strings.TrimPrefix(text[len(first):], " "); rest != "" {
			for _, line := range term.Wrap(rest, max(s.Width-2, 1)) {
				lines = append(lines, "  "+line)
			}
		}
	}
	sizes := fmt.Sprintf("%s bytes = %d header + %s body", report.Count(int64(m.FrameLen())), m.HeaderLen, report.Count(int64(m.BodyLen)))
	if !m.Complete {
		sizes += fmt.Sprintf(" (%s captured)", report.Count(int64(m.Captured)))
	}
	name := m.Protocol.Name
	if !m.NoBody() {
		name += "/" + m.SerializationName()
	}
	put("frame %d: %s %s, %s, %s", r.Number, m.Kind, m.ID(), name, sizes)
	if len(lines) > 0 && s.Color {
		lines[0] = "\x1b[1m" + lines[0] + "\x1b[0m"
	}
	if operation := f.operation(); operation != "" {
		put("%s", operation)
	}
	if n := m.Operation; n != nil && n.Layout != "" {
		put("order of fields: %s", n.Layout)
	}
	if m.HeaderFormat != nil {
		put("the header says %s; the bytes are %s", m.HeaderSerializationName(), m.Serialization)
	}
	put("%s > %s  %s", r.Conn.Ends[r.Side], r.Conn.Ends[1-r.Side], timeText(m.Last.Time, s.Local))
	if f.subject.File != "" {
		put("%s", f.packetFilter())
	}
	if other := f.otherFrame(); other != "" {
		put("%s", other)
	}
	if text := f.errorText(); text != "" {
		put("error: %s", text)
	}
	return lines
}

// operation returns the operation of a request, or the method that a response answers.
func (f *Frame) operation() string {
	m, k := f.subject.Row.Msg, f.subject.Call
	switch {
	case m.Operation != nil:
		text := m.Operation.Signature()
		if m.GenericMethod != "" {
			text += ", a generic call of " + m.GenericMethod
		}
		if m.Operation.Version != "" && m.Operation.Version != "0.0.0" {
			text += " version " + m.Operation.Version
		}
		if m.Group != "" {
			text += " group " + m.Group
		}
		return text
	case m.Kind == rpc.Response && k != nil && k.Request > 0:
		return "answer to " + k.Service + "/" + k.Method
	}
	return ""
}

// packetFilter returns a display filter of Wireshark for the packets of the frame.
func (f *Frame) packetFilter() string {
	m := f.subject.Row.Msg
	text := fmt.Sprintf("Wireshark: frame.number==%d", m.Last.Packet)
	if m.First.Packet != m.Last.Packet && m.First.File == m.Last.File {
		text = fmt.Sprintf("Wireshark: frame.number in {%d..%d}", m.First.Packet, m.Last.Packet)
	}
	if f.subject.Stream >= 0 {
		text += fmt.Sprintf(" && tcp.stream==%d", f.subject.Stream)
	}
	return text
}

// otherFrame describes the other frame of the call.
func (f *Frame) otherFrame() string {
	k, m := f.subject.Call, f.subject.Row.Msg
	if k == nil {
		return ""
	}
	took := ""
	if k.Latency >= 0 {
		took = ", " + time.Duration(k.Latency).Round(time.Microsecond).String()
	}
	switch {
	case m.Kind == rpc.Request && k.Response > 0:
		if k.Status == rpc.NoStatus {
			return fmt.Sprintf("answer: frame %d%s", k.Response, took)
		}
		return fmt.Sprintf("answer: frame %d, status %d%s", k.Response, k.Status, took)
	case m.Kind == rpc.Request && !m.TwoWay:
		return "one-way: no answer expected"
	case m.Kind == rpc.Request:
		return "answer: none in the capture"
	case m.Kind == rpc.Response && k.Request > 0:
		return fmt.Sprintf("request: frame %d%s", k.Request, took)
	case m.Kind == rpc.Response:
		return "request: none in the capture"
	}
	return ""
}

// maxErrorText is how many bytes of an error's text the heading has. The body has the rest.
const maxErrorText = 600

// errorText returns the error of a failed call in one line.
func (f *Frame) errorText() string {
	k := f.subject.Call
	if k == nil || k.Error == "" {
		return ""
	}
	text := k.ErrorText
	switch {
	case !k.HasErrorText:
		return k.Error
	case f.redact:
		return fmt.Sprintf("%s: text of %s", k.Error, term.Counted(int64(decode.TextLength(text)), "character"))
	case len(text) > maxErrorText:
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "…"
	}
	return k.Error + ": " + strings.Join(strings.Fields(text), " ")
}

func timeText(ns int64, local bool) string {
	t := time.Unix(0, ns)
	if !local {
		t = t.UTC()
	}
	return t.Format("2006-01-02T15:04:05.000000000Z07:00")
}

// writeTree prints a line for each row, without the elements in the middle of long lists.
func (f *Frame) writeTree(b *strings.Builder, s *Style) {
	l := f.newLayout(s)
	head := fmt.Sprintf("%*s %-*s  %-*s %*s  value", l.offset+2, "offset", l.hexWidth(), "bytes", l.name, "part", l.size, "size")
	if s.Color {
		head = "\x1b[4m" + head + "\x1b[0m"
	}
	b.WriteString(head + "\n")
	lines := f.lines(s)
	for i, ln := range lines {
		if !s.Full && len(lines) > maxLines && i >= maxLines-lastLines && i < len(lines)-lastLines {
			if i == maxLines-lastLines {
				fmt.Fprintf(b, "  … %s more lines: --full prints them\n", report.Count(int64(len(lines)-maxLines)))
			}
			continue
		}
		if ln.more > 0 {
			fmt.Fprintf(b, "%*s%s… %s more, %s bytes: --full prints them\n", 2+l.offset+1+l.hexWidth()+2, "",
				strings.Repeat(" ", f.rows[ln.row].indent()), report.Count(int64(ln.more)), report.Count(int64(ln.bytes)))
			continue
		}
		f.writeRow(b, &l, s, ln.row)
	}
	if d := f.damage; d != nil && d.stops() && d.row == len(f.rows) {
		b.WriteString(paint(s, "> "+fmt.Sprintf("%0*x", l.offset, d.at)+" (the end)", red) + "\n")
	}
}

// line is a row to print or, if more is not 0, so many elements that are left out, from row on.
type line struct{ row, more, bytes int }

// lines chooses the rows to print.
func (f *Frame) lines(s *Style) []line {
	var out []line
	type open struct {
		depth, seen, of int
	}
	var up []open
	for i := 0; i < len(f.rows); i++ {
		r := &f.rows[i]
		for len(up) > 0 && up[len(up)-1].depth >= r.depth {
			up = up[:len(up)-1]
		}
		if len(up) > 0 && !s.Full {
			p := &up[len(up)-1]
			p.seen++
			if p.of > 0 && p.seen > firstElements && p.of > firstElements+lastElements+2 && p.seen <= p.of-lastElements {
				// Leave out the elements from here to the last ones, but not the damage.
				skip := line{row: i}
				k := i
				for k < len(f.rows) && p.seen <= p.of-lastElements {
					e := f.rows[k].end
					if d := f.damage; d != nil && d.row >= k && d.row < e {
						break
					}
					skip.more++
					skip.bytes += f.rows[k].total
					k = e
					p.seen++
				}
				if skip.more > 0 {
					out = append(out, skip)
					p.seen--
					i = k - 1
					continue
				}
			}
		}
		out = append(out, line{row: i})
		if r.container {
			o := open{depth: r.depth}
			if r.kind == decode.List.String() || r.kind == decode.Map.String() {
				o.of = r.children // the members of an object are all printed
			}
			up = append(up, o)
		}
	}
	return out
}

func (f *Frame) writeRow(b *strings.Builder, l *layout, s *Style, i int) {
	r := &f.rows[i]
	color := colorOf(r)
	marked := f.damage != nil && f.damage.row == i
	mark := "  "
	if marked {
		mark = "> "
	}
	if marked = marked && f.damage.stops(); marked {
		color = red
	}
	raw, shown := f.bytes(r)
	offset := strings.Repeat(" ", l.offset)
	if r.len > 0 {
		offset = fmt.Sprintf("%0*x", l.offset, r.off)
	}
	name := strings.Repeat(" ", r.indent()) + term.Clean(r.name)
	name = term.CutMiddle(name, l.name)
	value := term.Clean(r.value)
	if marked && f.damage.cause != decode.Cut && f.damage.cause != decode.Lost {
		value = "stopped here"
	}
	if l.value > 0 && !s.Full {
		value = cutValue(value, l.value)
	} else if !s.Full {
		value = term.Cut(value, 200)
	}
	size := report.Count(int64(r.total))
	if !r.container || r.len > 0 {
		size = report.Count(int64(r.len))
	}
	sizeText := fmt.Sprintf("%*s", l.size, size)
	if r.container && r.len == 0 {
		sizeText = paint(s, sizeText, dim) // the sum of the subtree
	}
	text := mark + paint(s, offset, dim) + " " + paint(s, hexText(raw, r.len, l.bytes, shown), color) + "  " +
		paint(s, name, color) + strings.Repeat(" ", max(l.name-term.Width(name), 0)) + " " + sizeText
	if value != "" {
		text += "  " + value
	}
	b.WriteString(strings.TrimRight(text, " ") + "\n")
	if s.Full {
		for at := l.bytes; at < len(raw); at += l.bytes {
			piece := raw[at:min(at+l.bytes, len(raw))]
			ascii := ""
			if shown {
				ascii = "  " + asciiText(piece)
			}
			b.WriteString("  " + paint(s, fmt.Sprintf("%0*x", l.offset, r.off+at), dim) + " " +
				strings.TrimRight(paint(s, hexText(piece, len(piece), l.bytes, shown), color)+ascii, " ") + "\n")
		}
	}
}

// cutValue shortens a value. The end of a Java name is kept, since it tells more than the start.
func cutValue(s string, n int) string {
	if term.Width(s) <= n || n < 4 || strings.Count(s, ".") < 2 || strings.ContainsAny(s, " ,") {
		return term.Cut(s, n)
	}
	return "…" + term.CutStart(s, n-1)
}

// hexText returns the first bytes of b as hexadecimal digits, in n places; of is the number of all bytes of the row.
func hexText(b []byte, of, n int, shown bool) string {
	width := 3*n - 1
	if len(b) == 0 {
		return strings.Repeat(" ", width)
	}
	places := min(len(b), n)
	more := of > places
	if more && places == n {
		places--
	}
	text := fmt.Sprintf("% x", b[:places])
	if !shown {
		text = strings.Repeat(" ··", places)[1:]
	}
	if more {
		text += " .."
	}
	return text + strings.Repeat(" ", max(width-term.Width(text), 0))
}

func asciiText(b []byte) string {
	t := make([]byte, len(b))
	for i, c := range b {
		t[i] = '.'
		if c >= 0x20 && c < 0x7f {
			t[i] = c
		}
	}
	return string(t)
}

// writeDamage prints what was wrong, and the likely cause.
func (f *Frame) writeDamage(b *strings.Builder, s *Style) {
	d := f.damage
	if d == nil {
		return
	}
	text := d.text()
	if d.likely != "" {
		text += " Likely: " + d.likely + "."
	}
	b.WriteByte('\n')
	for _, line := range term.Wrap(term.Clean(text), s.Width) {
		if d.stops() {
			line = paint(s, line, red)
		}
		b.WriteString(line + "\n")
	}
}

// writeSums prints the bytes of the body by class.
func (f *Frame) writeSums(b *strings.Builder, s *Style) {
	length := f.subject.Row.Msg.BodyLen
	if length == 0 {
		return
	}
	b.WriteByte('\n')
	var parts []string
	f.eachClass(func(class string, n int) {
		if n > 0 {
			percent := fmt.Sprintf("%.1f", 100*float64(n)/float64(length))
			parts = append(parts, paint(s, class, classColors[class])+" "+report.Count(int64(n))+" ("+percent+" %)")
		}
	})
	line := "body:"
	width := len(line)
	for i, p := range parts {
		if i < len(parts)-1 {
			p += ","
		}
		n := 1 + ansi.StringWidth(p)
		if s.Width > 0 && width+n > s.Width {
			b.WriteString(line + "\n")
			line, width = "     ", 5
		}
		line += " " + p
		width += n
	}
	b.WriteString(line + "\n")
}
