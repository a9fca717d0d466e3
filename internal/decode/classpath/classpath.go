// Package classpath is what a user brings for bodies that do not describe themselves: the classes of both peers, and the
// classes that these have registered with Kryo or FST.
//
// Paths and names come in, and a Path goes to the formats, whose readers ask it for classes. What the paths hold is read by
// package classfile when it is asked for; numbers of registered classes are given by package registration.
package classpath

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/avroschema"
	"dubbo-wire/internal/decode/classfile"
	"dubbo-wire/internal/decode/registration"
)

// Options say what the user brought.
type Options struct {
	// Paths are jars, wars and folders that both peers have; Consumer and Provider those of one peer, which come first there.
	Paths, Consumer, Provider []string
	// JDK is the home of a JDK; empty for none.
	JDK string
	// Lists are files with the classes that are registered, Optimizers the names of classes that list them.
	Lists, Optimizers []string
	// Protos are .proto files, folders of them and descriptor sets, which both peers have.
	Protos []string
	// AvroSchemas are files with schemas of Avro.
	AvroSchemas []string
}

// Path is a class path of two sides. It is safe for use by several goroutines. A nil Path has no classes.
type Path struct {
	sides [2]*classfile.Types // the same ones if the sides are not told apart
	lists []List
	// classes: the user brought classes, or a list of registered ones.
	classes bool
	protos
	avro map[string]*avroschema.Schema

	mu      sync.Mutex
	asked   map[string]bool
	returns map[returnKey]string
}

// List is the classes that an application registers, in order.
type List struct {
	// Name is the file or the class that they come from.
	Name    string
	Classes []registration.Class
	// Ordered: the user has written them down in the order in which they are registered.
	Ordered bool
}

// Open finds out which classes there are. The error says which path, list or optimizer cannot be used.
func Open(o Options) (*Path, error) {
	p := &Path{asked: map[string]bool{}}
	p.classes = o.JDK != "" || len(o.Paths)+len(o.Consumer)+len(o.Provider)+len(o.Lists)+len(o.Optimizers) > 0
	for side, own := range [][]string{decode.Consumer: o.Consumer, decode.Provider: o.Provider} {
		if side > 0 && len(o.Consumer)+len(o.Provider) == 0 {
			p.sides[side] = p.sides[0]
			break
		}
		t, err := classfile.Open(classfile.Options{Paths: append(slices.Clone(own), o.Paths...), JDK: o.JDK})
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.sides[side] = t
	}
	if err := errors.Join(p.register(o), p.readSchemas(o.AvroSchemas)); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if err := p.readProtos(o.Protos); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// register reads the lists of registered classes.
func (p *Path) register(o Options) error {
	for _, name := range o.Lists {
		f, err := os.Open(name)
		if err != nil {
			if path, ok := errors.AsType[*os.PathError](err); ok {
				err = path.Err
			}
			return fmt.Errorf("--register %s: %w", name, err)
		}
		classes, err := registration.Read(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("--register %s: %w", name, err)
		}
		p.lists = append(p.lists, List{name, classes, true})
	}
	for _, name := range o.Optimizers {
		names, err := p.optimizer(name)
		if err != nil {
			return fmt.Errorf("--optimizer %s: %w", name, err)
		}
		l := List{Name: name}
		for _, n := range names {
			l.Classes = append(l.Classes, registration.Class{Name: n, ID: -1})
		}
		p.lists = append(p.lists, l)
	}
	return nil
}

// optimizer returns what an optimizer registers, which one side may have alone.
func (p *Path) optimizer(name string) ([]string, error) {
	names, err := p.sides[decode.Provider].RegisteredClasses(name)
	if errors.Is(err, classfile.ErrMissing) {
		return p.sides[decode.Consumer].RegisteredClasses(name)
	}
	return names, err
}

// Types returns the classes of the peer that wrote a body.
func (p *Path) Types(s decode.Side) *classfile.Types { return p.sides[s] }

// Sides returns the classes of the consumer and those of the provider; only one where the user did not tell them apart.
func (p *Path) Sides() []*classfile.Types {
	if p == nil {
		return nil
	}
	if !p.Sided() {
		return p.sides[:1]
	}
	return p.sides[:]
}

// ReadFolders reads the classes that are in folders, so that their files are not needed any more. Jars stay open.
func (p *Path) ReadFolders() error {
	for _, t := range p.Sides() {
		if err := t.ReadFolders(); err != nil {
			return err
		}
	}
	return nil
}

// Sided reports whether the user told the classes of the two sides apart.
func (p *Path) Sided() bool { return p != nil && p.sides[0] != p.sides[1] }

// Lists returns the lists of registered classes, in order.
func (p *Path) Lists() []List {
	if p == nil {
		return nil
	}
	return p.lists
}

// Registry is the numbers of classes that peers may have.
type Registry struct {
	// Lists are the names of the lists that it was made of, in the order of their registration.
	Lists []string
	*registration.Table
}

// Registries returns the registries that peers with a library may have: of each list, and of all lists in their order. Without
// a list there is one, which has only the classes of the library and of Dubbo.
func (p *Path) Registries(l registration.Library) ([]Registry, error) {
	var sets [][]List
	if p != nil {
		for i := range p.lists {
			sets = append(sets, p.lists[i:i+1])
		}
		if len(p.lists) != 1 {
			sets = append(sets, p.lists)
		}
	} else {
		sets = [][]List{nil}
	}
	var registries []Registry
	for _, set := range sets {
		var r Registry
		var classes []registration.Class
		for _, l := range set {
			r.Lists = append(r.Lists, l.Name)
			classes = append(classes, l.Classes...)
		}
		var err error
		if r.Table, err = registration.New(l, classes); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(r.Lists, ", "), err)
		}
		registries = append(registries, r)
	}
	return registries, nil
}

