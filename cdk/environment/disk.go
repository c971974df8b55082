package environment

import "stepback/statemachine"

const (
	mebibyte = 1 << 20
	minDisk  = 512   // MiB of temporary disk that every function has
	maxDisk  = 10240 // maximum temporary disk of a function, in MiB

	// copyGrowth is the largest factor by which a normalised copy grows: a katakana takes one byte in Shift_JIS and
	// three in UTF-8.
	copyGrowth = 3
	// lettersGrowth is the factor from a file's size to that of its dead letters: a row of 20 bytes that is not
	// applied leaves about 600 bytes in the dead letters and the corrections.
	lettersGrowth = 30
)

// ValidateDisk returns the temporary disk size of the function that writes normalised copies, in MiB.
func (e Environment) ValidateDisk() int { return disk(e.largestPart(), copyGrowth) }

// AggregateDisk returns the temporary disk size of the function that collects rows that were not applied, in MiB. It
// is enough for a part, or a file of one part, of which no row was applied.
func (e Environment) AggregateDisk() int { return min(disk(e.largestPart(), lettersGrowth), maxDisk) }

// largestPart returns the size of the largest part of a file, in bytes. A file that would have more parts than allowed has
// larger ones.
func (e Environment) largestPart() int64 {
	return min(e.MaxFileBytes, max(e.PartBytes, (e.MaxFileBytes+statemachine.MaxParts-1)/statemachine.MaxParts))
}

// disk returns the disk size, in MiB, that holds growth times the given number of bytes, and at least minDisk.
func disk(bytes, growth int64) int { return max(minDisk, int((bytes*growth+mebibyte-1)/mebibyte)) }
