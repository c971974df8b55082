package definitions

import (
	"fmt"

	"stepback/asl"
	"stepback/asl/dataflow"
	"stepback/aws/model"
	"stepback/engine"
)

// Diagnose returns errors and warnings, at their positions in the file: those of Step Functions, and for an accepted
// definition what goes wrong on a path through its states (package asl/dataflow).
func (d *File) Diagnose(express bool) []asl.Diagnostic {
	return d.Document.Diagnose(func(definition string) []asl.Diagnostic {
		found := validate(definition, express || d.Express)
		if m := d.incomplete(express); m != nil {
			found = append(found, dataflow.Check(definition, m)...)
		}
		return found
	})
}

// DiagnoseSyntax returns the errors and warnings of Step Functions alone, without those of package asl/dataflow. If
// paths is false, it also leaves out findings about the text of paths, intrinsic functions and JSONata expressions.
func (d *File) DiagnoseSyntax(express, paths bool) []asl.Diagnostic {
	return d.Document.Diagnose(func(definition string) []asl.Diagnostic {
		if paths {
			return validate(definition, express || d.Express)
		}
		_, found := asl.Options{Express: express || d.Express, Resources: true, Action: model.CheckAction,
			Syntax: lenient}.Parse(definition)
		return found
	})
}

// lenient accepts all paths, intrinsic functions and expressions.
var lenient = asl.Syntax{
	Path: accepts, ReferencePath: accepts, Intrinsic: accepts,
	JSONata: func(string) ([]string, error) { return nil, nil },
}

func accepts(string) error { return nil }

// Machine returns the state machine of a definition that Diagnose accepts. Values with open placeholders are missing
// in it, or have stand-ins. It returns nil if the definition is refused.
func (d *File) Machine(express bool) *asl.Machine {
	if asl.HasErrors(d.Diagnose(express)) {
		return nil
	}
	return d.incomplete(express)
}

// incomplete parses the JSON of a definition without the checks of paths and expressions, and without errors about
// values with open placeholders. It returns nil if there are other errors.
func (d *File) incomplete(express bool) *asl.Machine {
	m, _ := asl.Options{Express: express || d.Express, Overlook: d.Document.Overlooks,
		Syntax: lenient}.Parse(d.Document.JSON)
	return m
}

// Render formats diagnostics with their lines of the file.
func (d *File) Render(found []asl.Diagnostic) string {
	return asl.Render(found, d.Document.Text, d.Source)
}

// Lacks returns an error if an accepted definition cannot run yet because placeholders have no values, and nil
// otherwise.
func (d *File) Lacks(express bool) error {
	needed := d.Document.Needed
	if found := validate(d.Text, express || d.Express); len(needed) == 0 && asl.HasErrors(found) &&
		!asl.HasErrors(d.Document.Place(found)) {
		if needed = d.Document.Blamed(found); len(needed) == 0 {
			needed = d.Document.Open
		}
	}
	if len(needed) == 0 {
		return nil
	}
	return fmt.Errorf("%s: give %s a value with --substitute NAME=VALUE", d.Path, Placeholders(needed))
}

// validate returns all errors and warnings that Step Functions would report about a definition.
func validate(definition string, express bool) []asl.Diagnostic {
	return engine.Validate(definition, express, model.CheckAction)
}
