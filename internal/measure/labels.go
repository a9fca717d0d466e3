package measure

import (
	"os"
	"strings"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/pipeline"
)

// Labels are the names that users gave to inputs: name=FILE. A file whose own name has that form is a file.
type Labels struct {
	names []string // by argument; "" where none was given
	paths []string
	given bool
}

// Given returns the first argument that has a label; "" if there is none.
func (l *Labels) Given() (name, path string) {
	for i, name := range l.names {
		if name != "" {
			return name, l.paths[i]
		}
	}
	return "", ""
}

// at returns the labels of some arguments.
func (l *Labels) at(args []int) *Labels {
	some := &Labels{}
	for _, i := range args {
		some.names, some.paths = append(some.names, l.names[i]), append(some.paths, l.paths[i])
		some.given = some.given || l.names[i] != ""
	}
	return some
}

func parseLabels(args []string) (*Labels, error) {
	l := &Labels{}
	for _, arg := range args {
		name, path := splitLabel(arg)
		if name != "" {
			l.given = true
			for i, other := range l.names {
				if other == name {
					return nil, exit.Usagef("%s and %s have the same name; give each its own", args[i], arg)
				}
			}
		}
		l.names, l.paths = append(l.names, name), append(l.paths, path)
	}
	return l, nil
}

// splitLabel takes name=FILE apart.
func splitLabel(arg string) (name, path string) {
	name, path, ok := strings.Cut(arg, "=")
	if !ok || name == "" || path == "" || strings.ContainsAny(name, "/\\") {
		return "", arg
	}
	if _, err := os.Stat(arg); err == nil {
		return "", arg
	}
	return name, path
}

// of is the name of an input: its label, else its file.
func (l *Labels) of(in *capture.Input) string {
	if in.Source < len(l.names) && l.names[in.Source] != "" {
		return l.names[in.Source]
	}
	return in.File
}

// inputs returns the inputs' names by index.
func (l *Labels) inputs(inputs []capture.Input) []string {
	out := make([]string, len(inputs))
	for i := range inputs {
		out[i] = l.of(&inputs[i])
	}
	return out
}

// apart makes each input be read alone: with labels, and when they are grouped by input. What a label names is one input,
// also where that is a folder.
func (l *Labels) apart(inputs []capture.Input, byInput bool, opt *pipeline.Options) {
	if !l.given && !byInput {
		return
	}
	opt.Apart = make([]int, len(inputs))
	next := len(l.names)
	for i := range inputs {
		source := inputs[i].Source
		if source >= len(l.names) || l.names[source] == "" { // a folder's files, each by itself
			source = next
			next++
		}
		opt.Apart[i] = source
	}
}
