package journal

import (
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
)

// AppendStep appends the stored form of a step. It is read back by DecodeStep.
func AppendStep(dst []byte, events []history.Signal, produced []history.Event) []byte {
	return history.AppendBinary(interpreter.AppendSignals(dst, events), produced)
}

// DecodeStep reads a step that AppendStep wrote.
func DecodeStep(src []byte) (Step, error) {
	events, rest, err := interpreter.DecodeSignals(src)
	if err != nil {
		return Step{}, err
	}
	produced, _, err := history.Decode(rest)
	return Step{Signals: events, History: produced}, err
}
