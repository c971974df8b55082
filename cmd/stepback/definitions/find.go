package definitions

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"stepback/jsonvalue"
)

// Found is a state machine declared in a text.
type Found struct {
	// Name is the logical name of the resource in the text.
	Name string
	// Text is the definition as JSON, with placeholders; empty if it is in a separate file.
	Text string
	// File is the definition's file, relative to the text's directory; empty if the definition is in the text.
	File string
	// Values are the literal values of placeholders in the text (DefinitionSubstitutions).
	Values  map[string]string
	Express bool
	// Missing gives the reason if neither Text nor File is set: the definition is in S3, or only known after
	// deployment. It is a phrase that follows the name in messages.
	Missing string
}

// MaxSize is the most bytes of a text: CloudFormation accepts one megabyte, Terraform plans are longer.
const MaxSize = 64 << 20

// ErrNone is returned if a text declares no state machine.
var ErrNone = errors.New("it declares no state machine")

// Looks reports whether a text may be of a kind that this package reads, such as a template, and not a definition
// itself. It is fast, and may be wrong for texts that are neither.
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

// In returns the state machines that a text declares, in order. It returns ErrNone if there are none, and otherwise
// an error if the text is invalid. If a definition cannot be read from the text, Missing says why.
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

// read parses JSON, or YAML with CloudFormation's tags.
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

// deepest is the deepest nesting allowed in a text.
const deepest = 200

// mostNodes is the maximum number of values in a text after its aliases have been expanded.
const mostNodes = 2_000_000

// converter converts YAML to JSON. Short forms of intrinsic functions become their long forms.
type converter struct{ nodes int }

func (c *converter) value(n *yaml.Node, depth int) (jsonvalue.Value, error) {
	if c.nodes++; depth > deepest || c.nodes > mostNodes {
		return jsonvalue.Value{}, fmt.Errorf("line %d: it is too long or nested too deep", n.Line)
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

// text returns a value as text, with placeholders for parts that are only known at deployment. ok is false if the
// value has no text form.
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

// resolved returns an inline definition with intrinsic functions replaced by placeholders.
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
