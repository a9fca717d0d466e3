package main

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/term"
)

// Groups of flags in help.
const (
	ownGroup    = "Flags"
	liveGroup   = "Capturing"
	chooseGroup = "What is shown"
	outputGroup = "Output"
	recordGroup = "Keeping packets"
	filterGroup = "Filters (they select calls: request and response stay or go together)"
	limitGroup  = "Limits (of what is remembered, for hostile or very large captures)"
	runGroup    = "The run"
)

// flagGroups is the order of groups. What belongs to a command alone comes first.
var flagGroups = []string{ownGroup, liveGroup, chooseGroup, outputGroup, recordGroup, filterGroup, limitGroup, runGroup}

// groupOf says where flags stand that mean the same in several commands, or are many in one. Filters and limits are
// grouped where they are made.
var groupOf = map[string]string{
	"by": chooseGroup, "sort": chooseGroup, "top": chooseGroup, "parts": chooseGroup, "details": chooseGroup,
	"same-methods": chooseGroup, "findings": chooseGroup, "big-requests": chooseGroup, "big-responses": chooseGroup,
	"slow": chooseGroup, "errors": chooseGroup, "sample": chooseGroup, "depth": chooseGroup, "full": chooseGroup, "no-values": chooseGroup,
	"frame": chooseGroup, "packet": chooseGroup, "response": chooseGroup,

	"format": outputGroup, "output": outputGroup, "exact": outputGroup, "local": outputGroup, "buckets": outputGroup,
	"raw": outputGroup,

	"interface": liveGroup, "duration": liveGroup, "calls": liveGroup, "count": liveGroup, "max-bytes": liveGroup,
	"snapshot-length": liveGroup, "no-promiscuous-mode": liveGroup, "buffer": liveGroup, "user": liveGroup,
	"plain": liveGroup, "interval": liveGroup, "numeric": liveGroup,

	"write": recordGroup, "file-size": recordGroup, "rotate-seconds": recordGroup, "file-count": recordGroup,
	"only-rpc": recordGroup,

	"max-groups": limitGroup,

	"min-coverage": runGroup, "jobs": runGroup, "quiet": runGroup, "verbose": runGroup, "help": runGroup, "version": runGroup,
}

const groupAnnotation = "group"

// groupFlags puts the flags that are added until what it returns is called into a group of the command's help.
func groupFlags(cmd *cobra.Command, group string) func() {
	before := make(map[string]bool)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { before[f.Name] = true })
	return func() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !before[f.Name] {
				_ = cmd.Flags().SetAnnotation(f.Name, groupAnnotation, []string{group}) // it exists
			}
		})
	}
}

func groupOfFlag(cmd *cobra.Command, f *pflag.Flag) string {
	if of := f.Annotations[groupAnnotation]; len(of) > 0 {
		return of[0]
	}
	// --redact is the name of what calls and explain show, and --output that of a capture which redact makes.
	if f.Name == "redact" {
		return chooseGroup
	}
	if g, ok := groupOf[f.Name]; ok {
		return g
	}
	return ownGroup
}

// flagGroup is the flags of a command that stand under one title.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// groupedFlags are a command's flags as help shows them: also those that every command has.
func groupedFlags(cmd *cobra.Command) []flagGroup {
	var groups []flagGroup
	for _, title := range flagGroups {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		fs.SortFlags = cmd.Flags().SortFlags
		add := func(f *pflag.Flag) {
			if groupOfFlag(cmd, f) == title && fs.Lookup(f.Name) == nil {
				fs.AddFlag(f)
			}
		}
		cmd.LocalFlags().VisitAll(add)
		cmd.InheritedFlags().VisitAll(add)
		if fs.HasAvailableFlags() {
			groups = append(groups, flagGroup{title, fs})
		}
	}
	if len(groups) == 1 {
		groups[0].title = ownGroup
	}
	return groups
}

// quotedDefault is a default as the library writes texts.
var quotedDefault = regexp.MustCompile(`\(default "([^"]*)"\)`)

// flagHelp prints a command's flags by group.
func flagHelp(cmd *cobra.Command, width int) string {
	var b strings.Builder
	for _, g := range groupedFlags(cmd) {
		b.WriteString("\n" + strings.Join(term.Wrap(g.title+":", width), "\n") + "\n" + quotedDefault.ReplaceAllString(strings.TrimRight(g.flags.FlagUsagesWrapped(width), "\n "), "(default $1)") + "\n")
	}
	return b.String()
}
