// Package man renders the manual page of a command. A Page goes in; roff comes out, as man(1) reads it. The form follows
// man-pages(7): its sections in its order, options in bold, values in italics. Package go-md2man writes the roff; this package
// writes the Markdown that it reads. The same page always gives the same bytes, which belong to the caller.
package man

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/pflag"
)

// Page is one manual page of section 1.
type Page struct {
	Name     string // of the page: dubbo-wire-analyze
	Title    string // one line, after the name
	Synopsis []string
	// Description has paragraphs with an empty line between two. An indented paragraph keeps its lines.
	Description string
	Commands    []Item
	Options     []Group
	Examples    []string // command lines
	ExitCodes   []Item
	Environment []Item
	SeeAlso     []string // other pages: names with their section, tcpdump(8)

	Date   string // 2006-01-02, or ""
	Source string // the program and its version
}

// Item is a term with its description.
type Item struct{ Term, Text string }

// Group is a titled group of options.
type Group struct {
	Title string
	Flags *pflag.FlagSet
}

// Roff renders a page.
func Roff(p *Page) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%% %q %q %q %q %q\n\n", strings.ToUpper(p.Name), "1", p.Date, p.Source, "User Commands")
	section := func(title string) { b.WriteString("# " + title + "\n\n") }
	section("NAME")
	b.WriteString(escape(p.Name) + ` \- ` + escape(p.Title) + "\n\n")
	section("SYNOPSIS")
	for _, line := range p.Synopsis {
		b.WriteString("**" + escape(line) + "**\n\n")
	}
	section("DESCRIPTION")
	paragraphs(&b, p.Description)
	if len(p.Commands) > 0 {
		section("COMMANDS")
		items(&b, p.Commands)
	}
	if len(p.Options) > 0 {
		section("OPTIONS")
		for _, g := range p.Options {
			if len(p.Options) > 1 {
				b.WriteString("## " + escape(g.Title) + "\n\n")
			}
			g.Flags.VisitAll(func(f *pflag.Flag) { option(&b, f) })
		}
	}
	if len(p.Examples) > 0 {
		section("EXAMPLES")
		b.WriteString("```\n" + strings.Join(p.Examples, "\n") + "\n```\n\n")
	}
	if len(p.ExitCodes) > 0 {
		section("EXIT STATUS")
		items(&b, p.ExitCodes)
	}
	if len(p.Environment) > 0 {
		section("ENVIRONMENT")
		items(&b, p.Environment)
	}
	if len(p.SeeAlso) > 0 {
		section("SEE ALSO")
		list := make([]string, len(p.SeeAlso))
		for i, s := range p.SeeAlso {
			name, number, _ := strings.Cut(s, "(")
			list[i] = "**" + escape(name) + "**(" + number
		}
		b.WriteString(strings.Join(list, ", ") + "\n")
	}
	return md2man.Render([]byte(b.String()))
}

func items(b *strings.Builder, list []Item) {
	for _, i := range list {
		fmt.Fprintf(b, "**%s**\n: %s\n\n", escape(i.Term), escape(i.Text))
	}
}

// option writes a flag, unless it is hidden, with its default if that says something.
func option(b *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	if f.Shorthand != "" {
		b.WriteString("**" + escape("-"+f.Shorthand) + "**, ")
	}
	b.WriteString("**" + escape("--"+f.Name) + "**")
	value, text := pflag.UnquoteUsage(f)
	if value != "" {
		b.WriteString(" *" + escape(value) + "*")
	}
	b.WriteString("\n: " + escape(sentence(text)))
	if !slices.Contains([]string{"", "0", "0s", "false", "[]", "true"}, f.DefValue) {
		b.WriteString(" Default: " + escape(f.DefValue) + ".")
	}
	b.WriteString("\n\n")
}

// sentence turns a line of help into a sentence.
func sentence(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

func paragraphs(b *strings.Builder, text string) {
	for _, p := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") {
			b.WriteString("```\n" + p + "\n```\n\n")
			continue
		}
		b.WriteString(escape(strings.ReplaceAll(p, "\n", " ")) + "\n\n")
	}
}

// escape escapes text for Markdown.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_{}[]#+-!|<>~&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
