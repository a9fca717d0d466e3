package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dubbo-wire/internal/term"
)

// helpWidth returns the columns of help: those of the terminal within 40 and 100, or 80 without a terminal.
func helpWidth(terminal int) int {
	if terminal == 0 {
		return 80
	}
	return min(max(terminal, 40), 100)
}

// helpText returns what --help prints.
func helpText(cmd *cobra.Command, width int) string {
	var b strings.Builder
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	b.WriteString(reflow(long, width) + "\n")
	if cmd.IsAdditionalHelpTopicCommand() && cmd.HasParent() {
		return b.String()
	}
	b.WriteString("\nUsage:\n" + indented(useLine(cmd), width) + "\n")
	if cmd.Example != "" {
		b.WriteString("\nExamples:\n" + strings.TrimRight(cmd.Example, "\n") + "\n")
	}
	for _, g := range cmd.Groups() {
		listCommands(&b, g.Title, commandsOf(cmd, func(c *cobra.Command) bool { return c.GroupID == g.ID }), width)
	}
	b.WriteString(flagHelp(cmd, width))
	if !cmd.HasParent() {
		b.WriteString("\nExit codes:\n")
		for _, e := range exitCodes {
			fmt.Fprintf(&b, "  %d  %s\n", e.code, strings.Join(term.Wrap(e.short, width-5), "\n     "))
		}
		b.WriteString("\nMore:\n  dubbo-wire COMMAND --help    flags and examples of a command\n")
		for _, c := range commandsOf(cmd, (*cobra.Command).IsAdditionalHelpTopicCommand) {
			fmt.Fprintf(&b, "  %-27s  %s\n", "dubbo-wire help "+c.Name(), lowerFirst(c.Short))
		}
	}
	return b.String()
}

// useLine returns the usage of a command. Flags precede --, because flags after it belong to another program.
func useLine(cmd *cobra.Command) string {
	use := cmd.Use
	if cmd.HasParent() {
		use = cmd.Parent().CommandPath() + " " + use
	}
	before, other, ok := strings.Cut(use, " [--")
	if !ok {
		return use + " [flags]"
	}
	return before + " [flags] [--" + other
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// commandsOf returns the commands that help shows and want accepts, in the order of commands; topics follow.
func commandsOf(cmd *cobra.Command, want func(*cobra.Command) bool) []*cobra.Command {
	var list []*cobra.Command
	for _, c := range cmd.Commands() {
		if !c.Hidden && want(c) {
			list = append(list, c)
		}
	}
	order := func(c *cobra.Command) string { return cmp.Or(c.Annotations[orderAnnotation], "topic") }
	slices.SortStableFunc(list, func(a, b *cobra.Command) int { return strings.Compare(order(a), order(b)) })
	return list
}

func listCommands(b *strings.Builder, title string, list []*cobra.Command, width int) {
	if len(list) == 0 {
		return
	}
	b.WriteString("\n" + title + "\n")
	const names = 12 // the longest name has 10 letters
	for _, c := range list {
		lines := term.Wrap(c.Short, max(width-names-2, 20))
		fmt.Fprintf(b, "  %-*s%s\n", names, c.Name(), lines[0])
		for _, line := range lines[1:] {
			b.WriteString(strings.Repeat(" ", names+2) + line + "\n")
		}
	}
}

// reflow wraps the paragraphs of a text to width. Indented paragraphs stay as they are.
func reflow(text string, width int) string {
	var out []string
	for _, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if !strings.HasPrefix(paragraph, " ") && !strings.Contains(paragraph, "\n ") {
			paragraph = strings.Join(term.Wrap(strings.ReplaceAll(paragraph, "\n", " "), width), "\n")
		}
		out = append(out, paragraph)
	}
	return strings.Join(out, "\n\n")
}

// indented wraps a line. The first line is indented by two columns, the following lines by six.
func indented(line string, width int) string {
	return "  " + strings.Join(term.Wrap(line, max(width-6, 20)), "\n      ")
}
