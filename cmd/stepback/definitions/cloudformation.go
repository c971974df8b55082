package definitions

import (
	"fmt"
	"strings"

	"stepback/jsonvalue"
)

// cloudFormation finds the state machines among the resources of a template.
func cloudFormation(root jsonvalue.Value) ([]Found, error) {
	var found []Found
	resources := member(root, "Resources")
	defaults := defaultsOf(member(root, "Parameters"))
	for i, name := range resources.Keys() {
		r := resources.At(i)
		kind := member(r, "Type").Text()
		if kind != "AWS::StepFunctions::StateMachine" && kind != "AWS::Serverless::StateMachine" {
			continue
		}
		found = append(found, declared(name, member(r, "Properties"), defaults))
	}
	return found, nil
}

// declared reads the properties of a state machine from a SAM or CloudFormation resource. Both use the same names,
// except for the definition's file.
func declared(name string, p jsonvalue.Value, defaults map[string]string) Found {
	f := Found{Name: name, Values: map[string]string{}}
	kind := member(p, "StateMachineType").Text() + member(p, "Type").Text()
	f.Express = kind == "EXPRESS"
	substitutions := member(p, "DefinitionSubstitutions")
	for i, key := range substitutions.Keys() {
		f.give(key, substitutions.At(i), defaults)
	}
	if inline, ok := p.Get("Definition"); ok {
		if f.File = included(inline); f.File == "" {
			f.Text = resolved(inline).JSON()
		}
		return f
	}
	if written, ok := p.Get("DefinitionString"); ok {
		if sub := member(written, "Fn::Sub"); sub.Kind() == jsonvalue.Array && sub.Len() > 1 {
			for i, key := range sub.At(1).Keys() {
				f.give(key, sub.At(1).At(i), defaults)
			}
		}
		for key, value := range defaults {
			if _, given := f.Values[key]; !given {
				f.Values[key] = value
			}
		}
		if f.Text, ok = text(written); !ok {
			f.Missing = fmt.Sprintf("its DefinitionString is %s, which only the deployment can resolve", short(written.JSON()))
		}
		return f
	}
	if uri, ok := p.Get("DefinitionUri"); ok && uri.Kind() == jsonvalue.String && !strings.HasPrefix(uri.Text(), "s3://") {
		f.File = uri.Text()
		return f
	}
	f.Missing = "its definition is in S3; give its file to the command"
	return f
}

// give sets the value of a placeholder to the template's literal value, or to the default of the parameter that it
// references.
func (f *Found) give(key string, v jsonvalue.Value, defaults map[string]string) {
	if v.Kind() != jsonvalue.Object {
		f.Values[key], _ = text(v)
		return
	}
	if value, ok := defaults[member(v, "Ref").Text()]; ok {
		f.Values[key] = value
	}
}

// defaultsOf returns the defaults of parameters. It leaves out Systems Manager parameters, whose defaults are names,
// not values.
func defaultsOf(parameters jsonvalue.Value) map[string]string {
	defaults := map[string]string{}
	for i, name := range parameters.Keys() {
		p := parameters.At(i)
		value, ok := p.Get("Default")
		if !ok || value.Kind() == jsonvalue.Object || strings.HasPrefix(member(p, "Type").Text(), "AWS::SSM::") {
			continue
		}
		defaults[name], _ = text(value)
	}
	return defaults
}

// included returns the file of a definition that consists only of an AWS::Include of a local file, and "" for all
// others.
func included(definition jsonvalue.Value) string {
	transform := member(definition, "Fn::Transform")
	location := member(transform, "Parameters", "Location")
	if definition.Len() != 1 || member(transform, "Name").Text() != "AWS::Include" ||
		location.Kind() != jsonvalue.String || strings.HasPrefix(location.Text(), "s3://") {
		return ""
	}
	return location.Text()
}

// short returns the start of a text, for a message.
func short(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
