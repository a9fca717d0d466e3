package classfile

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ErrMissing says that a class is neither in the class path nor in the JDK.
var ErrMissing = errors.New("class not found")

// Error says in one line what was wrong with a file, where, and what to do.
type Error struct {
	// Place is the file; what lies in a jar comes after "!/", as in app.jar!/BOOT-INF/lib/model.jar. Empty where only bytes
	// were given.
	Place string
	// Problem says what is wrong, with the offset of the byte.
	Problem string
	// Advice says what to do; it may be empty.
	Advice string
}

func (e *Error) Error() string {
	s := e.Problem
	if e.Place != "" {
		s = e.Place + ": " + s
	}
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s
}

// at returns the error with a place in front of what it has.
func (e *Error) at(place string) *Error {
	c := *e
	c.Place = place
	return &c
}

// located returns err with a place, as an *Error.
func located(place string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		return e.at(place)
	}
	return &Error{Place: place, Problem: err.Error()}
}

// What to do about files that cannot be read.
const (
	rebuild   = "the file is damaged: copy or build it again"
	keepApart = "unpack it and pass the folder to --classpath"
)

func damaged(format string, args ...any) *Error {
	return &Error{Problem: fmt.Sprintf(format, args...), Advice: rebuild}
}

// Limits. They are far above what compilers and build tools make.
const (
	maxClassFile   = 16 << 20  // bytes of a class file
	maxNestedJar   = 256 << 20 // bytes of a compressed jar in a jar, unpacked
	maxUnpacked    = 4 << 30   // bytes of all compressed jars in jars of a class path
	maxRatio       = 100       // unpacked bytes for each byte of a compressed jar in a jar
	maxJarDepth    = 3         // jars in jars in jars
	maxArchives    = 20_000    // jars and folders of a class path
	maxEntries     = 4_000_000 // classes of a class path
	maxFolderFiles = 1_000_000 // files below a folder
	maxKeptFolders = 256 << 20 // bytes of class files that ReadFolders reads
	maxImageIndex  = 256 << 20 // bytes of the tables of lib/modules
	maxHierarchy   = 255       // superclasses of a class
	maxSupertypes  = 10_000    // classes and interfaces that a class extends, directly or not
	maxTypeDepth   = 64        // types in types, in a signature
	maxValueDepth  = 32        // annotations in annotations
	maxValues      = 10_000    // values of a class's annotations
	maxHashed      = 64 << 20  // bytes that serialVersionUID is computed from
	maxTypeText    = 16 << 10  // bytes of a type as text
	maxWarnings    = 100
)

// readError returns what reading says, with the end of a file as everybody calls it.
func readError(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the data end too early"
	}
	return err.Error()
}

// quote returns a name as it may stand in a message: one with signs that cannot be printed is quoted, a long one is cut.
func quote[T string | []byte](name T) string {
	s := string(name[:min(len(name), 200)])
	if len(name) > 200 {
		s += "…"
	}
	if q := strconv.Quote(s); q != `"`+s+`"` || strings.Contains(s, " ") {
		return q
	}
	return s
}

func mib(n int64) string { return number((n+1<<20-1)>>20) + " MiB" }

// number writes a number with thousands separators.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
