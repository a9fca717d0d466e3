package classfile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// optimizers are the interfaces of Dubbo's classes that say which classes Kryo and FST register.
var optimizers = []string{
	"com.alibaba.dubbo.common.serialize.support.SerializationOptimizer", // Dubbox, Dubbo 2.6
	"org.apache.dubbo.common.serialize.support.SerializationOptimizer",
}

// RegisteredClasses returns the classes that getSerializableClasses of a SerializationOptimizer returns, in order: names as Class.getName
// returns them. The method is followed instruction by instruction, with the constructor and the static initializer before it, and the
// methods of the class that these call; constants of other classes are what these make in their static initializers. The error says at which instruction that was not possible, or that the order is not in the class: --register helps there.
func (t *Types) RegisteredClasses(name string) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	data, place, err := t.data(name)
	if err != nil {
		return nil, err
	}
	m, err := newMachine(data)
	if err != nil {
		return nil, located(place, err)
	}
	m.load = func(class string) ([]byte, error) {
		data, _, err := t.data(class)
		return data, err
	}
	classes, err := m.registered()
	if err != nil {
		return nil, &Error{Place: place, Problem: err.Error(), Advice: "list the classes in a file for --register, in the order in which they are registered"}
	}
	return classes, nil
}

// Optimizers returns the names of the classes in the class path that name SerializationOptimizer among their interfaces, and
// are one. It reads all class files.
func (t *Types) Optimizers() ([]string, error) {
	var names []string
	err := t.each(func(data []byte) {
		if !bytes.Contains(data, []byte("dubbo/common/serialize/support/SerializationOptimizer")) {
			return
		}
		c, err := Parse(data)
		if err == nil && c.Modifiers&(Interface|Abstract) == 0 {
			names = append(names, c.Name)
		}
	})
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !slices.ContainsFunc(optimizers, func(optimizer string) bool {
			is, _ := t.Is(name, optimizer)
			return is
		})
	})
	slices.Sort(names)
	return names, nil
}

// each calls f with every class file of the class path that can be read, in the order in which they lie in their jars.
func (t *Types) each(f func(data []byte)) error {
	t.mu.Lock()
	entries := slices.Clone(t.path.entries)
	t.mu.Unlock()
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.archive, b.archive), cmp.Compare(a.offset, b.offset))
	})
	for _, e := range entries {
		t.mu.Lock()
		data, err := t.path.load(e)
		t.mu.Unlock()
		if err == nil {
			f(data)
		}
	}
	return nil
}

// registered follows the code.
func (m *machine) registered() ([]string, error) {
	method := m.method("getSerializableClasses")
	if method == nil {
		return nil, fmt.Errorf("the class has no method getSerializableClasses of its own")
	}
	this := &operand{fields: map[string]*operand{}}
	if clinit := m.method("<clinit>"); clinit != nil {
		if _, err := m.run(clinit, nil); err != nil {
			m.unknown("static initializer", err, m.statics)
		}
	}
	if constructor := m.method("<init>"); constructor != nil {
		if _, err := m.run(constructor, []*operand{this}); err != nil {
			m.unknown("constructor", err, m.statics)
			m.unknown("constructor", err, this.fields)
		}
	}
	result, err := m.run(method, []*operand{this})
	switch {
	case err != nil:
		return nil, fmt.Errorf("getSerializableClasses: %w", err)
	case result == nil || result.kind == nullValue:
		return nil, nil
	case result.kind != listValue || result.invalid != "":
		return nil, fmt.Errorf("getSerializableClasses: what it returns is not a list that is made there%s", result.invalid)
	case result.unordered && len(result.elements) > 1:
		return nil, fmt.Errorf("getSerializableClasses returns a set without an order, so each JVM registers its classes in another one")
	}
	var names []string
	for i, e := range result.elements {
		if e == nil || e.kind != classValue {
			return nil, fmt.Errorf("getSerializableClasses: element %d of the list is not written as NAME.class", i+1)
		}
		names = append(names, e.name)
	}
	return names, nil
}

// valueKind is what the machine knows of a value.
type valueKind uint8

const (
	unknownValue valueKind = iota // a value that is not known
	nullValue
	intValue
	classValue // a class: p.Model.class
	listValue  // a list or a set
	arrayValue // an array of objects
)

// operand is a value on the stack, in a variable or a field.
type operand struct {
	kind      valueKind
	name      string // of a constant
	value     int    // of a number
	elements  []*operand
	unordered bool
	invalid   string              // why a list may hold something else
	fields    map[string]*operand // of the optimizer
}

// collections are the classes whose elements are followed, and whether they have an order.
var collections = map[string]bool{
	"java.util.ArrayList": true, "java.util.LinkedList": true, "java.util.Vector": true, "java.util.LinkedHashSet": true,
	"java.util.ArrayDeque": true, "java.util.concurrent.CopyOnWriteArrayList": true, "java.util.concurrent.CopyOnWriteArraySet": true,
	"java.util.HashSet": false,
}

// makers are the static methods that return a collection of their arguments, and whether it has an order.
var makers = map[string]bool{
	"java.util.Arrays.asList": true, "java.util.List.of": true, "java.util.Set.of": false, "java.util.Collections.singletonList": true,
	"java.util.Collections.singleton": true, "java.util.Collections.emptyList": true, "java.util.Collections.emptySet": true,
	"com.google.common.collect.ImmutableList.of": true, "com.google.common.collect.ImmutableSet.of": true,
	"com.google.common.collect.Lists.newArrayList": true, "com.google.common.collect.Sets.newLinkedHashSet": true,
}

// wrappers are the static methods that return their argument in another form.
func isWrapper(class, method string) bool {
	return class == "java.util.Collections" && (strings.HasPrefix(method, "unmodifiable") || strings.HasPrefix(method, "synchronized")) ||
		class == "java.util.List" && method == "copyOf"
}
