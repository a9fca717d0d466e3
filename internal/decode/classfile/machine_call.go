package classfile

import "strings"

// invoke follows a call of a method of a collection or of one that makes one. Of others only the result is unknown, and what
// becomes of the lists that they are given.
func (f *frame) invoke(i int, static bool) {
	class, name, descriptor, ok := f.m.pool.member(i)
	parameters, result, parsed := splitMethod(descriptor)
	if !ok || !parsed {
		f.fail("a method that is not known")
		return
	}
	arguments := make([]*operand, len(parameters))
	for k := len(arguments) - 1; k >= 0; k-- {
		arguments[k] = f.pop()
	}
	var on *operand
	if !static {
		on = f.pop()
	}
	if f.err != nil {
		return
	}
	if own := f.m.methods[name+descriptor]; own != nil && class == f.m.name {
		f.own(own, result, parameters, on, arguments)
		return
	}
	returned, followed := f.call(class, name, parameters, on, arguments)
	if !followed {
		where := "; it is given to " + quote(class+"."+name)
		for _, a := range append(arguments, on) {
			a.invalidate(where)
		}
		returned = &operand{}
	}
	if result != "V" {
		f.push(returned)
	}
}

// own follows a method of the same class. Variables of long and double are two.
func (f *frame) own(method *code, result string, parameters []string, on *operand, arguments []*operand) {
	var locals []*operand
	if on != nil {
		locals = append(locals, on)
	}
	for i, a := range arguments {
		if locals = append(locals, a); parameters[i] == "J" || parameters[i] == "D" {
			locals = append(locals, nil)
		}
	}
	returned, err := f.m.run(method, locals)
	if err != nil {
		f.fail("a method of the class: %w", err)
	} else if result != "V" {
		f.push(returned)
	}
}

// call follows the methods that are known.
func (f *frame) call(class, name string, parameters []string, on *operand, arguments []*operand) (returned *operand, followed bool) {
	method := class + "." + name
	first := func() *operand { return arguments[0] }
	switch ordered, makes := makers[method]; {
	case makes:
		t := &operand{kind: listValue, unordered: !ordered}
		if len(parameters) == 1 && strings.HasPrefix(parameters[0], "[") {
			return t, f.addAll(t, first())
		}
		t.elements = arguments
		if n := len(parameters); n > 1 && strings.HasPrefix(parameters[n-1], "[") { // ImmutableSet.of(a, b, …, others...)
			t.elements = arguments[:n-1]
			return t, f.addAll(t, arguments[n-1])
		}
		return t, true
	case isWrapper(class, name) && len(arguments) == 1:
		return first(), true
	case method == "java.util.Collections.addAll" && len(arguments) == 2:
		return nil, f.addAll(first(), arguments[1])
	case on == nil:
		return nil, false
	case name == "<init>" && on.fields != nil: // Object's, of the optimizer
		return nil, len(arguments) == 0
	case on.kind != listValue:
		return nil, name == "<init>" && len(arguments) == 0
	case name == "<init>":
		switch {
		case len(arguments) == 0, len(parameters) == 1 && parameters[0] == "I":
			return nil, true
		case len(parameters) == 1 && parameters[0] == "Ljava/util/Collection;":
			return nil, f.addAll(on, first())
		}
	case len(arguments) == 1 && (name == "add" || name == "addLast" || name == "addElement" || name == "offer"):
		if len(on.elements) >= maxElements {
			f.fail("too many classes")
		}
		on.elements = append(on.elements, first())
		return nil, true
	case len(arguments) == 1 && name == "addAll":
		return nil, f.addAll(on, first())
	case name == "size" || name == "isEmpty" || name == "contains":
		return nil, true
	}
	return nil, false
}

// addAll appends the elements of a collection or array; followed is false if these are not known.
func (f *frame) addAll(to, from *operand) (followed bool) {
	if to.kind != listValue || from.kind != listValue && from.kind != arrayValue || from.invalid != "" {
		return false
	}
	if f.m.copied += len(from.elements); f.m.copied > maxCopied || len(to.elements)+len(from.elements) > maxElements {
		f.fail("too many classes")
		return false
	}
	to.elements = append(to.elements[:len(to.elements):len(to.elements)], from.elements...)
	to.unordered = to.unordered || from.unordered && len(from.elements) > 1
	return true
}

// splitMethod returns the descriptors of a method's parameters and of its result.
func splitMethod(descriptor string) (parameters []string, result string, ok bool) {
	p := signature{s: descriptor, plain: true}
	if !p.skip('(') {
		return nil, "", false
	}
	for p.err == nil && !p.skip(')') {
		from := p.at
		p.fieldType(0)
		parameters = append(parameters, p.s[from:p.at])
	}
	return parameters, p.s[p.at:], p.err == nil && len(parameters) < 256
}
