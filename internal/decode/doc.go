// Package decode defines the types that every serialization and protocol shares: the [Format] and its [Reader], the
// [Tree] of a body's values, the parts and values that reports take from it, and the [Error] that says why decoding stopped.
//
// A protocol hands in the bytes of a body. A serialization (one folder below formats) reads them through a [Recorder],
// which records values in a Tree or, without one, counts bytes by class. Reports take parts, paths and JSON from the Tree.
// The package imports neither the capture packages nor the report.
//
// Memory: bodies are borrowed from the TCP stream and valid until the call that delivered them returns. A Tree keeps
// offsets, and copies of texts only where values were asked for; it is reused from frame to frame.
package decode
