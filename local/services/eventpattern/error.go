package eventpattern

// Error says why a pattern is none.
type Error struct {
	// Reason is what AWS says behind "Event pattern is not valid. Reason: " or "FilterPolicy: ", with the place, if it has
	// one, in a second line: at [Source: (String)"…"; line: 1, column: 9].
	Reason string
	// Brief is the reason without the place.
	Brief string
	// Line and Column are those of AWS: they count from 1, and are behind what could not be used. They are 0 when AWS
	// names no place.
	Line, Column int
}

// Error implements error.
func (e *Error) Error() string { return e.Reason }
