package explain

import "strings"

// colour is an ANSI colour, by its code.
type colour string

const (
	none    colour = ""
	dim     colour = "2"
	red     colour = "31"
	green   colour = "32"
	yellow  colour = "33"
	blue    colour = "34"
	magenta colour = "35"
	cyan    colour = "36"
)

func paint(s *Style, text string, c colour) string {
	if !s.Color || c == none || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// plain takes the colours out of a text.
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

func colourOf(r *row) colour {
	if r.container && r.len == 0 {
		return none
	}
	return classColour(r.class)
}

func classColour(class string) colour {
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
