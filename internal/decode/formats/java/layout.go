package java

import (
	_ "embed"
	"strings"
	"sync"
)

// layout is what a stream of compactedjava leaves out of a class.
type layout struct {
	flags  byte
	fields []fieldDesc
}

const scSerializable = 0x02

//go:embed layouts.txt
var layoutLines string

// layouts returns the classes whose layout is known without the application's: the JDK's and Dubbo's exceptions. The
// same in JDK 8 to 17 but for StackTraceElement and what JDK 9 added.
var layouts = sync.OnceValue(func() map[string]layout {
	known := make(map[string]layout, strings.Count(layoutLines, "\n"))
	for line := range strings.Lines(layoutLines) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "#" {
			continue
		}
		l := layout{flags: scSerializable}
		switch words[1] {
		case "w":
			l.flags |= scWriteMethod
		case "x":
			l.flags = scExternalizable | scBlockData
		}
		for _, f := range words[2:] {
			l.fields = append(l.fields, fieldDesc{f[0], f[1:]})
		}
		known[words[0]] = l
	}
	return known
})

// stackTraceElement has more fields since JDK 9: a byte in front of its number, and texts.
const stackTraceElement = "java.lang.StackTraceElement"

var stackTraceElement8 = []fieldDesc{{'I', "lineNumber"}, {'L', "declaringClass"}, {'L', "fileName"}, {'L', "methodName"}}

// ofJDK8 reports whether the fields of a StackTraceElement, which start b, are those of JDK 8: behind the number stands the
// name of a class, behind whose tag no tag can stand, for that would be a name of 28 KB.
func ofJDK8(b []byte) bool {
	if len(b) < 6 {
		return false
	}
	isTag := func(c byte) bool { return c == tcString || c == tcReference || c == tcNull }
	return isTag(b[4]) && !isTag(b[5])
}
