package smartbuf

import "dubbo-wire/internal/decode/wire"

// scrub replaces values behind their heads: integers of variable length, the others fixed.
var scrub = wire.Any(wire.Raw, wire.UTF8, wire.Zigzag, wire.Varint, wire.Fixed)
