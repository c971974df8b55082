package strictyaml

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"

	"stepback/jsonvalue"
)

// JSON returns the value as JSON: objects, lists, texts, numbers with their text, true, false and null. Numbers that
// JSON cannot represent and duplicate names are reported as problems. An absent value is null.
func (v Value) JSON() jsonvalue.Value {
	switch {
	case v.node == nil:
		return jsonvalue.Value{}
	case v.node.Kind == yaml.MappingNode:
		members := v.Members()
		o := jsonvalue.NewObject(len(members))
		for _, m := range members {
			o.Set(m.Name, m.JSON())
		}
		return o.Value()
	case v.node.Kind == yaml.SequenceNode:
		elements := make([]jsonvalue.Value, 0, len(v.node.Content))
		for _, n := range v.node.Content {
			elements = append(elements, Value{v.r, n, v.path}.JSON())
		}
		return jsonvalue.OfArray(elements)
	}
	switch v.node.Tag {
	case "!!null":
		return jsonvalue.Value{}
	case "!!bool":
		return jsonvalue.OfBool(strings.EqualFold(v.node.Value, "true"))
	case "!!int", "!!float":
		if json.Valid([]byte(v.node.Value)) {
			return jsonvalue.OfNumberText(v.node.Value)
		}
		v.Problem("%s is not a JSON number; write it in digits, or in quotation marks as a text", quoted(v.node.Value))
		return jsonvalue.Value{}
	default:
		return jsonvalue.OfString(v.node.Value)
	}
}
