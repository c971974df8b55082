package asl

import (
	"fmt"
	"slices"
	"strings"

	"stepback/asl/source"
)

// Severity says how much a diagnostic weighs.
type Severity string

// The severities. A definition with an error is refused; errors and warnings are those of
// ValidateStateMachineDefinition, advice is this project's own and never part of an API answer.
const (
	SeverityError   Severity = "ERROR"
	SeverityWarning Severity = "WARNING"
	SeverityAdvice  Severity = "ADVICE"
)

// Code identifies a kind of diagnostic. The names are those of ValidateStateMachineDefinition, as far as the service
// has one.
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

	UnreadableDefinition Code = "UNREADABLE_DEFINITION" // of this project: a file that is no text, or YAML that is none
)

// Codes of warnings and of advice.
const (
	NoDollar           Code = "NO_DOLLAR"
	NoPath             Code = "NO_PATH"
	PassResultIsStatic Code = "PASS_RESULT_IS_STATIC"

	UnknownErrorName Code = "UNKNOWN_ERROR_NAME" // advice: an error name that looks like a reserved one but is not
	RepeatedField    Code = "REPEATED_FIELD"     // advice: a member given twice, of which only the last counts
)

// Diagnostic is one remark on a definition.
type Diagnostic struct {
	Severity Severity
	Code     Code
	Message  string
	// Location is the place as Step Functions writes it, for example /States/Pay/Choices[0]/Next; empty when the remark
	// is about the definition as a whole.
	Location string
	// Line and Column are the place in the text, counted from 1, columns in characters.
	Line, Column int
	// Hint says what would be accepted; empty when the message already does.
	Hint string
	// Consequence is true for an error that goes away with the one that causes it: a state that nothing reaches because
	// another state's Next is mistyped. The service reports both; people are shown the cause alone.
	Consequence bool
	// Span is the text that Render underlines.
	Span source.Span
}

// String returns the diagnostic as CreateStateMachine words it: CODE: message at location.
func (d Diagnostic) String() string {
	location := d.Location
	if location == "" {
		location = "null"
	}
	return fmt.Sprintf("%s: %s at %s", d.Code, d.Message, location)
}

// HasErrors reports whether a definition with these diagnostics is refused.
func HasErrors(diagnostics []Diagnostic) bool {
	return slices.ContainsFunc(diagnostics, func(d Diagnostic) bool { return d.Severity == SeverityError })
}

// InvalidDefinition returns the message of the InvalidDefinition error that CreateStateMachine and UpdateStateMachine
// answer with; empty when there is no error among the diagnostics.
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
