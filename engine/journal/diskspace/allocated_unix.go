//go:build unix

package diskspace

import (
	"io/fs"
	"syscall"
)

// allocated returns the bytes that a file takes: less than its size if it has holes.
func allocated(info fs.FileInfo) int64 {
	const block = 512
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * block
	}
	return info.Size()
}
