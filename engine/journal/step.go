package journal

import (
	"stepback/engine/history"
	"stepback/engine/interpreter"
)

// AppendStep appends the stored form of a step. It is read back by DecodeStep.
func AppendStep(dst []byte, events []interpreter.Event, produced []history.Event) []byte {
	return history.AppendBinary(interpreter.AppendEvents(dst, events), produced)
}

// DecodeStep reads a step that AppendStep wrote.
func DecodeStep(src []byte) (Step, error) {
	events, rest, err := interpreter.DecodeEvents(src)
	if err != nil {
		return Step{}, err
	}
	produced, _, err := history.Decode(rest)
	return Step{Events: events, History: produced}, err
}
