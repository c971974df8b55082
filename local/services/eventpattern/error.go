package eventpattern

// Error reports an invalid pattern.
type Error struct {
	// Reason is AWS's text after "Event pattern is not valid. Reason: " or "FilterPolicy: ", with the position, if
	// there is one, in a second line: at [Source: (String)"…"; line: 1, column: 9].
	Reason string
	// Brief is the reason without the position.
	Brief string
	// Line and Column are the position as AWS reports it: counted from 1, after the text that is invalid. They are 0
	// if AWS reports no position.
	Line, Column int
}

// Error implements error.
func (e *Error) Error() string { return e.Reason }
