// Package man turns what is known of a command into its manual page, in roff, as man(1) reads it.
//
// The form is that of man-pages(7): sections in its order, options in bold, values in italics. go-md2man writes the roff;
// here is only what stands in it. Pages depend on nothing but their input: the same page gives the same bytes.
package man

import (
	"fmt"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
)

// Page is one manual page of section 1.
type Page struct {
	Name     string // of the page: dubbo-wire-analyze
	Title    string // in one line, behind the name
	Synopsis []string
	// Description is paragraphs, with an empty line between two. Lines of an indented one stay as they are.
	Description string
	Commands    []Item
	Options     []Group
	Examples    []string // command lines
	ExitCodes   []Item
	Environment []Item
	SeeAlso     []string // other pages: names with their section, tcpdump(8)

	Date   string // 2006-01-02; "" where there is none
	Source string // the program and its version
}

// Item is a term and what is said of it.
type Item struct{ Term, Text string }

// Group is options under a title.
type Group struct {
	Title string
	Items []Option
}

// Option is one option: Names as they are written, the most used last; Value is "" where it takes none.
type Option struct {
	Names              []string
	Value, Text, Unset string // Unset is what holds without the option; "" where nothing is to be said
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
		items(&b, p.Commands, "**")
	}
	if len(p.Options) > 0 {
		section("OPTIONS")
		for _, g := range p.Options {
			if len(p.Options) > 1 {
				b.WriteString("## " + escape(g.Title) + "\n\n")
			}
			for _, o := range g.Items {
				option(&b, &o)
			}
		}
	}
	if len(p.Examples) > 0 {
		section("EXAMPLES")
		b.WriteString("```\n" + strings.Join(p.Examples, "\n") + "\n```\n\n")
	}
	if len(p.ExitCodes) > 0 {
		section("EXIT STATUS")
		items(&b, p.ExitCodes, "**")
	}
	if len(p.Environment) > 0 {
		section("ENVIRONMENT")
		items(&b, p.Environment, "**")
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

func items(b *strings.Builder, list []Item, mark string) {
	for _, i := range list {
		fmt.Fprintf(b, "%s%s%s\n: %s\n\n", mark, escape(i.Term), mark, escape(i.Text))
	}
}

func option(b *strings.Builder, o *Option) {
	names := make([]string, len(o.Names))
	for i, n := range o.Names {
		names[i] = "**" + escape(n) + "**"
	}
	b.WriteString(strings.Join(names, ", "))
	if o.Value != "" {
		b.WriteString(" *" + escape(o.Value) + "*")
	}
	b.WriteString("\n: " + escape(sentence(o.Text)))
	if o.Unset != "" {
		b.WriteString(" Default: " + escape(o.Unset) + ".")
	}
	b.WriteString("\n\n")
}

// sentence makes one of a line of help.
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

// escape writes text so that Markdown reads it as it stands.
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
