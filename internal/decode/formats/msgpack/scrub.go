package msgpack

import "dubbo-wire/internal/decode/wire"

// scrub replaces the bytes after a value's first byte, which tells the type and the length of short values.
var scrub = wire.Any(wire.Raw, wire.UTF8, wire.Fixed)
