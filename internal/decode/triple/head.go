package triple

import (
	"strconv"
	"strings"

	"dubbo-wire/internal/rpc"
)

// Role is what the value of a header field is for, by the field's name; 0 if it tells nothing.
type Role uint8

const (
	other Role = iota // tells nothing
	nameless
	httpMethod
	httpPath
	httpScheme
	httpAuthority
	hostName
	httpStatus
	contentType
	contentEncoding
	acceptedTypes
	grpcEncoding
	grpcStatus
	grpcMessageText
	grpcDetails
	userAgent
	serverName
	// Only Dubbo's peers send what follows: those of REST, and those of Triple.
	attachmentList
	restVersion
	restGroup
	restOther
	triVersion
	triGroup
	triException
	triOther
)

// RoleOf returns the role of a name, which may be "" if the capture lacks it.
func RoleOf(name string) Role {
	switch name {
	case "":
		return nameless
	case ":method":
		return httpMethod
	case ":path":
		return httpPath
	case ":scheme":
		return httpScheme
	case ":authority":
		return httpAuthority
	case "host":
		return hostName
	case ":status":
		return httpStatus
	case "content-type":
		return contentType
	case "content-encoding":
		return contentEncoding
	case "accept":
		return acceptedTypes
	case "grpc-encoding":
		return grpcEncoding
	case "grpc-status":
		return grpcStatus
	case "grpc-message":
		return grpcMessageText
	case "grpc-status-details-bin":
		return grpcDetails
	case "user-agent":
		return userAgent
	case "server":
		return serverName
	case "dubbo-attachments":
		return attachmentList
	case "rest-service-version":
		return restVersion
	case "rest-service-group":
		return restGroup
	case "tri-service-version":
		return triVersion
	case "tri-service-group":
		return triGroup
	case "tri-exception-code":
		return triException
	}
	switch {
	case strings.HasPrefix(name, "rest-service-"):
		return restOther
	case strings.HasPrefix(name, "tri-"):
		return triOther
	}
	return other
}

// Matters reports whether a [Head] needs the values of fields with the role.
func (r Role) Matters() bool {
	switch r {
	case other, httpScheme, attachmentList, restOther, triOther:
		return false
	}
	return true
}

// Head is what the fields of one header block tell, so that the fields themselves need not be kept.
type Head struct {
	// Request and Response report a field that only requests, or only responses have; Informational is set for the headers of a response
	// that others follow.
	Request, Response, Informational bool
	// Unresolved reports a field that refers to one that the capture lacks, Fields any field at all.
	Unresolved, Fields bool
	// Use is what the stream is used for, if Sure is set; else the fields do not tell, and earlier calls of the connection may.
	Use  Use
	Sure bool
	told bool // no later field changes Use
	// Dubbo reports a field that only Dubbo's peers send.
	Dubbo bool

	// ContentType, ContentEncoding and GRPCEncoding are "" if they are not there or not known. Typed is set for a known content type;
	// typeLost if one is not known.
	ContentType, ContentEncoding, GRPCEncoding string
	Typed, typeLost                            bool

	target   target
	pathHash uint64
	plain    bool // the call is not one of gRPC
	// methodInBody is set if the body of a request names the method that is called, and the path only its service.
	methodInBody bool
	lacking      bool // a field is not known that may be one of target

	group     string
	hasGroup  bool
	product   string
	exception bool // the message is an exception

	grpcStatus, message, details, httpStatus string
	hasMessage                               bool
	// unnamed is set if the capture lacks the name of a field, statusLost if such a field may be grpc-status, text if there is a text for
	// an error. numbers is how many fields without a name have the number of an error as their value; before is that of the last field,
	// number that of the one before grpc-message.
	unnamed, text, statusLost bool
	numbers, before, number   int32
}

// Add adds a field. hash is a hash of it, or 0; unknown is set if the field, but perhaps its name or its value, is not known.
func (h *Head) Add(role Role, value string, hash uint64, unknown bool) {
	h.Fields = true
	if role == other && !unknown { // most fields
		h.before = 0
		return
	}
	h.Dubbo = h.Dubbo || role >= attachmentList
	if role >= triVersion && !h.plain {
		h.use(Triple, true)
	}
	if role == grpcMessageText {
		h.number, h.text = h.before, h.text || value != ""
	}
	h.before = 0
	if unknown {
		h.addUnknown(role, value)
		return
	}
	switch role {
	case httpMethod:
		h.Request = true
		h.target.method = value
		if value != "POST" {
			h.plain = true
			h.use(Plain, true) // gRPC has no other one
		}
	case httpPath:
		h.Request = true
		h.target.path, h.pathHash = value, hash
	case httpScheme:
		h.Request = true
	case httpAuthority:
		h.Request = true
		h.target.authority = value
	case hostName:
		h.target.authority = value
	case httpStatus:
		h.Response = true
		h.Informational = len(value) == 3 && value[0] == '1'
		h.httpStatus = value
	case contentType:
		h.addContentType(value)
	case contentEncoding:
		h.ContentEncoding = value
	case acceptedTypes:
		if h.target.accept != "" {
			value = "*/*" // several fields are one list, which is not put together
		}
		h.target.accept = value
	case grpcEncoding:
		h.GRPCEncoding = value
	case grpcStatus:
		h.grpcStatus = value
	case grpcMessageText:
		h.message, h.hasMessage = value, true
	case grpcDetails:
		h.details, h.text = value, true
	case userAgent:
		if strings.HasPrefix(value, "grpc-") {
			h.use(GRPC, false)
		}
	case serverName:
		h.product = value
	case triVersion, restVersion:
		h.target.version = value
	case triGroup, restGroup:
		h.addGroup(value)
	case triException:
		h.exception = h.exception || value != "0" && value != ""
	}
}

