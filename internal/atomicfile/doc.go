// Package atomicfile replaces files atomically: opening a path yields the complete old content or the complete new
// content, even after the process was killed or the power failed. It never changes an existing file in place. It does
// not guard against two writers: if two replace the same file, the later one wins.
package atomicfile