// returnKey is a method of a side's classes, with its parameters.
type returnKey struct {
	side                        decode.Side
	service, method, parameters string
}

// ReturnType returns the descriptor of the type that a method of a service returns, to a peer with a side's classes, "" if it is not
// known. parameters are the descriptors of its parameters. Of a future it is the type of the value. The interface may have more in
// front of it than its package: a context path. needed: a body cannot be read without the interface, which is noted as with [Path.Asked].
func (p *Path) ReturnType(s decode.Side, service, method string, parameters []string, needed bool) string {
	if p == nil {
		return ""
	}
	service = service[strings.LastIndexByte(service, '/')+1:]
	key := returnKey{s, service, method, strings.Join(parameters, ",")}
	p.mu.Lock()
	known, ok := p.returns[key]
	p.mu.Unlock()
	if ok {
		return known
	}
	t, err := p.sides[s].ReturnType(service, method, parameters)
	if err == classfile.ErrMissing && p.Sided() {
		t, err = p.sides[1-s].ReturnType(service, method, parameters)
	}
	if needed {
		p.Asked(service, err != classfile.ErrMissing)
	}
	typ := ""
	if t != nil {
		switch t.Name {
		case "java.util.concurrent.CompletableFuture", "java.util.concurrent.CompletionStage", "java.util.concurrent.Future":
			if t.Kind == classfile.Object && len(t.Args) == 1 {
				t = t.Args[0]
			}
		}
		typ = t.Descriptor()
	}
	const most = 1 << 14
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.returns == nil {
		p.returns = map[returnKey]string{}
	}
	if len(p.returns) < most && len(key.service)+len(key.method)+len(key.parameters) < most {
		p.returns[key] = typ
	}
	return typ
}

// Asked notes that bodies have objects of a class, and whether it was found.
func (p *Path) Asked(class string, found bool) {
	const most = 1 << 14
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.asked) < most {
		p.asked[class] = found
	}
}

// Missing returns the classes that bodies have objects of and that were not found, sorted, and the number of those that were.
func (p *Path) Missing() (missing []string, found int) {
	if p == nil {
		return nil, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(p.asked)) {
		if p.asked[name] {
			found++
		} else {
			missing = append(missing, name)
		}
	}
	return missing, found
}

// Close closes the jars.
func (p *Path) Close() error {
	if p == nil {
		return nil
	}
	var errs []error
	for i, t := range p.sides {
		if t != nil && (i == 0 || t != p.sides[0]) {
			errs = append(errs, t.Close())
		}
	}
	return errors.Join(errs...)
}
