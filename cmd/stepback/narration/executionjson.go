package narration

import (
	"stepback/engine/history"
	"stepback/engine/journal"
)

// ExecutionJSON is the JSON form of an execution, with the error and cause that DescribeExecution returns.
type ExecutionJSON struct {
	*journal.Execution
	Failure *history.Failure `json:"failure,omitempty"` // always nil: it hides the journal's own form
	Error   *string          `json:"error,omitempty"`
	Cause   *string          `json:"cause,omitempty"`

	// Definition hides the journal's field of the same name, which holds a hash; the hash is in DefinitionID.
	Definition   *string `json:"definition,omitempty"`
	DefinitionID string  `json:"definitionId,omitempty"`
}

// DescribeExecution returns the JSON form of an execution.
func DescribeExecution(x *journal.Execution) ExecutionJSON {
	d := ExecutionJSON{Execution: x, DefinitionID: x.Definition}
	if x.Failure.HasName() {
		d.Error = &x.Failure.Name
	}
	if x.Failure.HasCause() {
		d.Cause = &x.Failure.Cause
	}
	return d
}

// AppendEvents appends events as a JSON array, each preceded by a separator.
func AppendEvents(dst []byte, events []history.Event, before string) []byte {
	dst = append(dst, '[')
	for i := range events {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, before...)
		dst = events[i].AppendJSON(dst, true)
	}
	return append(dst, ']')
}
