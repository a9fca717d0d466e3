package record

import (
	"fmt"
	"strings"
	"time"
)

// namer makes the names of the files of a recording, as tcpdump does:
//
//	              FILE
//	-C            FILE, FILE1, FILE2 …
//	-C -W 20      FILE00 … FILE19, and from FILE00 on again
//	-G            FILE with its %Y %m … filled in
//	-C -G         the same, with a number behind it from the second file of a period on
//	-C -G -W 20   the same, FILE00 … FILE19 in each period, round and round
//
// and with one thing that it does not: where the name that is due is that of the file just written, which tcpdump then
// writes over, a number is put behind it.
type namer struct {
	base string // of the last name, without its number
	had  map[string]numbers
}

// numbers are those that were put behind a base: the last one and the greatest.
type numbers struct{ last, most int }

// maxNames is how many bases are remembered to notice that one comes again.
const maxNames = 1 << 14

// next is the name of the next file, which begins at that time; again says that a file of this run had it. The name of
// the first file of a recording (start) is none that was used before.
func (n *namer) next(o *Options, at int64, start bool) (name string, reused bool) {
	base := o.File
	if o.Every > 0 {
		t := time.Unix(0, at).UTC()
		if o.Local {
			t = t.Local()
		}
		base = formatTime(o.File, t)
	}
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
	if ring {
		for most := o.Files - 1; most > 0; most /= 10 {
			width++
		}
	}
	if number == 0 && width == 0 {
		return base, reused
	}
	return fmt.Sprintf("%s%0*d", base, width, number), reused
}

// formatTime fills in the conversions of strftime(3) that mean the same in every language.
func formatTime(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		if s, ok := conversion(format[i], t); ok {
			b.WriteString(s)
		} else {
			b.WriteString(format[i-1 : i+1])
		}
	}
	return b.String()
}

// timeLayouts are the conversions that package time knows.
var timeLayouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'd': "02", 'e': "_2", 'F': "2006-01-02", 'H': "15", 'I': "03",
	'm': "01", 'M': "04", 'p': "PM", 'R': "15:04", 'S': "05", 'T': "15:04:05", 'y': "06", 'Y': "2006", 'z': "-0700", 'Z': "MST",
}

// conversion returns what %c stands for; ok is false if strftime does not have it.
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

// unknownConversion is the first %c of a name that is none; "" if there is no such.
func unknownConversion(format string) string {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if i+1 == len(format) {
			return "%"
		}
		i++
		if _, ok := conversion(format[i], time.Time{}); !ok {
			return format[i-1 : i+1]
		}
	}
	return ""
}
