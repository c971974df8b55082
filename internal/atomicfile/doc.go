// Package atomicfile puts files in their place at once: whoever opens a path finds the old content or the new one, each
// as a whole, also after the process was killed or the power failed. It never changes a file that is in its place, and
// it does not guard against two writers: of two that replace the same file, the later one wins.
package atomicfile
