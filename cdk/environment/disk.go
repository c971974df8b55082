package environment

const (
	mebibyte = 1 << 20
	minDisk  = 512   // MiB of temporary disk that every function has
	maxDisk  = 10240 // MiB that a function may have

	// copyGrowth: a katakana of one byte in Shift_JIS has three in UTF-8.
	copyGrowth = 3
	// lettersGrowth: a row of 20 bytes that is not applied leaves some 600 bytes, in the dead letters and the
	// corrections.
	lettersGrowth = 30
)

// ValidateDisk is the temporary disk of the function that writes normalised copies, in MiB.
func (e Environment) ValidateDisk() int { return disk(e.MaxFileBytes, copyGrowth) }

// AggregateDisk is the temporary disk of the function that collects what was not applied, in MiB. It has room for a
// file of which nothing was.
func (e Environment) AggregateDisk() int { return min(disk(e.MaxFileBytes, lettersGrowth), maxDisk) }

// disk has room for so many times the bytes of a file.
func disk(bytes, growth int64) int { return max(minDisk, int((bytes*growth+mebibyte-1)/mebibyte)) }
