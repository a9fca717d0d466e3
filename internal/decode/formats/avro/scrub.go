package avro

import "dubbo-wire/internal/decode/wire"

// scrub replaces values as Avro writes them: integers of variable length with the sign in bit 0, the others fixed.
var scrub = wire.Any(wire.Raw, wire.UTF8, wire.Zigzag, wire.Fixed)
