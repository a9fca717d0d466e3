// Package scrub turns a frame of Dubbo into one that is safe to share: as long, with the same walk, with other values.
//
// What is called, and how it is written, stays: the header, the envelope, class and field names, names of attachments,
// constants of enums, nulls, references, types, lengths. Values become others of the same type and encoded length; equal
// values become equal ones. docs/redact.md says which is which.
//
// Where the values of a serialization stand is known in its folder ([decode.Format].Scrub). Nothing is taken on trust: every
// frame that was replaced is read again, and its tree has to be that of the original node by node. Where it is not, the
// value that broke it is looked for and replaced in a gentler way; what can be replaced in no way becomes filler, and is
// counted.
//
// Replacements come from a keyed function (HMAC-SHA256 of the value, or AES), so that nobody without the key can test a
// guess. A Scrubber is not safe for concurrent use; scrubbers of one key replace alike. It owns what it remembers, and keeps
// nothing of the frames it is given.
package scrub
