package definitions

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"stepback/jsonvalue"
)

// Found is a state machine that a text declares.
type Found struct {
	// Name is the logical name in the text: that of the resource.
	Name string
	// Text is the definition as JSON, with placeholders; empty when it is in a file of its own.
	Text string
	// File is where the definition is, relative to the text's directory; empty when it is in the text.
	File string
	// Values are those of placeholders that the text gives literally (DefinitionSubstitutions).
	Values  map[string]string
	Express bool
	// Missing says why there is neither Text nor File, in words that follow the name: the definition is in S3, or known
	// after the deployment only.
	Missing string
}

// MaxSize is how long a text may be, in bytes: CloudFormation takes a megabyte, plans of Terraform are longer.
const MaxSize = 64 << 20

// ErrNone says that a text declares no state machine.
var ErrNone = errors.New("it declares no state machine")

// Looks reports whether a text may be one of those that this package reads, rather than a definition. It is quick and
// may be wrong about texts that are neither.
func Looks(text string) bool {
	if strings.Contains(text, "StartAt") && !strings.Contains(text, "Resources") && !strings.Contains(text, "stateMachines") &&
		!strings.Contains(text, "aws_sfn_state_machine") {
		return false
	}
	for _, mark := range []string{"AWS::StepFunctions::StateMachine", "AWS::Serverless::StateMachine",
		"aws_sfn_state_machine", "stateMachines:", `"stateMachines"`} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// In returns the state machines that a text declares, in its order. The error is ErrNone when there are none, or says
// what is wrong with the text. A definition that cannot be read from it is Missing.
func In(text string) ([]Found, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("it is longer than %d bytes", MaxSize)
	}
	root, err := read(text)
	if err != nil {
		return nil, err
	}
	var found []Found
	for _, look := range []func(jsonvalue.Value) ([]Found, error){cloudFormation, terraform, plan, serverless} {
		more, err := look(root)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	if len(found) == 0 {
		return nil, ErrNone
	}
	return found, nil
}

// read reads JSON, or YAML with the tags of CloudFormation.
func read(text string) (jsonvalue.Value, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		if v, err := jsonvalue.Parse(text); err == nil {
			return v, nil
		}
	}
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		return jsonvalue.Value{}, fmt.Errorf("it is neither JSON nor YAML: %w", err)
	}
	if len(node.Content) == 0 {
		return jsonvalue.Value{}, ErrNone
	}
	return new(converter).value(node.Content[0], 0)
}

// deepest is how deep a text may be nested.
const deepest = 200

// mostNodes is how many values a text may come to when its aliases are written out.
const mostNodes = 2_000_000

// converter turns YAML into JSON. The short forms of intrinsic functions become their long ones.
type converter struct{ nodes int }

func (c *converter) value(n *yaml.Node, depth int) (jsonvalue.Value, error) {
	if c.nodes++; depth > deepest || c.nodes > mostNodes {
		return jsonvalue.Value{}, fmt.Errorf("line %d: it is nested too deep, or too long", n.Line)
	}
	if n.Kind == yaml.AliasNode {
		return c.value(n.Alias, depth+1)
	}
	plain, err := c.untagged(n, depth)
	if err != nil || !strings.HasPrefix(n.Tag, "!") || strings.HasPrefix(n.Tag, "!!") {
		return plain, err
	}
	name := n.Tag[1:]
	switch name {
	case "Ref", "Condition":
	case "GetAtt":
		if plain.Kind() == jsonvalue.String {
			resource, attribute, _ := strings.Cut(plain.Text(), ".")
			plain = jsonvalue.OfArray([]jsonvalue.Value{jsonvalue.OfString(resource), jsonvalue.OfString(attribute)})
		}
		name = "Fn::GetAtt"
	default:
		name = "Fn::" + name
	}
	o := jsonvalue.NewObject(1)
	o.Set(name, plain)
	return o.Value(), nil
}

func (c *converter) untagged(n *yaml.Node, depth int) (jsonvalue.Value, error) {
	switch n.Kind { //nolint:exhaustive // the others are scalars here
	case yaml.MappingNode:
		o := jsonvalue.NewObject(len(n.Content) / 2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			member, err := c.value(n.Content[i+1], depth+1)
			if err != nil {
				return member, err
			}
			o.Set(n.Content[i].Value, member)
		}
		return o.Value(), nil
	case yaml.SequenceNode:
		elements := make([]jsonvalue.Value, 0, len(n.Content))
		for _, one := range n.Content {
			element, err := c.value(one, depth+1)
			if err != nil {
				return element, err
			}
			elements = append(elements, element)
		}
		return jsonvalue.OfArray(elements), nil
	}
	switch n.Tag {
	case "!!null":
		return jsonvalue.Value{}, nil
	case "!!bool":
		return jsonvalue.OfBool(strings.EqualFold(n.Value, "true")), nil
	case "!!int", "!!float":
		if v, err := jsonvalue.Parse(n.Value); err == nil {
			return v, nil
		}
	}
	return jsonvalue.OfString(n.Value), nil
}

// text is a value as text, with placeholders for what the deployment fills in. ok is false when it is none.
func text(v jsonvalue.Value) (s string, ok bool) {
	switch v.Kind() {
	case jsonvalue.String:
		return v.Text(), true
	case jsonvalue.Number, jsonvalue.Bool:
		return v.JSON(), true
	case jsonvalue.Object:
	default:
		return "", false
	}
	if v.Len() != 1 {
		return "", false
	}
	argument := v.At(0)
	switch v.Keys()[0] {
	case "Ref":
		return "${" + argument.Text() + "}", true
	case "Fn::GetAtt":
		parts := []string{argument.Text()}
		if argument.Kind() == jsonvalue.Array {
			parts = nil
			for _, e := range argument.Elements() {
				parts = append(parts, e.Text())
			}
		}
		return "${" + strings.Join(parts, ".") + "}", true
	case "Fn::Sub":
		if argument.Kind() == jsonvalue.Array {
			argument = argument.At(0)
		}
		return argument.Text(), true
	case "Fn::Join":
		if argument.Kind() != jsonvalue.Array || argument.Len() != 2 {
			return "", false
		}
		var parts []string
		for _, e := range argument.At(1).Elements() {
			part, ok := text(e)
			if !ok {
				return "", false
			}
			parts = append(parts, part)
		}
		return strings.Join(parts, argument.At(0).Text()), true
	case "Fn::ImportValue", "Fn::FindInMap", "Fn::Select":
		return "${Unknown}", true
	default:
		return "", false
	}
}

// resolved is an inline definition in which intrinsic functions are placeholders.
func resolved(v jsonvalue.Value) jsonvalue.Value {
	switch v.Kind() {
	case jsonvalue.Object:
		if v.Len() == 1 && (v.Keys()[0] == "Ref" || strings.HasPrefix(v.Keys()[0], "Fn::")) {
			if s, ok := text(v); ok {
				return jsonvalue.OfString(s)
			}
		}
		o := jsonvalue.NewObject(v.Len())
		for i, name := range v.Keys() {
			o.Set(name, resolved(v.At(i)))
		}
		return o.Value()
	case jsonvalue.Array:
		elements := make([]jsonvalue.Value, 0, v.Len())
		for _, e := range v.Elements() {
			elements = append(elements, resolved(e))
		}
		return jsonvalue.OfArray(elements)
	default:
		return v
	}
}

func member(v jsonvalue.Value, path ...string) jsonvalue.Value {
	for _, name := range path {
		v, _ = v.Get(name)
	}
	return v
}
