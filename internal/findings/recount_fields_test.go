package findings_test

import (
	"strings"
	"unicode"

	"dubbo-wire/internal/decode"
)

// fieldUse is how a field is used: the values other than its default, and the bytes of the defaults.
type fieldUse struct{ set, defaultBytes int64 }

// fieldUses finds the fields of arguments and results. Paths have at most 12 segments.
func fieldUses(t *decode.Tree) map[string]*fieldUse {
	uses := map[string]*fieldUse{}
	whole := true
	var walk func(i int, path string, depth int)
	walk = func(i int, path string, depth int) {
		n := &t.Nodes[i]
		pending, names, members := int64(0), 0, false
		for c := i + 1; c < int(n.End); c = int(t.Nodes[c].End) {
			child := &t.Nodes[c]
			if child.Kind == decode.Missing || child.Kind == decode.Opaque && child.Num == 0 {
				whole = false
			}
			switch {
			case child.Label == decode.ByMember:
				members, pending = true, int64(child.Len)
				continue
			case child.Label == decode.ByKey:
				members = false
			case child.Label == decode.ByRole && child.Kind == decode.Overhead:
				switch child.Name {
				case "field":
					names++
					if pending = int64(child.Len); names > 1 {
						pending = 0
					}
				case "punct":
					if pending > 0 {
						pending += int64(child.Len)
					}
				default:
					pending, names = 0, 0
				}
				continue
			}
			tag := pending
			pending, names = 0, 0
			isField := child.Label == decode.ByField && n.Kind == decode.Object && child.Name != ""
			isMember := child.Label == decode.ByEntry && members && strings.IndexFunc(child.Name, func(r rune) bool {
				return r != '_' && r != '$' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
			}) < 0 && child.Name != "" && child.Name[0] != '-' && !unicode.IsDigit(rune(child.Name[0]))
			name := "[*]"
			switch {
			case isField || isMember:
				name = "." + child.Name
			case child.Label == decode.ByField || child.Label == decode.Whole:
				name = ""
			}
			own := path + name
			deeper := depth + 1
			if depth >= 12 {
				own, deeper = path, depth
			}
			if !isField && !isMember {
				walk(c, own, deeper)
				continue
			}
			key := own
			if depth >= 12 {
				key = "(other)"
			}
			if uses[key] == nil {
				uses[key] = new(fieldUse)
			}
			if !says(t, c) {
				bytes := int64(0)
				for k := c; k < int(child.End); k++ {
					bytes += int64(t.Nodes[k].Len)
				}
				if bytes > 0 {
					uses[key].defaultBytes += bytes + tag
				}
				continue
			}
			if depth < 12 {
				uses[key].set++
			}
			walk(c, own, deeper)
		}
	}
	for i := 0; i < len(t.Nodes); i = int(t.Nodes[i].End) {
		n := &t.Nodes[i]
		if n.Kind == decode.Missing || n.Kind == decode.Opaque && n.Num == 0 {
			whole = false
		}
		switch {
		case n.Label == decode.ByField && n.Name == "args":
			for c := i + 1; c < int(n.End); c = int(t.Nodes[c].End) {
				a := &t.Nodes[c]
				if a.Kind == decode.Missing || a.Kind == decode.Opaque && a.Num == 0 {
					whole = false
				}
				walk(c, "args", 1)
			}
		case n.Label != decode.ByField || n.Name == "result":
			walk(i, n.Name, 1)
		}
	}
	if !whole {
		return nil
	}
	return uses
}

// says reports whether a value is more than null, 0, false, or an empty text or collection.
func says(t *decode.Tree, i int) bool {
	n := &t.Nodes[i]
	switch n.Kind {
	case decode.Null:
		return false
	case decode.Bool, decode.Int:
		return n.Num != 0 || n.Text != ""
	case decode.Float32, decode.Float64:
		return n.Float != 0 || n.Text != ""
	case decode.String:
		return n.Text != ""
	case decode.Char:
		return strings.Trim(n.Text, "\x00") != ""
	case decode.Bytes:
		return len(n.Raw) > 0
	case decode.List, decode.Map:
		for c := i + 1; c < int(n.End); c = int(t.Nodes[c].End) {
			if t.Nodes[c].Kind != decode.Overhead && t.Nodes[c].Label != decode.ByField {
				return true
			}
		}
		return false
	}
	return true
}

// recountFields finds fields that cost bytes and say nothing.
func recountFields(x expected, name, what string, list []*message) {
	body, looked := int64(0), int64(0)
	all := map[string]*fieldUse{}
	for _, m := range list {
		if m.uses == nil {
			continue
		}
		looked++
		body += m.body
		for path, u := range m.uses {
			if all[path] == nil {
				all[path] = new(fieldUse)
			}
			all[path].set += u.set
			all[path].defaultBytes += u.defaultBytes
		}
	}
	sent, never := int64(0), int64(0)
	for path, u := range all {
		sent += u.defaultBytes
		if u.set == 0 && path != "(other)" {
			never += u.defaultBytes
		}
	}
	if looked >= 3 && 10*sent >= body && sent >= 50*looked {
		x.add("sent-defaults", name+" "+what, map[string]any{"defaultBytes": sent, "bodyBytes": body, "looked": looked})
	}
	if looked >= 10 && 20*never >= body && never >= 20*looked {
		x.add("never-set", name+" "+what, map[string]any{"neverSetBytes": never, "bodyBytes": body, "looked": looked})
	}
}
