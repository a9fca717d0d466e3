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
	// typed are operations with the types of their arguments, by the bytes that name these in a wrapper.
	typed map[typed]*rpc.Operation
	// contents are what messages of an operation are if they are not those of protocol buffers.
	contents map[*rpc.Operation]content
	recent   []recentOperation
	bytes    int // the approximate memory of both
	seed     maphash.Seed
}

// target is what headers tell of an operation. method and authority are those of a plain request whose path does not name an interface.
// subtype is what follows the content type of gRPC if that is not the usual one.
type target struct{ path, version, method, authority, subtype string }

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
// service is the authority, and the method is that of HTTP and the path without ids. Of very long texts the beginning counts.
func (d *Decoder) Operation(h *Head) *rpc.Operation {
	key := target{path: h.target.path, version: h.target.version, subtype: h.target.subtype}
	switch {
	case key.path == "" && !h.lacking:
		return nil
	case key.path == "":
		key.path, key.version = unknown+"/"+unknown, cmp.Or(key.version, unknown)
	case h.plain, h.lacking && (h.target.method == "" || !h.Typed):
		key.path, _, _ = strings.Cut(key.path, "?")
		if !namesInterface(key.path) {
			key.method, key.authority, key.path = h.target.method, h.target.authority, resource(key.path)
			switch {
			case h.lacking && !h.plain: // it may as well be a method of a service without a package
				key.method, key.authority = unknown, unknown
			case h.lacking: // they may be among the headers that are not known
				key.method, key.authority = cmp.Or(key.method, unknown), cmp.Or(key.authority, unknown)
			}
		}
	}
	for _, text := range [...]*string{&key.path, &key.version, &key.method, &key.authority, &key.subtype} {
		if len(*text) > maxTargetLen {
			*text = beginning(*text)
		}
	}
	o := &d.operations
	recent := o.recentAt(h.pathHash)
	if recent.operation != nil && recent.target == key {
		return recent.operation
	}
	if op := o.byPath[key]; op != nil {
		*recent = recentOperation{key, op}
		return op
	}
	key = target{strings.Clone(key.path), strings.Clone(key.version), strings.Clone(key.method), strings.Clone(key.authority), strings.Clone(key.subtype)}
	op := &rpc.Operation{Version: key.version, VersionNull: key.version == ""}
	if key.method != "" {
		op.Service, op.Method = key.authority, key.method+" "+key.path
	} else {
		op.Service, op.Method = splitPath(key.path)
	}
	op.Generic = op.Method == "$invoke" || op.Method == "$invokeAsync"
	if o.room(2 * (len(key.path) + len(key.version) + len(key.authority))) {
		if o.byPath == nil {
			o.byPath = make(map[target]*rpc.Operation)
		}
		op.Hash = o.hash(key.path)
		o.byPath[key] = op
		if key.subtype != "" {
			if o.contents == nil {
				o.contents = make(map[*rpc.Operation]content)
			}
			o.contents[op] = d.contentOf(Heads{First: h})
		}
		*recent = recentOperation{key, op}
	}
	return op
}

// recentOperation is an entry of the cache of operations that were looked up last.
type recentOperation struct {
	target    target
	operation *rpc.Operation
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

// OnResource reports whether an operation is a method of HTTP on a resource, rather than a method of an interface.
func OnResource(op *rpc.Operation) bool { return op != nil && strings.Contains(op.Method, " /") }

// id stands for a segment of a path that is the id of something, rather than a name.
const id = "{id}"

// resource returns a path with {id} for its segments that are ids.
func resource(path string) string {
	var b []byte
	kept := 0
	for from := 0; from < len(path); {
		to := from + segmentLen(path[from:])
		if isID(path[from:to]) {
			b = append(append(b, path[kept:from]...), id...)
			kept = to
		}
		from = to + 1
	}
	if kept == 0 {
		return path
	}
	return string(append(b, path[kept:]...))
}

// segmentLen returns the length of the segment that a path begins with.
func segmentLen[T string | []byte](path T) int {
	for i := range len(path) {
		if path[i] == '/' {
			return i
		}
	}
	return len(path)
}

// isID reports whether a segment of a path is an id: it begins with a digit, has three digits or more, or has characters that names lack.
func isID[T string | []byte](segment T) bool {
	digits := 0
	for i := range len(segment) {
		switch c := segment[i]; {
		case c >= '0' && c <= '9':
			if digits++; i == 0 || digits > 2 {
				return true
			}
		case c|0x20 >= 'a' && c|0x20 <= 'z', c == '-', c == '_', c == '.', c == '$':
		default:
			return true
		}
	}
	return false
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
