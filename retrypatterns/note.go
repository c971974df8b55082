package retrypatterns

import "fmt"

// NoteKind says what compiling did to a row.
type NoteKind string

// What compiling does to rows that ASL cannot express, and what it points out.
const (
	// JitterLowered: ASL knows FULL and NONE only, so FULL stands in.
	JitterLowered NoteKind = "jitter lowered"
	// SecondsRounded: ASL knows whole seconds only.
	SecondsRounded NoteKind = "seconds rounded"
	// ValueClamped: the value lay outside AWS's range and was moved to its edge.
	ValueClamped NoteKind = "value clamped"
	// ErrorShadowed: an earlier row already matches the error, so this row never sees it.
	ErrorShadowed NoteKind = "error shadowed"
)

// Note reports one difference between a row and its compiled retrier, or one error name in it that cannot take effect.
type Note struct {
	Kind  NoteKind `json:"kind"`
	State string   `json:"state"`
	Row   int      `json:"row"`   // the row's number within the state, from 1
	Field string   `json:"field"` // the ASL field
	From  string   `json:"from"`  // what the row says: a value or, for ErrorShadowed, the error name
	To    string   `json:"to"`    // what was emitted or, for ErrorShadowed, which row wins
}

// String reads like "ValidateCSVFile, retry row 3: jitter lowered: JitterStrategy PARTIAL → FULL".
func (n Note) String() string {
	return fmt.Sprintf("%s, retry row %d: %s: %s %s → %s", n.State, n.Row, n.Kind, n.Field, n.From, n.To)
}
