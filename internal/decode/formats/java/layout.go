package java

import (
	_ "embed"
	"strings"
	"sync"
)

// layout is the part of a class descriptor that compactedjava leaves out.
type layout struct {
	flags  byte
	fields []fieldDesc
	// extends is the superclass in the stream, empty if it is not known; strange says that the class is not Serializable. These are
	// of classes of the class path.
	extends string
	strange bool
}

const scSerializable = 0x02

//go:embed layouts.txt
var layoutLines string

// layouts returns the layouts that are known, by class: those of the JDK and of Dubbo's exceptions. They are the same in JDK
// 8 to 17, except for StackTraceElement and classes that JDK 9 added.
var layouts = sync.OnceValue(func() map[string]*layout {
	known := make(map[string]*layout, strings.Count(layoutLines, "\n"))
	for line := range strings.Lines(layoutLines) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "#" {
			continue
		}
		l := &layout{flags: scSerializable}
		switch words[1] {
		case "w":
			l.flags |= scWriteMethod
		case "x":
			l.flags = scExternalizable | scBlockData
		}
		for _, f := range words[2:] {
			l.fields = append(l.fields, fieldDesc{code: f[0], name: f[1:]})
		}
		known[words[0]] = l
	}
	return known
})

// stackTraceElement has more fields since JDK 9: a byte in front of its number, and texts.
const stackTraceElement = "java.lang.StackTraceElement"

var stackTraceElement8 = []fieldDesc{
	{code: 'I', name: "lineNumber"}, {code: 'L', name: "declaringClass"}, {code: 'L', name: "fileName"}, {code: 'L', name: "methodName"},
}

// ofJDK8 reports whether the fields of a StackTraceElement at the start of b are those of JDK 8: the name of a class follows
// the number. No tag can follow the tag of that name, since the name would have 28 KB.
func ofJDK8(b []byte) bool {
	if len(b) < 6 {
		return false
	}
	isTag := func(c byte) bool { return c == tcString || c == tcReference || c == tcNull }
	return isTag(b[4]) && !isTag(b[5])
}
