// Package decode holds the words that every protocol and serialization shares: a frame's header fields, the tree
// that a body is taken apart into, the spans (parts) and values read off that tree, and the causes why decoding
// stopped.
//
// It turns nothing into anything by itself. A protocol (package dubbo) cuts a TCP stream into frames; a
// serialization (one folder below formats) implements [Reader] and records what it reads in a [Tree]; reports read
// parts and values from that tree. decode imports no capture library and knows no report.
//
// Memory: bodies are borrowed from the TCP stream and valid until the call that delivered them returns. A Tree keeps
// offsets, and copies of texts only where values were asked for; it is reused from frame to frame.
package decode
