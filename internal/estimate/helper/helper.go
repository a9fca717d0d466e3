// Package helper carries the Java sources of the process that builds the values of a capture as objects and lets Dubbo's own
// serializers write them. They are compiled where they run; the repository has no class files.
package helper

import "embed"

// Source is the folder java with the package dubbowire, release 8 of the language, without dependencies.
//
//go:embed java
var Source embed.FS
