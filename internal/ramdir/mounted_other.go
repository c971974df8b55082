//go:build !linux

package ramdir

import "os"

// mounted returns the directory for temporary files: this system has no file system in memory that every user can write to.
func mounted() (base string, inMemory bool) { return os.TempDir(), false }
