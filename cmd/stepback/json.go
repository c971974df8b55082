package main

import (
	"encoding/json"
	"io"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// printJSON writes v as indented JSON, with <, > and & unescaped.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// executionJSON is the JSON form of an execution, with the error and cause that DescribeExecution returns.
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
