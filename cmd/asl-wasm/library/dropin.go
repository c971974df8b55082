package library

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"stepback/asl"
	"stepback/asl/intrinsic"
	"stepback/asl/jsonpath"
	"stepback/cmd/stepback/definitions"
)

// dropIn is one error in the form of asl-validator, with our position and hint as further members.
type dropIn struct {
	Code    string       `json:"Error code"`
	Message string       `json:"Message"`
	Schema  *schemaError `json:"schemaError,omitempty"`
	Place   string       `json:"location,omitempty"`
	Hint    string       `json:"hint,omitempty"`
}

// schemaError is the position of an error as asl-validator reports it, as a JSON pointer.
type schemaError struct {
	Instance string `json:"instancePath"`
	Schema   string `json:"schemaPath"`
}

// dropInCodes has the error codes of asl-validator for codes of AWS with other names. All other codes become
// SCHEMA_VALIDATION_FAILED.
var dropInCodes = map[asl.Code]string{
	asl.MissingTransitionTarget: "MISSING_TRANSITION_TARGET",
	asl.MissingEndState:         "MISSING_TERMINAL_STATE",
	asl.DuplicateStateName:      "DUPLICATE_STATE_NAMES",
}

// index matches the index of an element in Step Functions' notation of locations.
var index = regexp.MustCompile(`\[(\d+)\]`)

// ofCloudFormation matches the names of CloudFormation's functions.
var ofCloudFormation = regexp.MustCompile(`"(Ref|Fn::\w+)"`)

// aslValidator returns the errors of a definition in the form of asl-validator. checkPaths false leaves out errors
// about paths and intrinsic functions, checkArn false those about Resources that are no ARN. As in asl-validator, a
// value may be a function of CloudFormation, which serverless-step-functions leaves in the definitions that it checks.
func aslValidator(options json.RawMessage, text string) (any, error) {
	var o struct {
		Paths bool `json:"checkPaths"`
		ARN   bool `json:"checkArn"`
	}
	if err := read(options, &o); err != nil {
		return nil, err
	}
	const file = "definition.json"
	d, err := source{File: file}.parse(text)
	if ofCloudFormation.MatchString(text) {
		d, err = definitions.ParseProperty(file, text)
	}
	if err != nil {
		return nil, err
	}
	type key struct {
		asl.Code
		location, message string
	}
	var withoutPaths map[key]bool
	if !o.Paths {
		withoutPaths = map[key]bool{}
		for _, f := range asl.Apart(d.DiagnoseSyntax(false, false)) {
			withoutPaths[key{f.Code, f.Location, f.Message}] = true
		}
	}
	found := slices.DeleteFunc(asl.Apart(d.DiagnoseSyntax(false, true)), func(f asl.Diagnostic) bool {
		switch {
		case f.Severity != asl.SeverityError:
			return true
		case !o.ARN && strings.HasSuffix(f.Location, "/Resource") && strings.Contains(f.Message, "valid resource ARN"):
			return true
		case o.Paths || f.Code == asl.InvalidJSONataExpression || f.Code == asl.UnsupportedJSONataExpression:
			return false
		default:
			return !withoutPaths[key{f.Code, f.Location, f.Message}]
		}
	})
	list := make([]dropIn, 0, len(found))
	for _, f := range found {
		e := dropIn{Code: dropInCodes[f.Code], Message: f.Message, Place: f.Location, Hint: f.Hint}
		if f.Location != "" {
			e.Message = f.Location + ": " + f.Message
		}
		if e.Code == "" {
			e.Code = string(asl.SchemaValidationFailed)
			e.Schema = &schemaError{index.ReplaceAllString(f.Location, "/$1"), "#"}
		}
		list = append(list, e)
	}
	return list, nil
}

// pathResult is the result of a check in the form of asl-path-validator.
type pathResult struct {
	Valid   bool   `json:"isValid"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// checkPath checks a path for a context: path, reference_path, result_path or payload_template.
func checkPath(options json.RawMessage, text string) (any, error) {
	var o struct {
		Context string `json:"context"`
	}
	if err := read(options, &o); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"path", "reference_path", "result_path", "payload_template"}, o.Context) {
		return nil, fmt.Errorf(
			"options: context is path, reference_path, result_path or payload_template, not %q",
			o.Context,
		)
	}
	refused := func(code string, err error) (any, error) { return pathResult{Code: code, Message: err.Error()}, nil }
	if intrinsic.IsCall(text) {
		_, err := intrinsic.Compile(text)
		switch {
		case err != nil:
			return refused("parse_error", err)
		case o.Context != "payload_template":
			return refused("exp_has_functions", errors.New("a path cannot call a function"))
		}
		return pathResult{Valid: true}, nil
	}
	p, err := jsonpath.Compile(text)
	if err != nil {
		return refused("parse_error", err)
	}
	switch o.Context {
	case "result_path":
		if p.Root() != jsonpath.Input {
			return refused("exp_has_variable", errors.New("a ResultPath begins with $"))
		}
		fallthrough
	case "reference_path":
		if !p.IsReference() {
			return refused(
				"exp_has_non_reference_path_ops",
				errors.New("a reference path selects one node, by names and indexes"),
			)
		}
	}
	return pathResult{Valid: true}, nil
}

// asJSON converts a definition in YAML to JSON, as CloudFormation reads it.
func asJSON(_ json.RawMessage, text string) (any, error) {
	d, err := source{File: "definition.yaml"}.parse(text)
	if err != nil {
		return nil, err
	}
	if asl.HasErrors(d.Document.Problems) {
		return nil, errors.New(d.Document.Problems[0].String())
	}
	return json.RawMessage(d.Text), nil
}
