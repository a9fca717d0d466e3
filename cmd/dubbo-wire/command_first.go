package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ordered returns the command line with the command's name first. When a shell asks for completion, the words of the line
// follow cobra's own command; the last word is incomplete and stays where it is.
func ordered(root *cobra.Command, args []string) []string {
	if n := len(args); n > 2 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		return slices.Concat(args[:1], commandFirst(root, args[1:n-1]), args[n-1:])
	}
	return commandFirst(root, args)
}

// commandFirst moves the command's name to the front, so that flags may precede it: "--exact analyze trace.pcap". Cobra
// would take the word after an unknown flag as the value of the flag.
func commandFirst(root *cobra.Command, args []string) []string {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return args
		case !strings.HasPrefix(a, "-") || a == "-":
			if i == 0 || !isCommand(root, a) {
				return args
			}
			ordered := append([]string{a}, args[:i]...)
			return append(ordered, args[i+1:]...)
		case takesNext(root, a):
			i++
		}
	}
	return args
}

func isCommand(root *cobra.Command, name string) bool {
	for _, c := range root.Commands() {
		if c.Name() == name || c.HasAlias(name) {
			return true
		}
	}
	return false
}

// takesNext reports whether the value of a flag is the next argument. A flag has the same type in every command.
func takesNext(root *cobra.Command, arg string) bool {
	if strings.Contains(arg, "=") {
		return false
	}
	if name, long := strings.CutPrefix(arg, "--"); long {
		return needsValue(root, func(fs *pflag.FlagSet) *pflag.Flag { return fs.Lookup(name) })
	}
	// -qo FILE combines several flags; -c100 includes its value.
	for i := 1; i < len(arg); i++ {
		if needsValue(root, func(fs *pflag.FlagSet) *pflag.Flag { return fs.ShorthandLookup(arg[i : i+1]) }) {
			return i == len(arg)-1
		}
	}
	return false
}

func needsValue(root *cobra.Command, find func(*pflag.FlagSet) *pflag.Flag) bool {
	for _, c := range root.Commands() {
		if f := find(c.Flags()); f != nil {
			return f.NoOptDefVal == ""
		}
	}
	return false
}
