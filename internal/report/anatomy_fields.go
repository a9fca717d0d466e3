package report

import (
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// CostlyFields returns the fields with bytes of defaults or of values that the schema does not have, those with most bytes first, and the names
// of the fields without such bytes that were never set. It has at most most of each; the numbers are those of all.
func CostlyFields(u *decode.FieldUses, most int) (costly []decode.FieldUse, free []string, allCostly, allFree int) {
	for _, f := range u.List() {
		if f.Bytes() > 0 {
			costly = append(costly, f)
		}
	}
	for _, f := range u.NeverSet() {
		if f.Bytes() == 0 {
			free = append(free, f.Path)
		}
	}
	allCostly, allFree = len(costly), len(free)
	slices.Sort(free)
	return costly[:min(allCostly, most)], free[:min(allFree, most)], allCostly, allFree
}

// FieldRemark says what is special about a field with bytes of defaults or of values that the schema does not have.
func FieldRemark(u *decode.FieldUses, f *decode.FieldUse) string {
	switch {
	case f.UndeclaredBytes > 0:
		return "unknown"
	case f.NeverSet() && !u.Lacks():
		return "never set"
	}
	return ""
}

// FreeFields says which fields were never set and take no bytes.
func FreeFields(names []string, all int, messages int64) string {
	return "Never set in " + Plural(messages, "message") + ", and without bytes: " + strings.Join(names, ", ") + more(all-len(names)) + "."
}

// AppendFields appends the fields that have defaults or values that the schema does not have, or no value but their default, as JSON.
func AppendFields(dst []byte, u *decode.FieldUses) ([]byte, error) {
	text, err := marshal(fieldsOf(u))
	return append(dst, text...), err
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return ", " + Count(int64(n)) + " more"
}

// FieldSection returns the fields of bodies that cost bytes and say nothing. It has no columns if no fields are to be shown.
func FieldSection(name string, a *sizes.Anatomy, s *Style) Section {
	u := &a.Fields
	shown, free, allCostly, allFree := CostlyFields(u, shownPaths)
	if allCostly+allFree == 0 {
		return Section{}
	}
	sec := Section{Columns: []Column{
		{Name: "fields of " + name, Flex: true, least: len("fields of responses")},
		{Name: "remark"},
		{Name: "values", unit: count},
		{Name: "defaults", unit: count},
		{Name: "per message", unit: size},
		{Name: "%", unit: percent},
	}}
	for i := range shown {
		f := &shown[i]
		sec.add(
			s, textCell(term.Clean(f.Path)), textCell(FieldRemark(u, f)), numberCell(f.Set+f.Defaults), numberCell(f.Defaults),
			ratioCell(f.Bytes(), u.Messages), ratioCell(f.Bytes(), u.Bytes),
		)
	}
	if n := allCostly - len(shown); n > 0 {
		bytes := int64(0)
		for _, f := range u.List()[len(shown):allCostly] {
			bytes += f.Bytes()
		}
		sec.add(s, textCell(Plural(int64(n), "more field")), textCell(""), cell{}, cell{}, ratioCell(bytes, u.Messages), ratioCell(bytes, u.Bytes))
	}
	if allFree > 0 {
		sec.Notes = []string{term.Clean(FreeFields(free, allFree, u.Messages))}
	}
	return sec
}
