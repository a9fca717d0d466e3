// Package scrub replaces the values of a message: the copy has the same length and the same tree, with other values.
//
// A message that was decoded for values comes in, with all of its body; the bytes of the copy go out, and a [Result] that
// says what became filler. What is called and how it is written stays: header, envelope, names of classes, fields and
// attachments, constants of enums, nulls, references, types, lengths. Values become others of the same type and encoded
// length, and equal values become equal ones; docs/redact.md lists the rules.
//
// The format of a body knows where its values are ([decode.Format].Scrub). Nothing is taken on trust: each copy is decoded
// again, and its tree must be that of the original node by node. If it is not, the value that broke it is searched for and
// replaced by a more careful strategy; a value for which no strategy works becomes filler, and is counted.
//
// Replacements come from a keyed function (HMAC-SHA256 of the value, or AES), so nobody can test a guess without the key.
// Scrubbers with one key replace alike. A Scrubber owns its caches and keeps nothing of the messages.
package scrub
