// Package docs holds no code: its tests run every command that README.md and docs/ show and compare what it prints,
// compare the generated tables, and check links, commands and flags. A second one guards the rules of
// docs/architecture.md: which package may import which, and what every serialization must bring along.
//
//	go test ./internal/dev/docs -update
//
// rewrites the outputs and the tables; read the diff before you commit it.
package docs
