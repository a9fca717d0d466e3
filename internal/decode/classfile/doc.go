// Package classfile reads Java classes without a JVM: what an application's jars say about its classes, for formats that
// write neither the names of fields nor those of classes.
//
// Class files, jars and a JDK come in, and a [Class] comes out for each name that is asked for. [Types] finds classes by name
// in a class path and answers what takes several of them: the superclasses, the fields of an object with their generic types,
// and what java.io.ObjectStreamClass would say.
//
// Sources: the Java Virtual Machine Specification (JVMS), Java SE 25, chapter 4 (class files), 4.7.9.1 (generic signatures) and
// 6.5 (instructions); the Java Object Serialization Specification, 4.3 and 4.6 (fields that are written, serialVersionUID);
// the JAR File Specification (multi-release jars); the ZIP Application Note 6.3.10, 4.3; Spring Boot's "The Executable Jar
// Format"; OpenJDK's imageFile.hpp and imageDecompressor.cpp (lib/modules). What Java 17 and 25 say of classes was compared.
//
// A jar stays open, and its directory is read once: 40 bytes a class are kept. A class is read and parsed when it is first
// asked for; a bounded number of parsed classes is kept. A [Class] does not change and may be kept and shared.
// Input is not trusted: lengths, counts, nesting and unpacked sizes have bounds, and what is wrong with a file becomes one
// [Error]. A damaged jar in a jar, or a damaged class, does not keep others from being read.
//
// Files: class.go has what a class file says, parse.go and pool.go read it, signature.go and generic.go its generic types,
// annotation.go its annotations, serial_version.go the computed serialVersionUID, code.go walks instructions. types.go finds classes
// by name, hierarchy.go and object_stream.go join them, return_type.go finds methods, strings.go constants; index.go, scan.go, folder.go and duplicates.go know what lies in jars
// and folders, directory.go reads the directory of a jar, unpack.go its compressed entries; jdk.go and jimage.go read a JDK,
// builtin.go has classes of one. optimizer.go and machine.go follow the code of a SerializationOptimizer, writes.go that of writeObject
// and writeExternal.
package classfile
