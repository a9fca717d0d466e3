package classfile

import (
	"compress/flate"
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// builtin is what Java 17 has of the classes that applications keep in their objects, and Dubbo of those that it writes itself, so that
// these are known without a JDK and without Dubbo. A line is a class; TestBuiltin writes them.
//
//go:embed builtin.bin
var builtin string

// builtinPlace is the place of a class of the table.
const builtinPlace = "the classes of Java 17 and Dubbo that are built in"

// builtinRelease is the release of the JDK that the table is from.
const builtinRelease = 17

// builtinLines are the lines of the table by class.
var builtinLines = sync.OnceValue(func() map[string]string {
	text, err := io.ReadAll(flate.NewReader(strings.NewReader(builtin)))
	if err != nil {
		panic(fmt.Sprintf("the table of the JDK's classes is damaged: %v", err)) // it is part of the program
	}
	lines := make(map[string]string, 4096)
	for line := range strings.SplitSeq(string(text), "\n") {
		name, rest, _ := strings.Cut(line, "\t")
		lines[name] = rest
	}
	return lines
})

// Columns of a line after the name. Numbers are hexadecimal; parts of a column have spaces between them, and parts of these colons.
const (
	builtinModifiers = iota
	builtinSuper
	builtinInterfaces
	builtinTraits      // letters
	builtinConstructor // modifiers; empty without one
	builtinUID         // empty for none
	builtinFields      // name:descriptor:modifiers, without static fields that are not constants of an enum
	builtinPersistent  // name:descriptor of the fields that are written, where serialPersistentFields names them
	builtinMethods     // name:descriptor:modifiers
	builtinColumns
)

// Letters of builtinTraits.
const (
	builtinMember      = "m" // declared in the class whose name comes before the last $
	builtinLocal       = "l"
	builtinRecord      = "r"
	builtinDeclaresUID = "u"
)

// builtinClass returns a class of the table, nil if it has none with that name.
func builtinClass(name string) *Class {
	line, ok := builtinLines()[name]
	if !ok || name == "" {
		return nil
	}
	columns := strings.SplitN(line, "\t", builtinColumns)
	number := func(s string) uint64 {
		n, _ := strconv.ParseUint(s, 16, 64)
		return n
	}
	split := func(column int) (parts [][]string) {
		for _, s := range strings.Fields(columns[column]) {
			parts = append(parts, strings.Split(s, ":"))
		}
		return parts
	}
	trait := func(letter string) bool { return strings.Contains(columns[builtinTraits], letter) }
	c := &Class{
		Name: name, Place: builtinPlace, Release: builtinRelease, Modifiers: Modifiers(number(columns[builtinModifiers])),
		Super: columns[builtinSuper], Interfaces: strings.Fields(columns[builtinInterfaces]),
		Record: trait(builtinRecord), Local: trait(builtinLocal),
		Constructor: Modifiers(number(columns[builtinConstructor])), HasConstructor: columns[builtinConstructor] != "",
	}
	if trait(builtinMember) {
		c.Outer = name[:strings.LastIndexByte(name, '$')]
	}
	if uid := columns[builtinUID]; uid != "" {
		v := int64(number(uid))
		c.uid = serialVersion{declared: trait(builtinDeclaresUID), known: true, value: v, computed: v, computable: true}
	}
	for _, f := range split(builtinFields) {
		c.Fields = append(c.Fields, Field{Name: f[0], Descriptor: f[1], Modifiers: Modifiers(number(f[2]))})
	}
	for _, f := range split(builtinPersistent) {
		c.PersistentFields = true
		c.persistent = append(c.persistent, Field{Name: f[0], Descriptor: f[1]})
	}
	for _, m := range split(builtinMethods) {
		c.methods = append(c.methods, method{m[0], m[1], Modifiers(number(m[2]))})
	}
	return c
}
