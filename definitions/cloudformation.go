package definitions

import (
	"errors"
	"fmt"

	"stepback/jsonvalue"
)

// cloudFormation finds the state machines among the resources of a template.
func cloudFormation(root jsonvalue.Value) ([]Found, error) {
	var found []Found
	resources := member(root, "Resources")
	for i, name := range resources.Keys() {
		r := resources.At(i)
		kind := member(r, "Type").Text()
		if kind != "AWS::StepFunctions::StateMachine" && kind != "AWS::Serverless::StateMachine" {
			continue
		}
		f, err := declared(name, member(r, "Properties"))
		if err != nil {
			return nil, fmt.Errorf("resource %s: %w", name, err)
		}
		found = append(found, f)
	}
	return found, nil
}

// declared reads the properties of a state machine. SAM and CloudFormation name them alike, but for the file.
func declared(name string, p jsonvalue.Value) (Found, error) {
	f := Found{Name: name, Values: map[string]string{}}
	kind := member(p, "StateMachineType").Text() + member(p, "Type").Text()
	f.Express = kind == "EXPRESS"
	substitutions := member(p, "DefinitionSubstitutions")
	for i, key := range substitutions.Keys() {
		if v := substitutions.At(i); v.Kind() != jsonvalue.Object {
			f.Values[key], _ = text(v)
		}
	}
	if inline, ok := p.Get("Definition"); ok {
		f.Text = resolved(inline).JSON()
		return f, nil
	}
	if written, ok := p.Get("DefinitionString"); ok {
		if f.Text, ok = text(written); !ok {
			return f, fmt.Errorf("its DefinitionString is %s, which only the deployment can resolve", written.JSON())
		}
		return f, nil
	}
	if uri, ok := p.Get("DefinitionUri"); ok && uri.Kind() == jsonvalue.String {
		f.File = uri.Text()
		return f, nil
	}
	return f, errors.New("its definition is in S3; give its file to the command")
}
