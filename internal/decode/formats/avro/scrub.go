package avro

import "dubbo-wire/internal/decode/wire"

// scrub replaces values as Avro writes them: integers as zigzag numbers of variable length, other numbers of fixed length.
var scrub = wire.Any(wire.Raw, wire.UTF8, wire.Zigzag, wire.Fixed)
