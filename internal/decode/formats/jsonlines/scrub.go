package jsonlines

import "dubbo-wire/internal/decode/scrub/wire"

// Scrub replaces values in JSON: an escape becomes an escape as long, a number one of as many digits.
var Scrub = wire.Any(wire.Quoted, wire.Decimal)
