// Package redact writes the packets of a run to a pcapng file that is safe to share: the same packets with the same times and
// lengths, for which analyze reports the same, with other values and addresses and the same ports.
//
// A [Redactor] is the sink and the tap of a run of [pipeline.Run] with one job: it is given every packet, and every message
// with its place in the stream. Package scrub replaces the values of a message. Each byte of a stream that a message owns
// becomes the byte that replaced it, in every packet that has it; a copy of a packet that differed from the first one still
// differs. Bytes that no message owns become filler, except those by which a protocol is recognised, and those that it needs to read on:
// [rpc.Sink] Framing. Headers of packets are
// written from what package packet knows of them, and what it does not know is zero.
//
// Sources: RFC 791, 8200, 9293, 1071 (checksums), 7323 (timestamps), 9113 and 7541 (HTTP/2); draft-ietf-opsawg-pcapng.
//
// Memory: packets are written once [Options].Window bytes of newer ones follow; nearly all messages are complete by then. A
// packet of a message that takes longer is written again in its place in the file. Replaced messages are kept for repeated
// bytes as long as their packets, and longer within [Options].Memory. Nothing else grows with the length of the capture but
// the addresses, of which a million are kept.
package redact