// SetPlain notes that the call is not one of gRPC, whatever the fields say.
func (h *Head) SetPlain() { h.plain, h.told, h.Use, h.Sure = true, true, Plain, true }

// SetLacking notes that the capture lacks fields, which may have been the host.
func (h *Head) SetLacking() { h.lacking = true }

// use notes what the stream is used for. told is set if no later field may change it.
func (h *Head) use(use Use, told bool) {
	if !h.told {
		h.Use, h.Sure, h.told = use, true, told
	}
}

// succeeded reports a status of 2xx.
func (h *Head) succeeded() bool { return len(h.httpStatus) == 3 && h.httpStatus[0] == '2' }

func (h *Head) addContentType(value string) {
	if !h.Typed {
		h.ContentType, h.Typed = value, true
	}
	grpc := isGRPC(value)
	switch {
	case !grpc:
		h.plain = true
		if h.methodInBody = namesMethodInBody(value); h.methodInBody {
			h.target.contentType = value
		}
	case subtype(value) != "":
		h.target.contentType = value
	}
	switch {
	case !grpc && h.Use == Triple && h.ContentType == value:
		h.Use = Plain // REST of Dubbo 3.3
	case h.Sure:
	case !grpc:
		h.use(Plain, false)
	case strings.HasPrefix(value, grpcType+"+"): // Dubbo writes this also for other messages than those of protocol buffers
		h.use(Triple, false)
	}
}

func (h *Head) addGroup(value string) {
	if !h.hasGroup {
		h.group, h.hasGroup = value, true
	}
}

func (h *Head) addUnknown(role Role, value string) {
	h.Unresolved = true
	if role == triVersion {
		h.target.version = unknown
		return
	}
	h.lacking = true
	switch role {
	case grpcStatus:
		h.statusLost = true
	case nameless:
		h.unnamed, h.statusLost = true, true
		if n, err := strconv.ParseUint(value, 10, 15); err == nil && n > 0 && int(n) < len(statusTexts) {
			h.before = int32(n)
			h.numbers++
		}
	case contentType:
		h.typeLost = !h.Typed
	case triGroup, restGroup:
		h.addGroup(unknown)
	case triException:
		h.exception = true
	case grpcDetails:
		h.text = true
	}
}

// HeadOf returns what the fields of one header block tell.
func HeadOf(fields []rpc.Header) (h Head) {
	for i := range fields {
		h.add(&fields[i])
	}
	return h
}

func (h *Head) add(f *rpc.Header) { h.Add(RoleOf(f.Name), f.Value, 0, f.Unknown) }

// Heads are those of a message: First is of the block before its body, Last of the one after it. Either may be nil.
type Heads struct{ First, Last *Head }

// HeadsOf returns the heads of a message whose header fields are kept.
func HeadsOf(headers []rpc.Header) (h Heads) {
	for i := range headers {
		f := &headers[i]
		at := &h.First
		if f.Trailer {
			at = &h.Last
		}
		if *at == nil || (*at).Informational && f.Name == ":status" {
			*at = new(Head)
		}
		(*at).add(f)
	}
	return h
}

// none stands for a header block without fields.
var none Head

// both returns the two heads, which may be empty.
func (h Heads) both() (first, last *Head) {
	first, last = h.First, h.Last
	if first == nil {
		first = &none
	}
	if last == nil {
		last = &none
	}
	return first, last
}

// Unresolved reports whether a field refers to one that the capture lacks.
func (h Heads) Unresolved() bool {
	first, last := h.both()
	return first.Unresolved || last.Unresolved
}

// lacksStatus reports whether grpc-status may be among the fields that the capture lacks. It is a trailer, or a header where there are no
// trailers.
func (h Heads) lacksStatus() bool {
	first, last := h.both()
	return last.statusLost || !last.Fields && first.statusLost
}

// contentType returns the head that has the first content type, nil if there is none.
func (h Heads) contentType() *Head {
	switch {
	case h.First != nil && (h.First.Typed || h.First.typeLost):
		return h.First
	case h.Last != nil && (h.Last.Typed || h.Last.typeLost):
		return h.Last
	}
	return nil
}

// group returns the group of the called service, "" if it has none.
func (h Heads) group() string {
	first, last := h.both()
	if first.hasGroup {
		return first.group
	}
	return last.group
}

// exception reports whether the headers of a response say that its message is an exception. Dubbo writes the header from 3.2 on.
func (h Heads) exception() bool {
	first, last := h.both()
	return first.exception || last.exception
}

// unsure reports whether headers before the body are not known.
func (h Heads) unsure() bool { return h.First == nil || h.First.Unresolved || !h.First.Fields }

// last returns the value that a field of the trailers has or, if they lack it, of the headers.
func (h Heads) last(value func(*Head) string) string {
	first, last := h.both()
	if text := value(last); text != "" {
		return text
	}
	return value(first)
}
