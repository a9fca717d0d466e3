// Package redact turns the packets of a run into a pcapng file that is safe to share: the same packets at the same times and
// of the same lengths, of which analyze says the same, with other values, addresses and ports kept.
//
// What frames hold is replaced by package scrub. A [Redactor] is the sink and the tap of a run of [pipeline.Run], with one
// job: it is given every packet, and every frame, with its place in the stream. A byte of a stream that a frame has becomes
// the byte that replaced it, however often and in however many packets it was captured; a copy that differed from the first
// one still differs. Bytes that no frame has become filler: what a foreign protocol is recognised by stays. All else is
// written anew from what was understood of it (package packet says where headers lie), and what was not is zero.
//
// Sources: RFC 791, 8200, 9293, 1071 (checksums), 7323 (timestamps), 9113 and 7541 (HTTP/2); draft-ietf-opsawg-pcapng.
//
// Memory: packets are written when they are some MiB old ([Options].Window): nearly all frames are complete by then. Of the
// packets of a frame that takes longer the place in the file is kept, and they are written again. Replaced frames are kept
// for repeated bytes as long as their packets, and longer while there is room ([Options].Memory). All limits are
// fixed: nothing grows with the length of the capture, but the addresses that were met, up to a million.
package redact
