package fastjson2

import (
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
)

// shortNames are the classes that are written without their package (TypeUtils.NAME_MAPPINGS), by package. Collections are
// not among them, since lists and maps have no class in the tree.
var shortNames = []struct {
	pkg   string
	names []string
}{
	{"java.lang.", []string{
		"AutoCloseable", "Boolean", "Byte", "Character", "Cloneable", "Double", "Exception", "Float", "IllegalAccessError",
		"IllegalAccessException", "IllegalArgumentException", "IllegalMonitorStateException", "IllegalStateException",
		"IllegalThreadStateException", "IndexOutOfBoundsException", "InstantiationError", "InstantiationException", "Integer",
		"InternalError", "InterruptedException", "LinkageError", "Long", "NegativeArraySizeException", "NoClassDefFoundError",
		"NoSuchFieldError", "NoSuchFieldException", "NoSuchMethodError", "NoSuchMethodException", "NullPointerException", "Number",
		"NumberFormatException", "Object", "OutOfMemoryError", "RuntimeException", "SecurityException", "Short",
		"StackOverflowError", "StackTraceElement", "String", "StringIndexOutOfBoundsException", "TypeNotPresentException",
		"VerifyError",
	}},
	{"java.util.", []string{"BitSet", "Calendar", "Currency", "Date", "Locale", "UUID"}},
	{"java.util.concurrent.", []string{"TimeUnit"}},
	{"java.util.concurrent.atomic.", []string{"AtomicInteger", "AtomicLong"}},
	{"java.math.", []string{"BigDecimal", "BigInteger"}},
	{"java.text.", []string{"SimpleDateFormat"}},
}

// singles maps classes of the JDK that are written as their name and one text to the field that the text is. For all other
// classes such a text is a constant of an enum.
var singles = map[string]string{
	"java.lang.Class":    "name",
	"Currency":           "currencyCode",
	"java.util.Currency": "currencyCode",
}

// javaName returns the full name of a class.
func (r *Reader) javaName(s *symbol) string {
	if s.java == "" {
		s.java = s.text
		for _, p := range shortNames {
			if _, ok := slices.BinarySearch(p.names, s.text); ok {
				s.java = p.pkg + s.text
			}
		}
		if s.text != "" && s.text[0] == '[' {
			s.java = decode.JavaName(s.text)
		}
	}
	return s.java
}

// printedName returns the full name of a class where values are printed, else "". There may be no class.
func (r *Reader) printedName(s *symbol) string {
	if !r.prints() || s == nil {
		return ""
	}
	return r.javaName(s)
}

// isJDK reports whether a class, by its name on the wire, is one of the JDK.
func isJDK(name string) bool {
	return strings.HasPrefix(name, "java.") || !strings.Contains(name, ".") && !strings.Contains(name, "$")
}

// isMap reports whether a class, by its name on the wire, is a map of the JDK or of fastjson.
func isMap(name string) bool {
	switch name {
	case "M", "LM", "TM", "JO1", "JO10", "JSONObject", "Hashtable", "java.util.Properties":
		return true
	}
	if i := strings.IndexByte(name, '$'); i >= 0 && strings.HasPrefix(name, "java.util.") {
		return strings.Contains(name[i:], "Map") // java.util.ImmutableCollections$MapN
	}
	return isJDK(name) && strings.HasSuffix(name, "Map")
}
