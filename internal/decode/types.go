package decode

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parameter types are on the wire as JVM field descriptors (JVM specification, 4.3.2) without separators:
// "Ljava/lang/String;I[J".

// SplitDescriptor splits concatenated field descriptors. ok is false, and types nil, when desc is not a sequence of
// descriptors.
func SplitDescriptor(desc string) (types []string, ok bool) {
	for len(desc) > 0 {
		n := descriptorLen(desc)
		if n == 0 {
			return nil, false
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
		if end := strings.IndexByte(s[dims:], ';'); end > 1 && isNames(s[dims+1:dims+end], "/") {
			return dims + end + 1
		}
	}
	return 0
}

// isNames reports whether s is one name or several, between them one of the characters of separators. A name has letters,
// digits and the signs that compilers of Java, Kotlin, Scala and Groovy write: _ $ and -.
func isNames(s, separators string) bool {
	begun := false
	for _, c := range s {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9': // as most are, and no separator
			begun = true
		case strings.ContainsRune(separators, c):
			if !begun {
				return false
			}
			begun = false
		case c == '_', c == '$', c == '-', unicode.IsLetter(c) && c != utf8.RuneError, unicode.IsDigit(c):
			begun = true
		default:
			return false
		}
	}
	return begun
}

// IsRelease reports whether s is a version as Dubbo writes its own, such as 2.0.2, 2.5.3 or 3.3.0-beta.1.
func IsRelease(s string) bool {
	return len(s) >= 3 && len(s) <= maxVersion && s[0] >= '0' && s[0] <= '9' && strings.Contains(s, ".") && isVersion(s)
}

// maxVersion is the longest version, in bytes.
const maxVersion = 32

// isVersion reports whether s can be the version of a service.
func isVersion(s string) bool {
	for _, c := range s {
		if c != '.' && c != '-' && c != '_' && c != '+' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(s) <= maxVersion
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
