package eventpattern

// Error reports an invalid pattern.
type Error struct {
	// Reason is the text that AWS shows after "Event pattern is not valid. Reason: " or "FilterPolicy: ". If AWS
	// reports a position, it is in a second line: at [Source: (String)"…"; line: 1, column: 9].
	Reason string
	// Brief is the reason without the position.
	Brief string
	// Line and Column are the position that AWS reports: counted from 1, and after the invalid text. They are 0 if
	// AWS reports no position.
	Line, Column int
}

// Error implements error.
func (e *Error) Error() string { return e.Reason }
