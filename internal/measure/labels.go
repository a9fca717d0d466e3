package measure

import (
	"os"
	"slices"
	"strings"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// Labels are the names that the user gave to inputs: name=FILE. If a file with the whole name exists, there is no label.
type Labels struct {
	names []string // by argument; "" without a label
	paths []string
}

// Given returns the first label and its path, or "".
func (l *Labels) Given() (name, path string) {
	for i, name := range l.names {
		if name != "" {
			return name, l.paths[i]
		}
	}
	return "", ""
}

// addedUp returns the labels of all arguments if at least two are labelled and a grouping does not tell them apart.
func (l *Labels) addedUp(by sizes.By) []string {
	if l == nil {
		return nil
	}
	given := slices.DeleteFunc(slices.Clone(l.names), func(name string) bool { return name == "" })
	if len(given) < 2 || slices.Contains(by.Keys, sizes.Input) {
		return nil
	}
	return given
}

// at returns the labels of the arguments with some indexes.
func (l *Labels) at(args []int) *Labels {
	some := &Labels{}
	for _, i := range args {
		some.names, some.paths = append(some.names, l.names[i]), append(some.paths, l.paths[i])
	}
	return some
}

func parseLabels(args []string) (*Labels, error) {
	l := &Labels{}
	for _, arg := range args {
		name, path := splitLabel(arg)
		if i := slices.Index(l.names, name); i >= 0 && name != "" {
			return nil, exit.Usagef("%s and %s have the same label; give each input its own", args[i], arg)
		}
		l.names, l.paths = append(l.names, name), append(l.paths, path)
	}
	return l, nil
}

// splitLabel splits name=FILE.
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

// of returns the name of an input: its label, or its file.
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

// apart makes the run read each input separately if there are labels, or if the report is grouped by input. A folder with a
// label is one input.
func (l *Labels) apart(inputs []capture.Input, byInput bool, opt *pipeline.Options) {
	if given, _ := l.Given(); given == "" && !byInput {
		return
	}
	opt.Apart = make([]int, len(inputs))
	next := len(l.names)
	for i := range inputs {
		source := inputs[i].Source
		if source >= len(l.names) || l.names[source] == "" { // each file of a folder is an input
			source = next
			next++
		}
		opt.Apart[i] = source
	}
}
