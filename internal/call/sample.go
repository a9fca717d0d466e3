package call

import "dubbo-wire/internal/decode"

// Sample is the content of a sampled body. The message owns it until the call is closed; then the sink that takes the
// call may keep it.
type Sample struct {
	// Paths are the bytes of the leaves of the body, which add up to the body; nil if they were not looked at.
	Paths *decode.BodyPaths
	// Fields are how fields are used, nil if that was not looked at, or the body was not read to its end, or it is compressed.
	Fields *decode.BodyFields
	// Attachments are the attachments of the message, in wire order.
	Attachments []Attachment
	// Sent are the fields of the header that were sent in full.
	Sent []SentField
	// HTTP is what the head of a message of plain HTTP tells, nil for other messages.
	HTTP *HTTPSample
	// Timeout is the time in milliseconds for which the client waits according to a request's attachments, 0 if they do not tell.
	Timeout int64
	// TimeoutKey is the attachment with the timeout.
	TimeoutKey string
	// Arguments is a hash of a request's arguments, equal for equal bytes within this process.
	Arguments uint64
	// Missing is the class without whose definition bytes of the body were not decoded: its name, or # and the number under which
	// it is registered. NoResultType says that they were not because the type is not known that the method returns.
	Missing      string
	NoResultType bool
	// Misfit says that objects were not read because the body does not fit the class path; else nil.
	Misfit *decode.Misfit
	// Body is a copy of a response's body for compression tests, nil if none was made.
	Body []byte
}

// Attachment is an attachment without its value.
type Attachment struct {
	Key   string
	Value uint64 // hash, equal for equal values within this process
	// Bytes is the number of bytes of key and value, in the header if InHeader is set, else in the body.
	Bytes    int
	InHeader bool
}

// SentField is a header field that was sent in full, not as a reference to an earlier one, without its value.
type SentField struct {
	Name  string
	Bytes int
}

// HTTPSample is what the head of a message of plain HTTP tells about its body and its client, without values.
type HTTPSample struct {
	// Target is a hash of the authority and the target of a GET, with its query; Content is one of the body of a response with status 200 that
	// has a body. Equal ones are equal within this process; 0: there is none.
	Target, Content uint64
	// Conditional reports If-None-Match or If-Modified-Since in a request, Validator an ETag or Last-Modified in a response, NoStore that
	// Cache-Control forbids to store the response.
	Conditional, Validator, NoStore bool
	// AcceptsEncoding reports that a request accepts compressed responses.
	AcceptsEncoding bool
	// Cookies are the cookies that the message carries or sets, with their part of the bytes of the header field; those whose name is not
	// one have "".
	Cookies []SentField
}

// Size returns the approximate memory of the sample, in bytes.
func (s *Sample) Size() int {
	n := 40*len(s.Attachments) + 24*len(s.Sent) + cap(s.Body) + len(s.Missing)
	if s.Paths != nil {
		n += 32 * len(s.Paths.Keys)
	}
	if s.Fields != nil {
		n += 56 * len(s.Fields.Keys)
	}
	if s.HTTP != nil {
		n += 48 + 48*len(s.HTTP.Cookies)
	}
	return n
}
