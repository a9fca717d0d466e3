package main

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/man"
	"dubbo-wire/internal/term"
)

// Titles of groups of flags in help.
const (
	ownGroup    = "Flags"
	liveGroup   = "Capturing"
	chooseGroup = "What to show"
	outputGroup = "Output"
	recordGroup = "Recording packets and calls"
	metricGroup = "Metrics (for Prometheus and OpenTelemetry)"
	filterGroup = "Filters (they select calls: a request and its response stay together)"
	classGroup  = "Class files and schemas (for bodies without the names of fields: kryo, fst, avro, protobuf and others)"
	javaGroup   = "Java (for --as)"
	plainGroup  = "Without Java"
	limitGroup  = "Limits (on memory, for hostile or very large captures)"
	runGroup    = "General"
)

// flagGroups is the order of the groups in help. Flags of one command come first.
var flagGroups = []string{ownGroup, liveGroup, chooseGroup, javaGroup, plainGroup, outputGroup, recordGroup, metricGroup, filterGroup, classGroup, limitGroup, runGroup}

const groupAnnotation = "group"

// addFlags defines flags that help lists under the title group.
func addFlags(to *pflag.FlagSet, group string, define func(*pflag.FlagSet)) {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	define(fs)
	fs.VisitAll(func(f *pflag.Flag) { f.Annotations = map[string][]string{groupAnnotation: {group}} })
	to.AddFlagSet(fs)
}

func groupOfFlag(f *pflag.Flag) string {
	if of := f.Annotations[groupAnnotation]; len(of) > 0 {
		return of[0]
	}
	return ownGroup
}

// groupedFlags returns the flags that the help of a command lists, including those of every command.
func groupedFlags(cmd *cobra.Command) []man.Group {
	var groups []man.Group
	for _, title := range flagGroups {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		fs.SortFlags = cmd.Flags().SortFlags
		add := func(f *pflag.Flag) {
			if groupOfFlag(f) == title && fs.Lookup(f.Name) == nil {
				fs.AddFlag(f)
			}
		}
		cmd.LocalFlags().VisitAll(add)
		cmd.InheritedFlags().VisitAll(add)
		if fs.HasAvailableFlags() {
			groups = append(groups, man.Group{Title: title, Flags: fs})
		}
	}
	if len(groups) == 1 {
		groups[0].Title = ownGroup
	}
	return groups
}

// quotedDefault matches a default in quotes, as pflag writes texts.
var quotedDefault = regexp.MustCompile(`\(default "([^"]*)"\)`)

// flagHelp returns the help for a command's flags, by group.
func flagHelp(cmd *cobra.Command, width int) string {
	var b strings.Builder
	for _, g := range groupedFlags(cmd) {
		b.WriteString("\n" + strings.Join(term.Wrap(g.Title+":", width), "\n") + "\n" + quotedDefault.ReplaceAllString(strings.TrimRight(g.Flags.FlagUsagesWrapped(width), "\n "), "(default $1)") + "\n")
	}
	return b.String()
}
