package decode

import "strings"

// Parameter types are on the wire as JVM field descriptors (JVM specification, 4.3.2) without separators:
// "Ljava/lang/String;I[J".

// SplitDescriptor splits concatenated field descriptors. ok is false when desc is not a sequence of descriptors; types then
// has those at its start.
func SplitDescriptor(desc string) (types []string, ok bool) {
	for len(desc) > 0 {
		n := descriptorLen(desc)
		if n == 0 {
			return types, false
		}
		types = append(types, desc[:n])
		desc = desc[n:]
	}
	return types, true
}

// descriptorLen returns the length in bytes of the first descriptor of s, 0 if there is none.
func descriptorLen(s string) int {
	dims := 0
	for dims < len(s) && s[dims] == '[' {
		dims++
	}
	if dims > 255 || dims == len(s) {
		return 0
	}
	switch s[dims] {
	case 'B', 'C', 'D', 'F', 'I', 'J', 'S', 'Z', 'V':
		return dims + 1
	case 'L':
		if end := strings.IndexByte(s[dims:], ';'); end > 1 {
			return dims + end + 1
		}
	}
	return 0
}

// JavaName returns the source form of a JVM descriptor: "[Ljava/lang/String;" is "java.lang.String[]", "I" is "int".
// A string that is not a descriptor is returned unchanged.
func JavaName(desc string) string {
	dims := 0
	for dims < len(desc) && desc[dims] == '[' {
		dims++
	}
	name := ""
	switch base := desc[dims:]; {
	case len(base) > 2 && base[0] == 'L' && base[len(base)-1] == ';':
		name = strings.ReplaceAll(base[1:len(base)-1], "/", ".")
	case len(base) == 1:
		name = primitives[base[0]]
	}
	if name == "" {
		return desc
	}
	return name + strings.Repeat("[]", dims)
}

var primitives = map[byte]string{
	'B': "byte", 'C': "char", 'D': "double", 'F': "float", 'I': "int", 'J': "long", 'S': "short", 'Z': "boolean", 'V': "void",
}

// IsMapType reports whether desc is the descriptor of a map of the JDK.
func IsMapType(desc string) bool {
	return strings.HasPrefix(desc, "Ljava/util/") &&
		(strings.HasSuffix(desc, "Map;") || desc == "Ljava/util/Hashtable;" || desc == "Ljava/util/Properties;")
}
