package asl

import (
	"fmt"
	"slices"
	"strings"

	"stepback/asl/source"
)

// Severity is the severity of a diagnostic.
type Severity string

// The severities. A definition with an error is rejected. Errors and warnings are those of
// ValidateStateMachineDefinition. Advice is this project's own and is never part of an API response.
const (
	SeverityError   Severity = "ERROR"
	SeverityWarning Severity = "WARNING"
	SeverityAdvice  Severity = "ADVICE"
)

// Code identifies a kind of diagnostic. The names are those of ValidateStateMachineDefinition, if the service has
// one.
type Code string

// Codes of errors.
const (
	InvalidJSONDescription       Code = "INVALID_JSON_DESCRIPTION"
	MissingDescription           Code = "MISSING_DESCRIPTION"
	SchemaValidationFailed       Code = "SCHEMA_VALIDATION_FAILED"
	MissingEndState              Code = "MISSING_END_STATE"
	MissingTransitionTarget      Code = "MISSING_TRANSITION_TARGET"
	DuplicateStateName           Code = "DUPLICATE_STATE_NAME"
	InvalidStateName             Code = "INVALID_STATE_NAME"
	DuplicateLabelName           Code = "DUPLICATE_LABEL_NAME"
	InvalidLabelName             Code = "INVALID_LABEL_NAME"
	InvalidVariableName          Code = "INVALID_VARIABLE_NAME"
	ReservedVariableName         Code = "RESERVED_VARIABLE_NAME"
	InvalidJSONataExpression     Code = "INVALID_JSONATA_EXPRESSION"
	UnsupportedJSONataExpression Code = "UNSUPPORTED_JSONATA_EXPRESSION"

	UnreadableDefinition Code = "UNREADABLE_DEFINITION" // this project's own: a file that is not text, or invalid YAML
)

// Codes of warnings and of advice.
const (
	NoDollar           Code = "NO_DOLLAR"
	NoPath             Code = "NO_PATH"
	PassResultIsStatic Code = "PASS_RESULT_IS_STATIC"

	ClosedService Code = "CLOSED_SERVICE" // this project's own: a Task calls a service that AWS has closed

	// This project's own warnings, of package asl/dataflow.
	UnassignedVariable Code = "UNASSIGNED_VARIABLE" // a variable without a value on some path
	UnknownFunction    Code = "UNKNOWN_FUNCTION"    // a function that JSONata in Step Functions does not have
	MistypedOperand    Code = "MISTYPED_OPERAND"    // an operator with an operand that it never accepts

	UnknownErrorName Code = "UNKNOWN_ERROR_NAME" // advice: an error name that looks like a reserved one but is not
	RepeatedField    Code = "REPEATED_FIELD"     // advice: a member given twice, of which only the last counts
)

// Diagnostic is one finding about a definition.
type Diagnostic struct {
	Severity Severity
	Code     Code
	Message  string
	// Location is the location in Step Functions' notation, for example /States/Pay/Choices[0]/Next; empty if the
	// finding is about the definition as a whole.
	Location string
	// Line and Column are the position in the text, counted from 1, columns in characters.
	Line, Column int
	// Hint describes what would be accepted; empty if the message already does.
	Hint string
	// Consequence is true if fixing another reported error also fixes this one. Example: a state is unreachable
	// because another state's Next is mistyped. AWS reports both; users see only the cause.
	Consequence bool
	// Span is the text that Render underlines.
	Span source.Span
	// Also lists the further places of a finding that Group has joined, in the order of the text.
	Also []Place
}

// Place is a further position of a Diagnostic; its fields have the same meaning.
type Place struct {
	Location     string
	Line, Column int
	Span         source.Span
}

// Group joins diagnostics that say the same (Severity, Code, Message and Hint) about several places of a definition
// into one, with the places after the first in Also. The result has the order of the first places; the argument is
// unchanged.
func Group(diagnostics []Diagnostic) []Diagnostic {
	type text struct {
		severity      Severity
		code          Code
		message, hint string
	}
	at := map[text]int{}
	grouped := make([]Diagnostic, 0, len(diagnostics))
	for _, d := range diagnostics {
		key := text{d.Severity, d.Code, d.Message, d.Hint}
		i, known := at[key]
		if !known {
			at[key] = len(grouped)
			d.Also = slices.Clone(d.Also)
			grouped = append(grouped, d)
			continue
		}
		grouped[i].Also = append(append(grouped[i].Also, Place{d.Location, d.Line, d.Column, d.Span}), d.Also...)
	}
	return grouped
}

// Apart returns the diagnostics of all places, one each: the reverse of Group.
func Apart(grouped []Diagnostic) []Diagnostic {
	apart := make([]Diagnostic, 0, len(grouped))
	for _, d := range grouped {
		places := append([]Place{{d.Location, d.Line, d.Column, d.Span}}, d.Also...)
		for _, p := range places {
			d.Location, d.Line, d.Column, d.Span, d.Also = p.Location, p.Line, p.Column, p.Span, nil
			apart = append(apart, d)
		}
	}
	return apart
}

// String returns the diagnostic in CreateStateMachine's wording: CODE: message at location.
func (d Diagnostic) String() string {
	location := d.Location
	if location == "" {
		location = "null"
	}
	return fmt.Sprintf("%s: %s at %s", d.Code, d.Message, location)
}

// HasErrors reports whether a definition with these diagnostics is rejected.
func HasErrors(diagnostics []Diagnostic) bool {
	return slices.ContainsFunc(diagnostics, func(d Diagnostic) bool { return d.Severity == SeverityError })
}

// InvalidDefinition returns the message of the InvalidDefinition error of CreateStateMachine and UpdateStateMachine;
// empty if there is no error among the diagnostics.
func InvalidDefinition(diagnostics []Diagnostic) string {
	var parts []string
	for _, d := range diagnostics {
		if d.Severity == SeverityError {
			parts = append(parts, d.String())
		}
	}
	if parts == nil {
		return ""
	}
	return "Invalid State Machine Definition: '" + strings.Join(parts, ", ") + "'"
}
