package explain

import (
	"fmt"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/term"
)

// maxFields is the number of fields that a line names.
const maxFields = 8

// fields returns how the fields of the body are used, and false if that is not known, or not shown: which values are defaults tells values.
func (f *Frame) fields() (*decode.FieldUses, bool) {
	m := f.subject.Row.Msg
	if f.subject.Secret != Open || m.Tree == nil {
		return nil, false
	}
	list, ok := m.AppendFields(nil, new(decode.Anatomist))
	u := new(decode.FieldUses)
	u.Add(decode.PackFields(list, new(decode.KeyCache[string])), int64(m.BodyLen), len(list))
	return u, ok
}

// writeFields says which fields cost bytes and say nothing, and which are not set.
func (f *Frame) writeFields(b *strings.Builder, s *Style) {
	u, ok := f.fields()
	if !ok {
		return
	}
	line := func(name string, fields []string, all int) {
		if all == 0 {
			return
		}
		if n := all - len(fields); n > 0 {
			fields = append(fields, report.Count(int64(n))+" more")
		}
		text := term.Clean(name + ": " + strings.Join(fields, ", "))
		if s.Width == 0 {
			b.WriteString(text + "\n")
			return
		}
		for i, line := range term.Wrap(text, s.Width-2) {
			b.WriteString(strings.Repeat(" ", 2*min(i, 1)) + line + "\n")
		}
	}
	var defaults, unknown []string
	defaultBytes, unknownBytes, allDefaults, allUnknown := int64(0), int64(0), 0, 0
	costly, free, _, allFree := report.CostlyFields(u, u.Len())
	for i := range costly {
		field := &costly[i]
		if n := field.DefaultBytes; n > 0 {
			allDefaults++
			defaultBytes += n
			defaults = append(defaults, fmt.Sprintf("%s (%s)", field.Path, report.Count(n)))
		}
		if n := field.UndeclaredBytes; n > 0 {
			allUnknown++
			unknownBytes += n
			unknown = append(unknown, fmt.Sprintf("%s (%s)", field.Path, report.Count(n)))
		}
	}
	line("defaults, "+report.Plural(defaultBytes, "byte"), defaults[:min(len(defaults), maxFields)], allDefaults)
	line("unknown fields, "+report.Plural(unknownBytes, "byte"), unknown[:min(len(unknown), maxFields)], allUnknown)
	line("not set", free[:min(len(free), maxFields)], allFree)
}
