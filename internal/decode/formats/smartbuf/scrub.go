package smartbuf

import "dubbo-wire/internal/decode/wire"

// scrub replaces values after their heads: integers of variable length, other numbers of fixed length.
var scrub = wire.Any(wire.Raw, wire.UTF8, wire.Zigzag, wire.Varint, wire.Fixed)
