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

// plain returns a text without colors.
func plain(text string) string {
	for {
		i := strings.Index(text, "\x1b[")
		if i < 0 {
			return text
		}
		n := strings.IndexByte(text[i:], 'm')
		if n < 0 {
			return text
		}
		text = text[:i] + text[i+n+1:]
	}
}

func colorOf(r *row) color {
	if r.container && r.len == 0 {
		return none
	}
	return classColor(r.class)
}

func classColor(class string) color {
	switch class {
	case "header":
		return blue
	case "envelope":
		return cyan
	case "names":
		return yellow
	case "attachments":
		return magenta
	case "overhead":
		return dim
	case "opaque", "missing":
		return red
	case "values":
		return green
	}
	return none
}
