package explain

import "strings"

// color is the code of an ANSI color.
type color string

const (
	none    color = ""
	dim     color = "2"
	red     color = "31"
	green   color = "32"
	yellow  color = "33"
	blue    color = "34"
	magenta color = "35"
	cyan    color = "36"
)

func paint(s *Style, text string, c color) string {
	if !s.Color || c == none || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

func colorOf(r *row) color {
	if r.container && r.len == 0 {
		return none
	}
	return classColors[r.class]
}

// classColors are the colors of the bytes by class; others have none.
var classColors = map[string]color{
	"header": blue, "envelope": cyan, "names": yellow, "attachments": magenta, "overhead": dim, "opaque": red, "compressed": magenta, "missing": red, "values": green,
}
