package template

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Env is the environment in which functions are evaluated.
type Env struct {
	// Values are the values of parameters (strings and []any) and of the pseudo parameters.
	Values map[string]any
	// Mappings are the template's mappings.
	Mappings map[string]any
	// Conditions are the evaluated conditions.
	Conditions map[string]bool
	// Ref returns the value of a Ref to a resource. Attribute returns the value of Fn::GetAtt. Both may return
	// Unknown. If they are nil, such references are rejected, as in conditions.
	Ref       func(id string) (any, error)
	Attribute func(id, attribute string) (any, error)
	// Import returns the value of an export.
	Import func(name string) (string, error)
	// Zones returns the availability zones of a region.
	Zones func(region string) []string
	// Dynamic returns the value of a dynamic reference, {{resolve:SERVICE:KEY}}; nil leaves references unresolved.
	Dynamic func(service, key string) (string, error)
	// Extensions enables what requires AWS::LanguageExtensions: functions in more places, Fn::Length,
	// Fn::ToJsonString.
	Extensions bool
}

// Unknown represents a value that is not known until a resource is created or changed. A function with an Unknown
// argument returns Unknown.
type Unknown struct{ Resource, Attribute string }

// absent is AWS::NoValue, which removes the member or element.
type absent struct{}

// Evaluate replaces the functions in a value by their results. Members and elements that are AWS::NoValue are
// removed. The error is an *Error, or an error of the Env.
func (e *Env) Evaluate(v any) (any, error) {
	r, err := e.value(v)
	if _, ok := r.(absent); ok {
		return nil, err
	}
	return r, err
}

func (e *Env) value(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 1 {
			for k, arg := range v {
				if f, ok := functions[k]; ok {
					return f(e, arg)
				}
				if strings.HasPrefix(k, "Fn::") {
					return nil, wrong("Template error: the function %s is not supported", k)
				}
			}
		}
		m := make(map[string]any, len(v))
		for _, k := range sortedKeys(v) {
			r, err := e.value(v[k])
			if err != nil {
				return nil, err
			}
			if _, ok := r.(absent); !ok {
				m[k] = r
			}
		}
		return m, nil
	case []any:
		l := make([]any, 0, len(v))
		for _, x := range v {
			r, err := e.value(x)
			if err != nil {
				return nil, err
			}
			if _, ok := r.(absent); !ok {
				l = append(l, r)
			}
		}
		return l, nil
	case string:
		return e.dynamic(v)
	}
	return v, nil
}

var functions map[string]func(*Env, any) (any, error)

func init() { //nolint:gochecknoinits // the functions call each other through the table, which Go takes for a cycle
	functions = map[string]func(*Env, any) (any, error){
		"Ref": (*Env).ref, "Fn::GetAtt": (*Env).getAtt, "Fn::Sub": (*Env).sub, "Fn::Join": (*Env).join,
		"Fn::Select": (*Env).choose, "Fn::Split": (*Env).split, "Fn::If": (*Env).branch,
		"Fn::FindInMap": (*Env).findInMap, "Fn::ImportValue": (*Env).importValue, "Fn::Base64": (*Env).base64,
		"Fn::Cidr": (*Env).cidr, "Fn::GetAZs": (*Env).zones, "Fn::Length": (*Env).length,
		"Fn::ToJsonString": (*Env).toJSON, "Fn::Equals": conditional, "Fn::And": conditional, "Fn::Or": conditional,
		"Fn::Not": conditional, "Fn::Transform": (*Env).transform,
	}
}

// conditional rejects condition functions where a value is expected.
func conditional(e *Env, _ any) (any, error) {
	return nil, wrong("Template error: Fn::Equals, Fn::And, Fn::Or and Fn::Not belong into Conditions or Fn::If")
}

func (e *Env) transform(arg any) (any, error) {
	m, _ := arg.(map[string]any)
	return nil, wrong("Template error: the transform %v of Fn::Transform is not supported", m["Name"])
}

func (e *Env) ref(arg any) (any, error) {
	name, ok := arg.(string)
	if !ok {
		if !e.Extensions {
			return nil, wrong("Template error: every Ref object must have a single String value.")
		}
		v, err := e.value(arg)
		if err != nil {
			return nil, err
		}
		if name, ok = v.(string); !ok {
			return nil, wrong("Template error: every Ref object must have a single String value.")
		}
	}
	if name == "AWS::NoValue" {
		return absent{}, nil
	}
	if v, ok := e.Values[name]; ok {
		return v, nil
	}
	if e.Ref == nil {
		return nil, wrong("Template format error: Unresolved dependencies [%s]. Cannot reference resources in the Conditions block of the template",
			name)
	}
	return e.Ref(name)
}

func (e *Env) getAtt(arg any) (any, error) {
	id, attribute := getAtt(arg)
	a, err := e.value(attribute)
	if err != nil {
		return nil, err
	}
	name, ok := a.(string)
	if id == "" || !ok || name == "" {
		return nil, wrong("Template error: every Fn::GetAtt object requires two non-empty parameters, the resource name and the resource attribute")
	}
	if e.Attribute == nil {
		return nil, wrong("Template error: Fn::GetAtt cannot be used here: %s.%s", id, name)
	}
	return e.Attribute(id, name)
}

// text evaluates an argument that must be a text. unknown is an Unknown if the text is not known yet.
func (e *Env) text(arg any, what string) (text string, unknown any, err error) {
	v, err := e.value(arg)
	if err != nil {
		return "", nil, err
	}
	if u, ok := v.(Unknown); ok {
		return "", u, nil
	}
	text, ok := TextOf(v)
	if !ok {
		return "", nil, wrong("Template error: %s", what)
	}
	return text, nil, nil
}

// list evaluates an argument that must be a list. unknown is an Unknown if the list is not known yet.
func (e *Env) list(arg any, what string) (elements []any, unknown any, err error) {
	v, err := e.value(arg)
	if err != nil {
		return nil, nil, err
	}
	if u, ok := v.(Unknown); ok {
		return nil, u, nil
	}
	elements, ok := v.([]any)
	if !ok {
		return nil, nil, wrong("Template error: %s", what)
	}
	return elements, nil, nil
}

// textAndList evaluates an argument of two elements, a text and a list. unknown is not nil if one of them is not known
// yet.
func (e *Env) textAndList(arg any, what string) (text string, elements []any, unknown any, err error) {
	l, ok := arg.([]any)
	if !ok || len(l) != 2 {
		return "", nil, nil, wrong("Template error: %s", what)
	}
	if text, unknown, err = e.text(l[0], what); err != nil || unknown != nil {
		return "", nil, unknown, err
	}
	elements, unknown, err = e.list(l[1], what)
	return text, elements, unknown, err
}

// JSON returns a value as JSON, with sorted keys and no more escapes than JSON requires.
func JSON(v any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Sprint(v) // values in templates can always be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// FindUnknown returns the first Unknown in a value.
func FindUnknown(v any) (Unknown, bool) {
	switch v := v.(type) {
	case Unknown:
		return v, true
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if u, ok := FindUnknown(v[k]); ok {
				return u, true
			}
		}
	case []any:
		for _, x := range v {
			if u, ok := FindUnknown(x); ok {
				return u, true
			}
		}
	}
	return Unknown{}, false
}
