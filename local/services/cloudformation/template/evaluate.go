package template

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"strconv"
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

// joinArguments describes the arguments of Fn::Join in errors.
const joinArguments = "every Fn::Join object requires two parameters, (1) a string delimiter and (2) a list of strings to be " +
	"joined or a function that returns a list of strings (such as Fn::GetAZs) to be joined."

func (e *Env) join(arg any) (any, error) {
	const what = joinArguments
	l, ok := arg.([]any)
	if !ok || len(l) != 2 {
		return nil, wrong("Template error: %s", what)
	}
	delimiter, unknown, err := e.text(l[0], what)
	if err != nil || unknown != nil {
		return unknown, err
	}
	elements, unknown, err := e.list(l[1], what)
	if err != nil || unknown != nil {
		return unknown, err
	}
	parts := make([]string, 0, len(elements))
	for _, x := range elements {
		if u, ok := x.(Unknown); ok {
			return u, nil
		}
		s, ok := TextOf(x)
		if !ok {
			return nil, wrong("Template error: %s", what)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, delimiter), nil
}

func (e *Env) choose(arg any) (any, error) {
	const what = "Fn::Select requires a list argument with two elements: an integer index and a list"
	l, ok := arg.([]any)
	if !ok || len(l) != 2 {
		return nil, wrong("Template error: %s", what)
	}
	index, unknown, err := e.text(l[0], what)
	if err != nil || unknown != nil {
		return unknown, err
	}
	elements, unknown, err := e.list(l[1], what)
	if err != nil || unknown != nil {
		return unknown, err
	}
	n, err := strconv.Atoi(index)
	if err != nil {
		return nil, wrong("Template error: %s", what)
	}
	if n < 0 || n >= len(elements) {
		return nil, wrong("Template error: Fn::Select cannot select nonexistent value at index %d", n)
	}
	return elements[n], nil
}

func (e *Env) split(arg any) (any, error) {
	const what = "every Fn::Split object requires two parameters, (1) a string delimiter and (2) a string to be split or a function that returns a string to be split."
	l, ok := arg.([]any)
	if !ok || len(l) != 2 {
		return nil, wrong("Template error: %s", what)
	}
	delimiter, unknown, err := e.text(l[0], what)
	if err != nil || unknown != nil {
		return unknown, err
	}
	if delimiter == "" {
		return nil, wrong("Template error: %s", what)
	}
	text, unknown, err := e.text(l[1], what)
	if err != nil || unknown != nil {
		return unknown, err
	}
	parts := []any{}
	for _, p := range strings.Split(text, delimiter) {
		parts = append(parts, p)
	}
	return parts, nil
}

func (e *Env) branch(arg any) (any, error) {
	l, ok := arg.([]any)
	if !ok || len(l) != 3 {
		return nil, wrong("Template error: Fn::If requires a list argument with three elements")
	}
	holds, err := e.ifCondition(l[0])
	if err != nil {
		return nil, err
	}
	if holds {
		return e.value(l[1])
	}
	return e.value(l[2])
}

func (e *Env) ifCondition(v any) (bool, error) {
	name, ok := v.(string)
	if !ok {
		return false, wrong("Template error: Fn::If requires the name of a condition as its first element")
	}
	holds, ok := e.Conditions[name]
	if !ok {
		return false, wrong("Template error: unresolved condition dependency %s in Fn::If", name)
	}
	return holds, nil
}

func (e *Env) findInMap(arg any) (any, error) {
	l, ok := arg.([]any)
	if !ok || len(l) != 3 && len(l) != 4 {
		return nil, wrong("Template error: FindInMap requires a list argument with three elements: the map, and two keys")
	}
	var names [3]string
	for i := range names {
		text, unknown, err := e.text(l[i], "the keys of Fn::FindInMap must be strings")
		if err != nil {
			return nil, err
		}
		if unknown != nil {
			return nil, wrong("Template error: Fn::FindInMap cannot use what is known only after resources are made")
		}
		names[i] = text
	}
	top, _ := e.Mappings[names[0]].(map[string]any)
	second, _ := top[names[1]].(map[string]any)
	if v, ok := second[names[2]]; ok {
		return e.value(v)
	}
	if len(l) == 4 {
		if m, ok := l[3].(map[string]any); ok && len(m) == 1 {
			if def, ok := m["DefaultValue"]; ok {
				return e.value(def)
			}
		}
		return nil, wrong("Template error: the fourth element of Fn::FindInMap must have a DefaultValue")
	}
	return nil, wrong("Template error: Unable to get mapping for %s::%s::%s", names[0], names[1], names[2])
}

func (e *Env) importValue(arg any) (any, error) {
	name, unknown, err := e.text(arg, "the attribute in Fn::ImportValue must be a string or a function that returns a string")
	if err != nil {
		return nil, err
	}
	if unknown != nil || e.Import == nil {
		return nil, wrong("Template error: the attribute in Fn::ImportValue must not depend on any resources, imported values, or Fn::GetAZs")
	}
	return e.Import(name)
}

func (e *Env) base64(arg any) (any, error) {
	text, unknown, err := e.text(arg, "every Fn::Base64 object must have a String-typed value.")
	if err != nil || unknown != nil {
		return unknown, err
	}
	return base64.StdEncoding.EncodeToString([]byte(text)), nil
}

func (e *Env) zones(arg any) (any, error) {
	region, unknown, err := e.text(arg, "every Fn::GetAZs object must have a String-typed value.")
	if err != nil || unknown != nil {
		return unknown, err
	}
	if region == "" {
		region, _ = e.Values["AWS::Region"].(string)
	}
	zones := []any{}
	if e.Zones != nil {
		for _, z := range e.Zones(region) {
			zones = append(zones, z)
		}
	}
	return zones, nil
}

func (e *Env) extension(name string) error {
	if e.Extensions {
		return nil
	}
	return wrong("Template error: %s is only supported with the transform AWS::LanguageExtensions", name)
}

func (e *Env) length(arg any) (any, error) {
	if err := e.extension("Fn::Length"); err != nil {
		return nil, err
	}
	l, unknown, err := e.list(arg, "Fn::Length only supports lists")
	if err != nil || unknown != nil {
		return unknown, err
	}
	return json.Number(strconv.Itoa(len(l))), nil
}

func (e *Env) toJSON(arg any) (any, error) {
	if err := e.extension("Fn::ToJsonString"); err != nil {
		return nil, err
	}
	v, err := e.value(arg)
	if err != nil {
		return nil, err
	}
	if u, ok := FindUnknown(v); ok {
		return u, nil
	}
	switch v.(type) {
	case map[string]any, []any:
		return JSON(v), nil
	}
	return nil, wrong("Template error: Fn::ToJsonString only supports objects and arrays")
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

func (e *Env) cidr(arg any) (any, error) {
	const what = "Fn::Cidr requires a CIDR block, a count from 1 to 256 and the number of subnet bits"
	l, ok := arg.([]any)
	if !ok || len(l) < 2 || len(l) > 3 {
		return nil, wrong("Template error: %s", what)
	}
	block, unknown, err := e.text(l[0], what)
	if err != nil || unknown != nil {
		return unknown, err
	}
	numbers := [2]int{0, 8}
	for i, a := range l[1:] {
		text, unknown, err := e.text(a, what)
		if err != nil || unknown != nil {
			return unknown, err
		}
		if numbers[i], err = strconv.Atoi(text); err != nil {
			return nil, wrong("Template error: %s", what)
		}
	}
	prefix, err := netip.ParsePrefix(block)
	if err != nil {
		return nil, wrong("Template error: Fn::Cidr: %s is not a CIDR block", block)
	}
	count, size := numbers[0], prefix.Addr().BitLen()-numbers[1]
	if count < 1 || count > 256 || size < prefix.Bits() || numbers[1] < 1 || size-prefix.Bits() < 9 &&
		1<<(size-prefix.Bits()) < count {
		return nil, wrong("Template error: Fn::Cidr: %d blocks of %d bits do not fit into %s", count, numbers[1], block)
	}
	base := new(big.Int).SetBytes(prefix.Masked().Addr().AsSlice())
	step := new(big.Int).Lsh(big.NewInt(1), uint(numbers[1]))
	blocks := make([]any, count)
	for i := range blocks {
		raw := make([]byte, prefix.Addr().BitLen()/8)
		base.FillBytes(raw)
		addr, _ := netip.AddrFromSlice(raw)
		blocks[i] = netip.PrefixFrom(addr, size).String()
		base.Add(base, step)
	}
	return blocks, nil
}
