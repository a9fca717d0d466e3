package page

import (
	"fmt"
	"strings"

	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// maxDepth is the maximum indentation of rows.
const maxDepth = 14

// anatomy prints the composition of the bodies of a direction as a table of paths. which follows the number of bodies in the title. The
// script draws the table as a flame graph.
func (d *doc) anatomy(name string, a *sizes.Anatomy, bodies int64, which string, paths int) {
	if a.Messages == 0 {
		return
	}
	of, total := report.Plural(bodies, name), "total bytes"
	if a.Messages < bodies {
		of, total = report.Count(a.Messages)+" of "+of+" (a sample)", "sampled bytes"
	}
	mean := float64(a.Bytes) / float64(a.Messages)
	d.f("<div class=\"anatomy\"><h4>%s body: mean %s bytes, %s</h4>\n", strings.ToUpper(name[:1])+name[1:], report.Size(mean), of+which)
	d.f("<details open><summary>As a table</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"paths of the %s\">", name)
	d.f(`<table class="paths"><thead><tr><th scope="col" class="t">part<th scope="col" class="t">mainly<th scope="col">bytes per %s<th scope="col">%%<th scope="col">in %%<th scope="col">%s</thead><tbody>`+"\n", name, total)
	root := report.PathTree(a, paths)
	root.Name = name + " body"
	d.node(root, a, 0)
	d.f("</tbody></table></div></details></div>\n")
}

// fields prints the fields that cost bytes and say nothing, and those that are never set, if there are any.
func (p *page) fields(d *doc, name string, a *sizes.Anatomy) {
	sec := report.FieldSection(name, a, &p.style)
	sec.Title = "fields of " + name
	d.tableAndNotes(&sec)
}

// node prints the rows of a path segment and of the segments below it.
func (d *doc) node(n *report.PathNode, a *sizes.Anatomy, depth int) {
	own, kinds := int64(0), 0
	for _, b := range n.Own {
		own += b
		if b > 0 {
			kinds++
		}
	}
	in := ""
	if n.Messages > 0 {
		in = report.Percent(n.Messages, a.Messages)
		if kinds > 1 && n.Messages < a.Messages {
			in = "≥ " + in // different classes may be in different messages
		}
	}
	if len(n.Children) == 0 && n.Left == 0 {
		d.pathRow(n.Name, report.Most(&n.Classes).String(), in, n.Bytes, a, depth)
		return
	}
	d.pathRow(n.Name, report.Most(&n.Classes).String(), "", n.Bytes, a, depth)
	depth = min(depth+1, maxDepth)
	if own > 0 {
		d.pathRow("(itself)", report.Most(&n.Own).String(), in, own, a, depth)
	}
	for _, c := range n.Children {
		d.node(c, a, depth)
	}
	if n.Left > 0 {
		d.pathRow(fmt.Sprintf("(%s more)", report.Count(int64(n.Left))), left, "", n.LeftBytes, a, depth)
	}
}

// left is the class of omitted paths.
const left = "left"

func (d *doc) pathRow(name, class, in string, bytes int64, a *sizes.Anatomy, depth int) {
	d.f(`<tr class="d%d %s"><th scope="row"><bdi>%s</bdi><td class="t">`, depth, class, cutLeft(name, 80))
	if class != left {
		d.f("%s", class)
	}
	d.f("<td>%s<td>%s<td>%s<td>%s\n", report.Size(float64(bytes)/float64(a.Messages)), report.Percent(bytes, a.Bytes), in, report.Count(bytes))
}
