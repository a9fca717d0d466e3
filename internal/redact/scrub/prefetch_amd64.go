package scrub

// prefetch begins to load the memory that places point to.
//
//go:noescape
func prefetch(places *[together]*uint64)
