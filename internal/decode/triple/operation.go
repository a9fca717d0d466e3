package triple

import (
	"cmp"
	"hash/maphash"
	"strings"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// operations is the cache of what requests call. Operations that it does not hold are made for each request.
type operations struct {
	byPath map[target]*rpc.Operation
	// typed are operations with the types of their arguments, by the bytes that name these in a wrapper; or with the method and the types
	// that a body has.
	typed  map[typed]*rpc.Operation
	recent []recentOperation
	key    []byte // the memory of the last key of typed
	// templates are paths with {id} in them, by themselves; template is the memory of the last one.
	templates map[string]string
	template  []byte
	bytes     int // the approximate memory of all of them
	seed      maphash.Seed
}

// target is what headers tell of an operation. method and authority are those of a plain request whose path does not name an interface.
// contentType is that of requests if responses without one are as these; accept is what plain requests accept.
type target struct{ path, version, method, authority, contentType, accept string }

// typed is an operation and the bytes that name its types.
type typed struct {
	operation *rpc.Operation
	types     string
}

// maxOperationBytes limits the memory of cached operations.
const maxOperationBytes = 8 << 20

// room reports whether n bytes of names may be kept.
func (o *operations) room(n int) bool {
	n += 512 // about what else an entry takes
	if o.bytes+n > maxOperationBytes {
		return false
	}
	o.bytes += n
	return true
}

// maxTargetLen is the number of bytes of a header field that become part of a name. Servers refuse longer ones, and each may have another.
const maxTargetLen = 1 << 10

// beginning returns the beginning of a text that is too long for a name.
func beginning(text string) string {
	n := maxTargetLen
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// Operation returns what a request with these headers calls, nil if they have no path. Equal ones are shared. The service and the
// method are the path up to and after its last slash, "?" if headers refer to ones that the capture lacks, and
// the path is among these. Of a plain request with a path of another form than /service/method, the
// service is the authority, and the method is that of HTTP and the path without ids; so they are of one that the user has named. Of very long
// texts the beginning counts.
func (d *Decoder) Operation(h *Head) *rpc.Operation {
	o := &d.operations
	hash := h.pathHash
	if hash == 0 && h.target.path != "" {
		hash = uint64(o.hash(h.target.path))
	}
	recent := o.recentAt(hash)
	key := target{path: h.target.path, version: h.target.version, contentType: h.target.contentType}
	post := h.methodInBody && h.target.method == "POST"
	inBody := post && key.path != ""           // else the service is not known
	plain := h.plain || !h.Typed && !h.lacking // calls of gRPC have a content type
	if h.methodInBody && !post {
		key.contentType = "" // only the body of a POST names the method
	}
	if plain && key.contentType == "" {
		key.accept = h.target.accept
	}
	switch {
	case key.path == "" && !h.lacking:
		return nil
	case key.path == "":
		key.path, key.version = unknown+"/"+unknown, cmp.Or(key.version, unknown)
	case inBody:
		key.path, _, _ = strings.Cut(key.path, "?")
	case plain, h.lacking && (h.target.method == "" || !h.Typed):
		key.path, _, _ = strings.Cut(key.path, "?")
		route := ""
		if d.Route != nil && plain {
			route = d.Route(h.target.method, key.path)
		}
		if route == "" && !o.namesInterface(recent, key.path) {
			route = d.operations.resource(key.path)
		}
		if route != "" {
			key.method, key.authority, key.path = h.target.method, h.target.authority, route
			switch {
			case h.lacking && !plain: // it may as well be a method of a service without a package
				key.method, key.authority = unknown, unknown
			case h.lacking: // they may be among the headers that are not known
				key.method, key.authority = cmp.Or(key.method, unknown), cmp.Or(key.authority, unknown)
			}
		}
	}
	for _, text := range [...]*string{&key.path, &key.version, &key.method, &key.authority, &key.contentType, &key.accept} {
		if len(*text) > maxTargetLen {
			*text = beginning(*text)
		}
	}
	if recent.operation != nil && recent.target == key {
		return recent.operation
	}
	if op := o.byPath[key]; op != nil {
		recent.target, recent.operation = key, op
		return op
	}
	key = target{
		strings.Clone(key.path), strings.Clone(key.version), strings.Clone(key.method), strings.Clone(key.authority), strings.Clone(key.contentType),
		strings.Clone(key.accept),
	}
	op := &rpc.Operation{Version: key.version, VersionNull: key.version == "", ContentType: key.contentType, Accept: key.accept}
	switch {
	case inBody:
		op.Service, op.Method = serviceOf(key.path), unknown
	case key.method != "":
		op.Service, op.Method = key.authority, key.method+" "+key.path
	default:
		op.Service, op.Method = splitPath(key.path)
	}
	op.Generic = isInvoke(op.Method)
	if o.room(2 * (len(key.path) + len(key.version) + len(key.authority) + len(key.contentType) + len(key.accept))) {
		if o.byPath == nil {
			o.byPath = make(map[target]*rpc.Operation)
		}
		op.Hash = o.hash(key.path)
		o.byPath[key] = op
		recent.target, recent.operation = key, op
	}
	return op
}

// recentOperation is an entry of the cache of operations that were looked up last.
type recentOperation struct {
	target    target
	operation *rpc.Operation
	// path is the last one that was asked whether it names an interface.
	path  string
	names bool
}

// recentLen is the number of entries of that cache, a power of two.
const recentLen = 1 << 10

// recentAt returns the entry for the hash of a path.
func (o *operations) recentAt(hash uint64) *recentOperation {
	if o.recent == nil {
		o.recent = make([]recentOperation, recentLen)
	}
	return &o.recent[hash%recentLen]
}

// hash returns a hash of s that is not 0.
func (o *operations) hash(s string) uint32 { return uint32(maphash.String(o.seed, s)>>32) | 1 }

// unknown stands for a text that the capture lacks.
const unknown = "?"

// splitPath splits a path like /org.acme.Users/find.
func splitPath(path string) (service, method string) {
	path = strings.TrimPrefix(path, "/")
	at := strings.LastIndexByte(path, '/')
	return path[:max(at, 0)], path[at+1:]
}

// namesInterface reports whether a path is that of a method of a Java interface: /org.acme.Users/find.
func namesInterface(path string) bool {
	service, method := splitPath(path)
	return strings.Contains(service, ".") && !strings.Contains(service, "/") && decode.IsClassName(service) && decode.IsClassName(method)
}

// namesInterface is the function of that name, whose result the entry for the path keeps.
func (o *operations) namesInterface(entry *recentOperation, path string) bool {
	if len(path) > maxTargetLen {
		return namesInterface(path)
	}
	if entry.path != path {
		entry.path, entry.names = strings.Clone(path), namesInterface(path)
	}
	return entry.names
}

// OnResource reports whether an operation is a method of HTTP on a resource, rather than a method of an interface.
func OnResource(op *rpc.Operation) bool { return op != nil && strings.Contains(op.Method, " ") }

// resource returns a path with {id} for its segments that are ids, without matrix parameters. Equal ones are shared.
func (o *operations) resource(path string) string {
	if !strings.HasPrefix(path, "/") { // the target of OPTIONS * and others that are not paths
		return path
	}
	b := o.template[:0]
	kept := 0
	for from := 0; from < len(path); {
		to := from + segmentLen(path[from:])
		end := from + nameLen(path[from:to])
		switch {
		case isID(path[from:end]):
			b = append(append(b, path[kept:from]...), id...)
			kept = to
		case end < to:
			b = append(b, path[kept:end]...)
			kept = to
		}
		from = to + 1
	}
	if kept == 0 {
		return path
	}
	b = append(b, path[kept:]...)
	o.template = b
	if template, ok := o.templates[string(b)]; ok {
		return template
	}
	template := string(b)
	if len(template) <= maxTargetLen && o.room(2*len(template)) {
		if o.templates == nil {
			o.templates = make(map[string]string)
		}
		o.templates[template] = template
	}
	return template
}

// segmentLen returns the length of the segment that a path begins with.
func segmentLen[T string | []byte](path T) int { return lenUntil(path, '/') }

// nameLen returns the length of a segment without its matrix parameters (RFC 3986, section 3.3).
func nameLen[T string | []byte](segment T) int { return lenUntil(segment, ';') }

func lenUntil[T string | []byte](text T, end byte) int {
	for i := range len(text) {
		if text[i] == end {
			return i
		}
	}
	return len(text)
}

// withTypes returns op with the types that raw names, the bytes of the fields of a wrapper. Equal ones are shared.
func (d *Decoder) withTypes(op *rpc.Operation, w *wrapper, raw []byte) *rpc.Operation {
	o := &d.operations
	if known := o.typed[typed{op, string(raw)}]; known != nil {
		return known
	}
	n := *op
	n.Descriptors, n.Types = make([]string, len(w.types)), make([]string, len(w.types))
	for i, f := range w.types {
		n.Descriptors[i] = descriptor(decode.UTF8(w.b[f.from:f.to]))
		n.Types[i] = decode.JavaName(n.Descriptors[i])
	}
	n.Descriptor = strings.Join(n.Descriptors, "")
	if op.Hash != 0 && o.room(4*len(raw)) {
		if o.typed == nil {
			o.typed = make(map[typed]*rpc.Operation)
		}
		key := typed{op, string(raw)}
		n.Hash = op.Hash ^ o.hash(key.types) | 1
		o.typed[key] = &n
	} else {
		n.Hash = 0
	}
	return &n
}

// descriptor returns the JVM descriptor of a class by what Class.getName returns: "int", "java.lang.String" or "[I".
func descriptor(name string) string {
	switch name {
	case "boolean":
		return "Z"
	case "byte":
		return "B"
	case "char":
		return "C"
	case "short":
		return "S"
	case "int":
		return "I"
	case "long":
		return "J"
	case "float":
		return "F"
	case "double":
		return "D"
	case "void":
		return "V"
	}
	if strings.HasPrefix(name, "[") {
		return strings.ReplaceAll(name, ".", "/")
	}
	return "L" + strings.ReplaceAll(name, ".", "/") + ";"
}
