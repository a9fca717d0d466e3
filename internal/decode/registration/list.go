package registration

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// elements are the letters of primitive types in the names of arrays.
var elements = map[string]string{
	"boolean": "Z", "byte": "B", "char": "C", "short": "S", "int": "I", "long": "J", "float": "F", "double": "D",
}

// Read reads a list of classes in the order in which an application registers them, one a line: its name, or name and number.
// Arrays may be written as p.Model[], and what follows # is a comment. Errors say the line.
func Read(r io.Reader) ([]Class, error) {
	var classes []Class
	numbered := make(map[int]string)
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		c := Class{Name: Name(words[0]), ID: -1}
		if c.Name == "" {
			return nil, fmt.Errorf("line %d: %q is not the name of a class; write one as Class.getName returns it: p.Outer$Inner", n, words[0])
		}
		if len(words) > 1 {
			id, err := strconv.Atoi(words[1])
			if err != nil || id < 0 || id >= maxID || len(words) > 2 {
				return nil, fmt.Errorf("line %d: %q is not a number from 0 to %d; write a class, or a class and its number", n, strings.Join(words[1:], " "), maxID-1)
			}
			if other := numbered[id]; other != "" && other != c.Name {
				return nil, fmt.Errorf("line %d: number %d is that of class %s in an earlier line; remove one of them", n, id, other)
			}
			c.ID, numbered[id] = id, c.Name
		}
		if classes = append(classes, c); len(classes) > maxID {
			return nil, fmt.Errorf("line %d: more than %d classes", n, maxID)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return classes, nil
}

// Name returns the name that Class.getName returns for a class as it is written in Java or by Class.getName; empty if it is
// not a name.
func Name(s string) string {
	element := strings.TrimSuffix(s, "[]")
	dims := 0
	for element != s {
		s, dims = element, dims+1
		element = strings.TrimSuffix(s, "[]")
	}
	named := strings.TrimSuffix(strings.TrimPrefix(strings.TrimLeft(element, "["), "L"), ";")
	if dims > 255 || named == "" || strings.HasPrefix(named, ".") || strings.HasSuffix(named, ".") || strings.Contains(named, "..") ||
		strings.ContainsAny(named, "[];/\\:,<>(){}\"'=*?!@%^&|~`+") {
		return ""
	}
	switch {
	case dims == 0:
		return element
	case elements[element] != "":
		return strings.Repeat("[", dims) + elements[element]
	case element[0] == '[':
		return strings.Repeat("[", dims) + element
	}
	return strings.Repeat("[", dims) + "L" + element + ";"
}
