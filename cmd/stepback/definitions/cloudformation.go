package definitions

import (
	"fmt"
	"path"
	"strings"

	"stepback/asl/document"
	"stepback/asl/source"
	"stepback/jsonvalue"
)

// The resource types that declare state machines.
const (
	typeOfStates = "AWS::StepFunctions::StateMachine"
	typeOfSAM    = "AWS::Serverless::StateMachine"
)

// cloudFormation finds the state machines among the resources of a template.
func (f *finder) cloudFormation(root *node) {
	resources := root.member("Resources")
	if !resources.is(jsonvalue.Object) {
		return
	}
	defaults := defaultsOf(root.member("Parameters"))
	for i, name := range resources.names {
		r := resources.items[i]
		kind := r.member("Type").str()
		if kind != typeOfStates && kind != typeOfSAM {
			continue
		}
		x := Found{Name: name, Values: map[string]string{}, at: resources.keys[i]}
		f.declared(&x, kind, r.member("Properties"), defaults)
		f.found = append(f.found, x)
	}
}

// declared reads the properties of a state machine from a SAM or CloudFormation resource. Both use the same names,
// except for the definition's file and the type.
func (f *finder) declared(x *Found, kind string, p *node, defaults map[string]string) {
	x.Express = p.member("StateMachineType").str() == "EXPRESS" || p.member("Type").str() == "EXPRESS"
	check := document.OneDefinition
	if kind == typeOfSAM {
		check = document.OneSAMDefinition
	}
	if err := check(func(property string) bool { return p.member(property) != nil }); err != nil {
		x.Refused = err.Error()
		return
	}
	substitutions := p.member("DefinitionSubstitutions")
	if substitutions != nil {
		for i, key := range substitutions.names {
			if !x.give(key, substitutions.items[i], defaults) {
				x.Refused, x.at = document.ErrSubstitutionType.Error(), substitutions.keys[i]
				return
			}
		}
	}
	if inline, at := p.get("Definition"); inline != nil {
		if x.File = included(inline); x.File == "" {
			f.object(x, inline, at)
		}
		return
	}
	if written := p.member("DefinitionString"); written != nil {
		if name, argument := written.function(); name == "Fn::Sub" && argument.is(jsonvalue.Array) && len(argument.items) > 1 {
			variables := argument.items[1]
			for i, key := range variables.names {
				x.give(key, variables.items[i], defaults)
			}
		}
		for key, value := range defaults {
			if _, given := x.Values[key]; !given {
				x.Values[key] = value
			}
		}
		if !f.inline(x, written, asString) {
			x.Missing = fmt.Sprintf("its DefinitionString is %s, which only the deployment can resolve", short(written.source(f.text)))
		}
		return
	}
	if uri := p.member("DefinitionUri"); uri != nil && !isS3(uri) {
		x.File = uri.text
		return
	}
	if key := p.member("DefinitionS3Location", "Key"); key.is(jsonvalue.String) {
		x.s3 = path.Base(key.text)
	}
	x.Missing = "its definition is in S3; give its file to the command"
}

// object reads a definition that is an object, whose JSON is refused if the property is anything else.
func (f *finder) object(x *Found, definition *node, at source.Span) {
	if !definition.is(jsonvalue.Object) {
		x.Refused, x.at = "expected type: JSONObject, found: "+definition.kind.String(), at
		return
	}
	if name, _ := definition.function(); name != "" {
		x.Missing = fmt.Sprintf("its Definition is a %s, which only the deployment can resolve", name)
		return
	}
	f.inline(x, definition, asObject)
}

// give sets the value of a placeholder to the template's literal value, or to the default of the parameter that it
// references. It returns false if CloudFormation refuses the value.
func (x *Found) give(key string, v *node, defaults map[string]string) bool {
	if name, argument := v.function(); name != "" {
		if value, ok := defaults[argument.str()]; ok && name == "Ref" {
			x.Values[key] = value
		}
		return true
	}
	value := jsonvalue.Value{}
	switch v.kind {
	case jsonvalue.String:
		value = jsonvalue.OfString(v.text)
	case jsonvalue.Number, jsonvalue.Bool:
		value, _ = jsonvalue.Parse(v.text)
	default:
	}
	text, err := document.SubstitutionText(value)
	if err == nil {
		x.Values[key] = text
	}
	return err == nil
}

// defaultsOf returns the defaults of parameters. It leaves out Systems Manager parameters, whose defaults are names,
// not values.
func defaultsOf(parameters *node) map[string]string {
	defaults := map[string]string{}
	if !parameters.is(jsonvalue.Object) {
		return defaults
	}
	for i, name := range parameters.names {
		p := parameters.items[i]
		value := p.member("Default")
		if value == nil || value.is(jsonvalue.Object) || value.is(jsonvalue.Array) ||
			strings.HasPrefix(p.member("Type").str(), "AWS::SSM::") {
			continue
		}
		defaults[name] = value.text
	}
	return defaults
}

// included returns the file of a definition that consists only of an AWS::Include of a local file, and "" for all
// others.
func included(definition *node) string {
	transform := definition.member("Fn::Transform")
	location := transform.member("Parameters", "Location")
	if len(definition.names) != 1 || transform.member("Name").str() != "AWS::Include" || isS3(location) {
		return ""
	}
	return location.text
}

// source returns the text of a node in a file, from its beginning to the end of the line, for a message.
func (n *node) source(file string) string {
	line, _, _ := strings.Cut(file[n.at.Start:], "\n")
	return strings.TrimSpace(line)
}
