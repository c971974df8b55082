package document

import (
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"stepback/internal/lazyregexp"
)

// scalar writes a string, number, boolean or null.
func (y *yamlReader) scalar(n *yaml.Node, field string) *problem {
	if isForeign(n) {
		return y.foreign(n, field)
	}
	if text, ok := PlainScalar(n); ok {
		y.emit(n, text, nil)
		return nil
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return y.wrong(n, "JSON has no number "+n.Value, "in quotes it is a string")
	case "!!binary":
		return y.wrong(n, "CloudFormation refuses the tag !!binary", "")
	default: // strings and timestamps
		y.content(n, field, n.Value)
		return nil
	}
}

// PlainScalar returns the JSON text of a YAML scalar that is null, a boolean or a number. ok is false if it is anything
// else: a string, a date, or a number that JSON cannot represent, such as .inf. A plain word that YAML 1.1 reads as a
// boolean, such as yes, is a boolean, because CloudFormation reads YAML 1.1.
func PlainScalar(n *yaml.Node) (text string, ok bool) {
	switch n.ShortTag() {
	case "!!null":
		return "null", true
	case "!!bool":
		return strconv.FormatBool(strings.EqualFold(n.Value, "true")), true
	case "!!int", "!!float":
		return jsonNumber(n)
	case "!!str":
		if value, isBoolean := oldBooleans[n.Value]; isBoolean && n.Style == 0 {
			return strconv.FormatBool(value), true
		}
	}
	return "", false
}

var oldBooleans = map[string]bool{
	"yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

// content writes a string, or the stand-in for its open placeholders.
func (y *yamlReader) content(n *yaml.Node, field, text string) {
	open := Placeholders(text)
	for _, name := range open {
		y.open.add(name)
	}
	if instead, ok := standIn(field, text); ok {
		text = instead
	}
	y.emit(n, quoted(text), open)
}

var numberInJSON = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// jsonNumber returns a number as JSON text, unchanged if it is a valid JSON number.
func jsonNumber(n *yaml.Node) (string, bool) {
	if numberInJSON.MatchString(n.Value) {
		return n.Value, true
	}
	var whole int64
	if err := n.Decode(&whole); err == nil && n.ShortTag() == "!!int" {
		return strconv.FormatInt(whole, 10), true
	}
	var number float64
	if err := n.Decode(&number); err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
		return "", false
	}
	return strconv.FormatFloat(number, 'g', -1, 64), true
}

// isForeign reports whether a node has an application tag, such as !GetAtt.
func isForeign(n *yaml.Node) bool {
	tag := n.ShortTag()
	return strings.HasPrefix(tag, "!") && !strings.HasPrefix(tag, "!!")
}

// foreign handles CloudFormation's functions: their references are treated like placeholders.
func (y *yamlReader) foreign(n *yaml.Node, field string) *problem {
	if n.Kind == yaml.ScalarNode {
		switch n.Tag {
		case "!Ref", "!GetAtt":
			name := n.Value
			if value, given := y.values[name]; given {
				y.emit(n, quoted(value), nil)
				return nil
			}
			y.content(n, field, "${"+name+"}")
			return nil
		case "!Sub":
			y.content(n, field, n.Value)
			return nil
		}
	}
	return y.wrong(n, "The tag "+n.Tag+" means nothing in a definition",
		"a placeholder such as ${Name}, which DefinitionSubstitutions or --substitute fill in")
}
