//go:build !unix

package diskspace

import "io/fs"

// allocated returns the bytes that a file takes.
func allocated(info fs.FileInfo) int64 { return info.Size() }
