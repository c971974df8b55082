//go:build !unix

package s3

import "os"

// newBodyFile creates a file for a body in a directory.
func newBodyFile(dir string) (bodyFile, error) { return os.CreateTemp(dir, "body-*") }

// rename renames a file.
func rename(from, to string) error { return os.Rename(from, to) }
