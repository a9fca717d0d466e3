package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Groups of flags in help, behind those that are only a command's own.
const (
	filterGroup = "Filters (they select calls: request and response stay or go together)"
	limitGroup  = "Limits (of what is remembered, for hostile or very large captures)"
)

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

// flagHelp prints a command's flags by group.
func flagHelp(cmd *cobra.Command, width int) string {
	var b strings.Builder
	for _, group := range []string{"", filterGroup, limitGroup} {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		fs.SortFlags = cmd.Flags().SortFlags
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if of := f.Annotations[groupAnnotation]; len(of) == 0 && group == "" || len(of) > 0 && of[0] == group {
				fs.AddFlag(f)
			}
		})
		if !fs.HasAvailableFlags() {
			continue
		}
		title := "Flags"
		if group != "" {
			b.WriteString("\n\n")
			title = group
		}
		b.WriteString(title + ":\n" + strings.TrimRight(fs.FlagUsagesWrapped(width), "\n "))
	}
	return b.String()
}
