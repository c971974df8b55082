package retrypatterns

import "fmt"

// NoteKind is the kind of a [Note].
type NoteKind string

// The changes that compiling makes to rows that ASL cannot express, and the problems that it reports.
const (
	// JitterLowered: ASL supports only FULL and NONE, so FULL is used instead.
	JitterLowered NoteKind = "jitter lowered"
	// SecondsRounded: ASL supports only whole seconds, so the value was rounded.
	SecondsRounded NoteKind = "seconds rounded"
	// ValueClamped: the value was outside AWS's range and was moved to its limit.
	ValueClamped NoteKind = "value clamped"
	// ErrorShadowed: an earlier row already matches the error, so this row never sees it.
	ErrorShadowed NoteKind = "error shadowed"
)

// Note reports a difference between a row and its compiled retrier, or an error name in the row that has no effect.
type Note struct {
	Kind  NoteKind `json:"kind"`
	State string   `json:"state"`
	Row   int      `json:"row"`   // the row's number within the state, from 1
	Field string   `json:"field"` // the ASL field
	From  string   `json:"from"`  // the row's value or, for ErrorShadowed, the error name
	To    string   `json:"to"`    // the emitted value or, for ErrorShadowed, the row that applies
}

// String returns text such as "ValidateCSVFile, retry row 3: jitter lowered: JitterStrategy PARTIAL → FULL".
func (n Note) String() string {
	return fmt.Sprintf("%s, retry row %d: %s: %s %s → %s", n.State, n.Row, n.Kind, n.Field, n.From, n.To)
}
