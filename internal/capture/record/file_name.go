package record

import (
	"cmp"
	"fmt"
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

// timeLayouts are the layouts of package time for conversions.
var timeLayouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'd': "02", 'e': "_2", 'F': "2006-01-02", 'H': "15", 'I': "03",
	'm': "01", 'M': "04", 'p': "PM", 'R': "15:04", 'S': "05", 'T': "15:04:05", 'y': "06", 'Y': "2006", 'z': "-0700", 'Z': "MST",
}

// conversion returns the replacement of %c; ok is false if strftime does not have it.
func conversion(c byte, t time.Time) (s string, ok bool) {
	if layout, ok := timeLayouts[c]; ok {
		return t.Format(layout), true
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
