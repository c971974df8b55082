package main

import (
	"encoding/json"
	"io"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// printJSON prints what a script reads: indented, and with <, > and & as they are.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// executionJSON is an execution as scripts read it: with the error and the cause that DescribeExecution answers.
type executionJSON struct {
	*journal.Execution
	Failure *history.Failure `json:"failure,omitempty"` // always nil: it hides the journal's own form
	Error   *string          `json:"error,omitempty"`
	Cause   *string          `json:"cause,omitempty"`

	// Definition hides the journal's name for DefinitionID, which is a hash.
	Definition   *string `json:"definition,omitempty"`
	DefinitionID string  `json:"definitionId,omitempty"`
}

func describeExecution(x *journal.Execution) executionJSON {
	d := executionJSON{Execution: x, DefinitionID: x.Definition}
	if x.Failure.HasName() {
		d.Error = &x.Failure.Name
	}
	if x.Failure.HasCause() {
		d.Cause = &x.Failure.Cause
	}
	return d
}
