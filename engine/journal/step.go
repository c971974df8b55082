package journal

import (
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
)

// AppendStep appends the stored form of a step. DecodeStep reads it back.
func AppendStep(dst []byte, events []Signal, produced []history.Event) []byte {
	return history.AppendBinary(interpreter.AppendSignals(dst, events), produced)
}

// DecodeStep reads a step written by AppendStep.
func DecodeStep(src []byte) (Step, error) {
	events, rest, err := interpreter.DecodeSignals(src)
	if err != nil {
		return Step{}, err
	}
	produced, _, err := history.Decode(rest)
	return Step{Signals: events, History: produced}, err
}
