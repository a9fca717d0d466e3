package main

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/term"
)

// unknownCommand returns an error with a suggestion: a file may lack its command, or a name may be misspelled.
func unknownCommand(root *cobra.Command, name string) error {
	if _, err := os.Stat(name); err == nil || strings.ContainsAny(name, "./\\") || name == "-" {
		return exit.Usagef("%q is not a command; to measure a capture: dubbo-wire analyze %s", name, name)
	}
	if near := root.SuggestionsFor(name); len(near) > 0 {
		return exit.Usagef("unknown command %q; did you mean %s? dubbo-wire --help lists the commands", name, strings.Join(near, " or "))
	}
	return exit.Usagef("unknown command %q; dubbo-wire --help lists the commands", name)
}

// noArguments refuses arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Usagef("%s takes no arguments, but %q was given; see %s --help", cmd.Name(), args[0], cmd.CommandPath())
	}
	return nil
}

// flagError words an error of pflag.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, unknown)
	}
	if without, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		f := without.GetFlag()
		value, _ := pflag.UnquoteUsage(f)
		return exit.Usagef("--%s needs a value: --%s %s; see %s --help", f.Name, f.Name, value, cmd.CommandPath())
	}
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return exit.Usagef("%v; see %s --help", err, cmd.CommandPath())
	}
	f := invalid.GetFlag()
	if wrong, ok := errors.AsType[wrongValue](err); ok {
		return exit.Usagef("--%s %v", f.Name, wrong)
	}
	text := "invalid value; see " + cmd.CommandPath() + " --help"
	switch f.Value.Type() {
	case "int", "int64", "intSlice":
		text = "must be a whole number"
	case "float64":
		text = "must be a number"
	case "duration":
		text = "must be a duration, such as 500ms, 2s or 1m30s"
	case "bool":
		text = "must be true or false"
	}
	return exit.Usagef("--%s %s: %s", f.Name, invalid.GetValue(), text)
}

// unknownFlag returns an error with a suggestion: a flag with a similar name, or the commands that have the flag.
func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) error {
	name := err.GetSpecifiedName()
	letters := err.GetSpecifiedShortnames()
	if letters != "" {
		if len(letters) > 2 && cmd.Flag(letters) != nil {
			return exit.Usagef("unknown flag: -%s in -%s; did you mean --%s?", name, letters, letters)
		}
		return exit.Usagef("unknown flag: -%s; see %s --help", name, cmd.CommandPath())
	}
	if !cmd.HasParent() {
		if others := commandsWith(cmd, name); len(others) == 0 {
			if near := nearest(name, allFlags(cmd)); near != "" {
				return exit.Usagef("unknown flag: --%s; did you mean --%s? A command is also missing; dubbo-wire --help lists the commands", name, near)
			}
			return exit.Usagef("unknown flag: --%s, and the command is missing; dubbo-wire --help lists the commands", name)
		}
		return exit.Usagef("--%s needs a command; dubbo-wire --help lists the commands (to measure a capture: dubbo-wire analyze FILE)", name)
	}
	if others := commandsWith(cmd.Root(), name); len(others) > 0 {
		return exit.Usagef("%s has no flag --%s; it is a flag of %s", cmd.Name(), name, listed(others, "and"))
	}
	if near := nearest(name, flagNames(cmd)); near != "" {
		return exit.Usagef("unknown flag: --%s; did you mean --%s?", name, near)
	}
	return exit.Usagef("unknown flag: --%s; see %s --help", name, cmd.CommandPath())
}

// flagNames returns the names of a command's visible flags.
func flagNames(cmd *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) {
		if !f.Hidden && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return names
}

// allFlags returns the names of the flags of all commands.
func allFlags(root *cobra.Command) []string {
	names := flagNames(root)
	for _, c := range root.Commands() {
		names = append(names, flagNames(c)...)
	}
	return names
}

// commandsWith returns the commands that have a flag.
func commandsWith(root *cobra.Command, name string) []string {
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden && slices.Contains(flagNames(c), name) {
			names = append(names, c.Name())
		}
	}
	return names
}

// listed joins words with commas, and with last before the last word.
func listed(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// nearest returns the most similar name, or "" if none is similar: at most a third of the letters differ, or the name begins
// with what was written.
func nearest(name string, names []string) string {
	if len(name) > 64 {
		return ""
	}
	best, least := "", len(name)/3+1
	for _, n := range names {
		d := term.EditDistance(name, n)
		if d >= least && len(name) >= 3 && strings.HasPrefix(n, name) {
			d = least - 1
		}
		if d < least {
			best, least = n, d
		}
	}
	return best
}
