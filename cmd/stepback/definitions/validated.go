package definitions

import "stepback/asl"

// Validated is the JSON form of the result for one definition.
type Validated struct {
	File        string       `json:"file"`
	Result      string       `json:"result"` // OK or FAIL, as in ValidateStateMachineDefinition; NOT_READ with Reason
	Diagnostics []diagnostic `json:"diagnostics"`
	// Reason says why the file was not read.
	Reason string `json:"reason,omitempty"`
	// Placeholders are the names of placeholders without a value; the text they stand for is not checked.
	Placeholders []string `json:"placeholders,omitempty"`
}

// diagnostic is one finding, with its position.
type diagnostic struct {
	Severity asl.Severity `json:"severity"`
	Code     asl.Code     `json:"code"`
	Message  string       `json:"message"`
	Location string       `json:"location,omitempty"`
	Line     int          `json:"line"`
	Column   int          `json:"column"`
	Hint     string       `json:"hint,omitempty"`
	// Also lists further places with the same finding.
	Also []place `json:"also,omitempty"`
}

// place is a further position of a finding.
type place struct {
	Location string `json:"location,omitempty"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
}

// NewValidated returns the result for a definition, with the diagnostics found.
func NewValidated(d *File, found []asl.Diagnostic) Validated {
	v := Validated{File: d.Path, Placeholders: d.Document.Open, Result: "OK", Diagnostics: make([]diagnostic, 0,
		len(found))}
	if asl.HasErrors(found) {
		v.Result = "FAIL"
	}
	for _, d := range found {
		found := diagnostic{d.Severity, d.Code, d.Message, d.Location, d.Line, d.Column, d.Hint, nil}
		for _, p := range d.Also {
			found.Also = append(found.Also, place{p.Location, p.Line, p.Column})
		}
		v.Diagnostics = append(v.Diagnostics, found)
	}
	return v
}

// NotRead returns the result for a file that was not read.
func NotRead(u Unread) Validated {
	return Validated{File: u.Path, Result: "NOT_READ", Diagnostics: []diagnostic{}, Reason: u.Err.Error()}
}
