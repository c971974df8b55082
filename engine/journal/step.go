package journal

import (
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
)

// AppendStep appends the stored form of a step. DecodeStep reads it back. Events refer to the texts in apart instead of
// repeating them.
func AppendStep(dst []byte, events []history.Signal, produced []history.Event, apart []string) []byte {
	return history.AppendBinary(interpreter.AppendSignals(dst, events), produced, apart)
}

// DecodeStep reads a step written by AppendStep. apart returns the texts that its events refer to.
func DecodeStep(src []byte, apart history.Apart) (Step, error) {
	events, rest, err := interpreter.DecodeSignals(src)
	if err != nil {
		return Step{}, err
	}
	produced, _, err := history.Decode(rest, apart)
	return Step{Signals: events, History: produced}, err
}
