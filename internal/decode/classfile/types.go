package classfile

import (
	"container/list"
	"fmt"
	"math"
	"sync"
)

// Options say where classes are.
type Options struct {
	// Paths are jars, wars and folders of classes: the first one that has a class wins.
	Paths []string
	// JDK is the home of a JDK or JRE; empty for none. Its classes come before those of Paths, as in a JVM.
	JDK string
	// Release is the Java release whose classes are taken from multi-release jars: 17. If it is 0, the release of the
	// JDK counts, and without one the newest release that a jar has classes for.
	Release int
	// CacheSize is about how many bytes of parsed classes are kept; 0 stands for 32 MiB.
	CacheSize int
}

// Types finds classes by name. It is safe for use by several goroutines.
type Types struct {
	mu    sync.Mutex
	path  *index
	boot  *jdkClasses // nil without a JDK
	limit int

	cache map[string]*list.Element // of *cached
	used  list.List                // the class used last in front
	size  int                      // weight of the cache
	sub   subtypes
}

// cached is a class, or why it could not be read.
type cached struct {
	name   string
	class  *Class
	err    error
	above  *above // nil before it is asked for
	weight int
}

// Open finds out which classes there are; they are read when they are asked for. The error is an [*Error] that names the
// path that cannot be used. Jars stay open until [Types.Close]; class files of folders are opened when they are needed.
func Open(o Options) (*Types, error) {
	t := &Types{limit: o.CacheSize, cache: map[string]*list.Element{}}
	if t.limit == 0 {
		t.limit = 32 << 20
	}
	release := o.Release
	if o.JDK != "" {
		boot, err := openJDK(o.JDK, release)
		if err != nil {
			return nil, err
		}
		t.boot = boot
		if release == 0 {
			release = boot.release
		}
	}
	if release == 0 {
		release = math.MaxUint16
	}
	path, err := openIndex(o.Paths, release)
	if err != nil {
		t.Close()
		return nil, err
	}
	t.path = path
	return t, nil
}

// Close closes the jars. Classes that were read stay valid.
func (t *Types) Close() error {
	var err error
	if t.path != nil {
		err = t.path.close()
	}
	if t.boot != nil {
		if e := t.boot.close(); err == nil {
			err = e
		}
	}
	return err
}

// Len returns the number of classes in the class path, without those of the JDK.
func (t *Types) Len() int { return len(t.path.entries) }

// Sources returns the paths with the number of classes in each, those that are not used included.
func (t *Types) Sources() []Source { return t.path.sources }

// Duplicates returns which classes are in several places, in the order of the class path.
func (t *Types) Duplicates() []Duplicate {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.path.duplicated()
}

// Warnings says what could not be read of the class path, a line each.
func (t *Types) Warnings() []error {
	if t.path.left == 0 {
		return t.path.warnings
	}
	return append(t.path.warnings[:len(t.path.warnings):len(t.path.warnings)], fmt.Errorf("%s not shown", count(t.path.left, "more warning", "more warnings")))
}

// Class returns the class with a name as Class.getName returns it: java.util.Map$Entry. Classes of Java 17 that objects often
// have are built in: they are known without a JDK. The error is ErrMissing if there is no such class, else an [*Error].
func (t *Types) Class(name string) (*Class, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.cache[name]; e != nil {
		t.used.MoveToFront(e)
		c := e.Value.(*cached)
		return c.class, c.err
	}
	data, place, err := t.data(name)
	c := &cached{name: name, err: err, weight: 1024}
	if err == ErrMissing {
		if c.class, c.err = builtinClass(name), nil; c.class == nil {
			return nil, err
		}
	} else if err == nil {
		if c.class, c.err = parseNamed(data, name, place); c.class != nil {
			c.weight = c.class.weight(len(data))
		}
	}
	t.cache[name] = t.used.PushFront(c)
	for t.size += c.weight; t.size > t.limit && t.used.Len() > 1; {
		old := t.used.Remove(t.used.Back()).(*cached)
		delete(t.cache, old.name)
		t.size -= old.weight
	}
	return c.class, c.err
}

// data returns the class file of a class.
func (t *Types) data(name string) (data []byte, place string, err error) {
	if t.boot != nil {
		if data, place, err = t.boot.class(name); err != ErrMissing {
			return data, place, err
		}
	}
	return t.path.class(name)
}

// parseNamed parses a class file that should have the class name.
func parseNamed(data []byte, name, place string) (*Class, error) {
	c, err := Parse(data)
	if err != nil {
		return nil, located(place, err)
	}
	if c.Name != name {
		return nil, &Error{Place: place, Problem: fmt.Sprintf("it has the class %s and should have %s", quote(c.Name), quote(name)), Advice: rebuild}
	}
	c.Place = place
	return c, nil
}
