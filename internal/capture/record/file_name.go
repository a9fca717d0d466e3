package record

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// namer makes the names of the files of a recording, as tcpdump does:
//
//	              FILE
//	-C            FILE, FILE1, FILE2 …
//	-C -W 20      FILE00 … FILE19, then FILE00 again
//	-G            FILE with its %Y %m … replaced
//	-C -G         the same, with a number from the second file of a period on
//	-C -G -W 20   the same, FILE00 … FILE19 in each period, repeatedly
//
// Unlike tcpdump, it adds a number if the next name is the one of the file just written, which tcpdump then overwrites.
type namer struct {
	base string // of the last name, without its number
	had  map[string]numbers
}

// numbers are the last and the greatest number that followed a base.
type numbers struct{ last, most int }

// maxNames is how many bases are remembered to notice that one repeats.
const maxNames = 1 << 14

// next returns the name of the next file of a period; reused reports that an earlier file of this run had it. start says that a
// recording starts, whose first file gets a new name.
func (n *namer) next(o *Options, period *Period, start bool) (name string, reused bool) {
	base := period.Name(o.File, o.Local)
	ring := o.MaxBytes > 0 && o.Files > 0
	used, known := n.had[base]
	number := 0
	if known && (base == n.base || start) {
		number = used.last + 1
		if start && !ring {
			number = used.most + 1
		}
		if ring {
			number %= o.Files
		}
	}
	reused = known && number <= used.most
	if n.had == nil || len(n.had) >= maxNames {
		n.had = make(map[string]numbers)
	}
	n.had[base] = numbers{number, max(number, used.most)}
	n.base = base
	width := 0
	if ring && o.Files > 1 {
		width = len(strconv.Itoa(o.Files - 1))
	}
	if number == 0 && width == 0 {
		return base, reused
	}
	return fmt.Sprintf("%s%0*d", base, width, number), reused
}

// formatTime replaces the conversions of strftime(3) that do not depend on the language. Others stay; unknown is the first
// of them, or "".
func formatTime(format string, t time.Time) (name, unknown string) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		conv := format[i:min(i+2, len(format))]
		i++
		if s, ok := conversion(conv[len(conv)-1], t); ok && len(conv) == 2 {
			b.WriteString(s)
		} else {
			b.WriteString(conv)
			unknown = cmp.Or(unknown, conv)
		}
	}
	return b.String(), unknown
}

// timeLayouts are the layouts of package time for conversions, and regular expressions that match what they give.
var timeLayouts = map[byte]struct{ layout, match string }{
	'a': {"Mon", `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)`},
	'A': {"Monday", `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day`},
	'b': {"Jan", months}, 'h': {"Jan", months},
	'B': {"January", `(?:January|February|March|April|May|June|July|August|September|October|November|December)`},
	'd': {"02", digits2}, 'e': {"_2", `[ 0-9][0-9]`}, 'F': {"2006-01-02", `[0-9]{4}-[0-9]{2}-[0-9]{2}`}, 'H': {"15", digits2}, 'I': {"03", digits2},
	'm': {"01", digits2}, 'M': {"04", digits2}, 'p': {"PM", `[AP]M`}, 'R': {"15:04", `[0-9]{2}:[0-9]{2}`}, 'S': {"05", digits2},
	'T': {"15:04:05", `[0-9]{2}:[0-9]{2}:[0-9]{2}`}, 'y': {"06", digits2}, 'Y': {"2006", `[0-9]{4}`}, 'z': {"-0700", `[-+][0-9]{4}`},
	'Z': {"MST", `(?:[A-Z]{3,5}|[-+][0-9]{2,4})`},
}

const (
	months  = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)`
	digits2 = `[0-9]{2}`
)

// timePattern returns a regular expression that matches the names that formatTime gives for a format.
func timePattern(format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteString(regexp.QuoteMeta(format[i : i+1]))
			continue
		}
		i++
		switch layout, ok := timeLayouts[format[i]]; {
		case ok:
			b.WriteString(layout.match)
		case format[i] == '%':
			b.WriteByte('%')
		default: // the others are numbers
			number, _ := conversion(format[i], time.Unix(0, 0).UTC())
			fmt.Fprintf(&b, "[0-9]{%d,}", len(number))
		}
	}
	return b.String()
}

// conversion returns the replacement of %c; ok is false if strftime does not have it.
func conversion(c byte, t time.Time) (s string, ok bool) {
	if l, ok := timeLayouts[c]; ok {
		return t.Format(l.layout), true
	}
	year, week := t.ISOWeek()
	switch c {
	case '%':
		return "%", true
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100), true
	case 'G':
		return fmt.Sprintf("%04d", year), true
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay()), true
	case 's':
		return fmt.Sprint(t.Unix()), true
	case 'u':
		return fmt.Sprint((int(t.Weekday())+6)%7 + 1), true
	case 'V':
		return fmt.Sprintf("%02d", week), true
	case 'w':
		return fmt.Sprint(int(t.Weekday())), true
	}
	return "", false
}
