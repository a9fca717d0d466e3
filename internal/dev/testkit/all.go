//go:build alltests

package testkit

// All says that tests are built with the tag alltests: they run over every capture and use what the machine has beside Go.
const All = true
