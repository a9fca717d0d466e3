package report

import (
	"slices"
	"strings"
	"unicode/utf8"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// ShortNames abbreviates the packages of "package.Type/method" to first letters (level 1: c.a.o.OrderQuery/list) or drops them
// (level 2). Names that would become equal keep the parts that differ.
func ShortNames(names []string, level int) []string {
	short := make([]string, len(names))
	same := make(map[string][]int)
	for i, name := range names {
		if level == 1 {
			short[i] = abbreviate(name, nil)
		} else {
			_, short[i] = cutPackage(name)
		}
		same[short[i]] = append(same[short[i]], i)
	}
	for _, at := range same {
		first := names[at[0]]
		if !slices.ContainsFunc(at, func(i int) bool { return names[i] != first }) {
			continue
		}
		if level > 1 {
			for k, text := range ShortNames(listOf(at, func(i int) string { return names[i] }), 1) {
				short[at[k]] = text
			}
			continue
		}
		keep := func(part int) bool {
			return slices.ContainsFunc(at, func(i int) bool { return packagePart(names[i], part) != packagePart(first, part) })
		}
		for _, i := range at {
			short[i] = abbreviate(names[i], keep)
		}
	}
	return short
}

// shortName returns the name at an index as [ShortNames] abbreviates it at level 2 among n names. Of names without this end the name
// may be "".
func shortName(n, at int, name func(i int, end string) string) string {
	_, short := cutPackage(name(at, ""))
	var same []string
	place := 0
	for i := range n {
		if i == at {
			place = len(same)
		}
		s := name(i, short)
		if _, rest := cutPackage(s); rest == short {
			same = append(same, s)
		}
	}
	return ShortNames(same, 2)[place]
}

// dropCommon returns a function that drops a prefix up to and including sep, if all texts share it, from a level on.
func dropCommon(sep string, from int) func(texts []string, level int) []string {
	return func(texts []string, level int) []string {
		if level < from || len(texts) == 0 {
			return texts
		}
		prefix, _, found := strings.Cut(texts[0], sep)
		short := make([]string, len(texts))
		for i, t := range texts {
			p, rest, ok := strings.Cut(t, sep)
			if !found || !ok || p != prefix {
				return texts
			}
			short[i] = rest
		}
		return short
	}
}

// MethodAt returns the offset of the slash before the method in "Type/method" or "host/GET /path", -1 if there is none.
func MethodAt(name string) int {
	verb, _, _ := strings.Cut(name, " /")
	return strings.LastIndexByte(verb, '/')
}

// splitName cuts "package.Type/method" into the package's parts and the rest. Of "host/GET /path" the rest is without the host.
func splitName(name string) (parts []string, rest string) {
	pack, rest := cutPackage(name)
	parts = strings.Split(pack, ".")
	return parts[:len(parts)-1], rest
}

// cutPackage cuts a name as splitName does. The package ends with a dot if there is one.
func cutPackage(name string) (pack, rest string) {
	path, method := name, ""
	if i := MethodAt(name); i >= 0 {
		path, method = name[:i], name[i:]
	}
	if isHost(path, method) {
		return "", strings.TrimPrefix(method, "/")
	}
	at := strings.LastIndexByte(path, '.') + 1
	return name[:at], name[at:]
}

// isHost reports whether a service is named by a host: by its own name, or by a method such as "GET /path".
func isHost(service, method string) bool {
	return call.IsHost(service) || strings.Contains(method, " /")
}

func packagePart(name string, i int) string {
	parts, _ := splitName(name)
	if i < len(parts) {
		return parts[i]
	}
	return ""
}

func abbreviate(name string, keep func(part int) bool) string {
	if i := MethodAt(name); i >= 0 && isHost(name[:i], name[i:]) {
		return name
	}
	parts, rest := splitName(name)
	for i, p := range parts {
		if keep != nil && keep(i) || p == "" {
			continue
		}
		_, n := utf8.DecodeRuneInString(p)
		parts[i] = p[:n]
	}
	return strings.Join(append(parts, rest), ".")
}

// KeyText returns a group's key as text: service/method, then the other keys in parentheses.
func KeyText(by sizes.By, values []string) string {
	name := ""
	var other []string
	for i, k := range by.Keys[:min(len(by.Keys), len(values))] {
		switch v := term.Clean(values[i]); {
		case k == sizes.Service, k == sizes.Method && name == "":
			name = v
		case k == sizes.Method:
			name += "/" + v
		default:
			other = append(other, v)
		}
	}
	switch {
	case name == "":
		return strings.Join(other, ", ")
	case other == nil:
		return name
	}
	return name + " (" + strings.Join(other, ", ") + ")"
}
