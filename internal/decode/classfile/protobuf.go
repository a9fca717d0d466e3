package classfile

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// What protoc generates for Java: the class of a message refers to a field of the class of its file (the outer class), which is named after
// the message. The static initializer of that class begins with an array of texts, which together are the descriptor of the file, a byte in
// each character.
//
// Source: protoc's java_file.cc and java_message.cc (SharedCodeGenerator), 3.x to 4.x.

// ProtoFile is the descriptor of a file of protocol buffers that a class has.
type ProtoFile struct {
	// Data is a FileDescriptorProto.
	Data []byte
	// Imports are the classes of the files that it imports.
	Imports []string
}

// build is the method that makes a descriptor of the array of texts.
const build = "internalBuildGeneratedFileFrom"

// fileDescriptor is the class of descriptors.
const fileDescriptor = "com.google.protobuf.Descriptors$FileDescriptor"

// maxDescriptor limits the bytes of the descriptor of a file.
const maxDescriptor = 8 << 20

// ProtoOuter returns the class that has the descriptor of the file of a message, whose class is given; "" if that is not a message.
func (t *Types) ProtoOuter(message string) (outer string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	data, place, err := t.data(message)
	if err != nil {
		return "", err
	}
	p := parser{r: &reader{b: data}}
	if p.class(); p.r.err != nil {
		return "", located(place, p.r.err)
	}
	for i := range p.pool.at {
		class, name, descriptor, ok := p.pool.member(i)
		if ok && p.pool.tag(i) == tagField && descriptor == "Lcom/google/protobuf/Descriptors$Descriptor;" &&
			strings.HasPrefix(name, "internal_static_") && strings.HasSuffix(name, "_descriptor") {
			return class, nil
		}
	}
	return "", nil
}

// ProtoFile returns the descriptor that the class of a file has, nil if it has none.
func (t *Types) ProtoFile(outer string) (*ProtoFile, error) {
	t.mu.Lock()
	data, place, err := t.data(outer)
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	f, err := protoFile(data)
	if err != nil {
		return nil, located(place, err)
	}
	return f, nil
}

// ProtoFiles calls f with the descriptor of each class of the class path that has one. It reads all class files.
func (t *Types) ProtoFiles(f func(*ProtoFile)) error {
	return t.each(func(data []byte) {
		if !bytes.Contains(data, []byte(build)) {
			return
		}
		if found, err := protoFile(data); err == nil && found != nil {
			f(found)
		}
	})
}

// protoFile reads the static initializer of a class.
func protoFile(data []byte) (*ProtoFile, error) {
	p := parser{r: &reader{b: data}}
	if p.class(); p.r.err != nil {
		return nil, p.r.err
	}
	var f ProtoFile
	array, done := false, false
	for at := 0; at < len(p.clinit); {
		n := instructionLen(p.clinit, at)
		if n == 0 {
			return nil, nil
		}
		ins := p.clinit[at : at+n]
		at += n
		switch op := ins[0]; {
		case op == opNewArray && !done:
			var r reader
			if array = p.pool.class(&r, int(binary.BigEndian.Uint16(ins[1:])), "a class") == "java.lang.String"; array {
				f.Data = nil
			}
		case (op == opLdc || op == opLdcW) && array:
			i := int(ins[1])
			if op == opLdcW {
				i = int(binary.BigEndian.Uint16(ins[1:]))
			}
			text := p.pool.ref(i, tagString, 0)
			var r reader
			for _, c := range p.pool.text(&r, text, "a text") {
				if c > 0xff {
					return nil, nil
				}
				f.Data = append(f.Data, byte(c))
			}
			if len(f.Data) > maxDescriptor { // one text may be loaded any number of times
				return nil, nil
			}
		case op == opInvokestatic:
			class, name, descriptor, ok := p.pool.member(int(binary.BigEndian.Uint16(ins[1:])))
			switch {
			case !ok:
			case name == build:
				if len(f.Data) == 0 {
					return nil, nil
				}
				return &f, nil
			case name == "getDescriptor" && strings.HasSuffix(descriptor, ")L"+strings.ReplaceAll(fileDescriptor, ".", "/")+";"):
				f.Imports = append(f.Imports, class)
			}
		case op >= opIconstM1 && op <= opSipush, op == opDup, op == opAastore:
		default:
			done = done || array && len(f.Data) > 0
			array = false
		}
	}
	return nil, nil
}

// Signature is the types of the parameters of a method, and of its result.
type Signature struct {
	Parameters []*Type
	Result     *Type
}

// Methods returns the methods with a name that a class or an interface has or inherits. Types of a generic supertype stay variables.
func (t *Types) Methods(class, name string) (all []Signature, err error) {
	seen := map[string]bool{class: true}
	for queue := []string{class}; len(queue) > 0; queue = queue[1:] {
		c, err := t.Class(queue[0])
		if err != nil {
			if queue[0] == class {
				return nil, err
			}
			continue
		}
		methods, err := t.declared(c.Name)
		if err != nil && err != ErrMissing {
			return nil, err
		}
		for _, m := range methods {
			if m.name != name {
				continue
			}
			signature := m.descriptor
			if m.generic != "" {
				signature = m.generic
			}
			if parameters, result, err := parseMethod(signature); err == nil {
				all = append(all, Signature{parameters, result})
			}
		}
		for _, above := range append([]string{c.Super}, c.Interfaces...) {
			if above != "" && above != object && !seen[above] && len(seen) < maxSupertypes {
				seen[above] = true
				queue = append(queue, above)
			}
		}
	}
	return all, nil
}
