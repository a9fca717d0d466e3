package msgpack

import "dubbo-wire/internal/decode/wire"

// scrub replaces values behind their marks, which say the type and of short ones the length.
var scrub = wire.Any(wire.Raw, wire.UTF8, wire.Fixed)
