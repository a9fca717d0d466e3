// Package prefetch asks the processor to load memory into its caches before it is needed.
package prefetch
