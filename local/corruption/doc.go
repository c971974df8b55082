// Package corruption has no code. Its tests damage the files of a data directory at random and check that each damage
// is reported or harmless: see corruption_test.go and make corrupt.
package corruption
