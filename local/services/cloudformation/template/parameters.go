package template

import (
	"encoding/json"
	"slices"
	"sort"
	"strconv"
	"strings"

	"stepback/aws/javapattern"
)

// Parameter is a parameter as the template declares it.
type Parameter struct {
	Name, Type, Description, ConstraintDescription string
	// Default is the default's text; nil if there is none.
	Default                                  *string
	AllowedValues                            []string
	AllowedPattern                           string
	MinLength, MaxLength, MinValue, MaxValue *float64
	NoEcho                                   bool
}

const (
	listPrefix = "List<"
	ssmPrefix  = "AWS::SSM::Parameter::Value<"
)

// List reports whether the parameter's values are lists.
func (p *Parameter) List() bool {
	inner := p.inner()
	return inner == "CommaDelimitedList" || strings.HasPrefix(inner, listPrefix)
}

// SSM reports whether the parameter's value names an SSM parameter, whose value is used.
func (p *Parameter) SSM() bool { return strings.HasPrefix(p.Type, ssmPrefix) }

func (p *Parameter) inner() string {
	return strings.TrimSuffix(strings.TrimPrefix(p.Type, ssmPrefix), strings.Repeat(">", btoi(p.SSM())))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

var parameterFields = []string{"Type", "Default", "Description", "AllowedValues", "AllowedPattern",
	"ConstraintDescription", "MinLength", "MaxLength", "MinValue", "MaxValue", "NoEcho"}

func (t *Template) readParameters(d *Document) error {
	m, _ := d.Root["Parameters"].(map[string]any)
	if len(m) > MaxParameters {
		return wrong("Template format error: Number of parameters, %d, is greater than maximum allowed, %d", len(m),
			MaxParameters)
	}
	for _, name := range d.Keys("Parameters") {
		at := d.Position("Parameters", name)
		v, ok := m[name].(map[string]any)
		if !ok {
			return wrong("Template format error: Every Parameters object must be an object: %s%s", name, at)
		}
		p, err := readParameter(name, v, at)
		if err != nil {
			return err
		}
		t.Parameters = append(t.Parameters, p)
	}
	return nil
}

func readParameter(name string, v map[string]any, at Position) (Parameter, error) {
	p := Parameter{Name: name}
	if !logicalID().MatchString(name) {
		return p, wrong("Template format error: Parameter name %s is non alphanumeric.%s", name, at)
	}
	for k := range v {
		if !slices.Contains(parameterFields, k) {
			return p, wrong("Invalid template parameter property '%s' in parameter %s%s", k, name, at)
		}
	}
	p.Type, _ = v["Type"].(string)
	if !validType(p.inner()) {
		return p, wrong("Template format error: Unrecognized parameter type: %s in parameter %s%s", p.Type, name, at)
	}
	p.Description, _ = v["Description"].(string)
	p.ConstraintDescription, _ = v["ConstraintDescription"].(string)
	p.AllowedPattern, _ = v["AllowedPattern"].(string)
	if _, err := javapattern.Compile(p.AllowedPattern); err != nil {
		return p, wrong("Template format error: AllowedPattern of parameter %s is not a regular expression%s", name, at)
	}
	if text, ok := TextOf(v["Default"]); ok {
		p.Default = &text
	}
	if l, ok := v["AllowedValues"].([]any); ok {
		for _, e := range l {
			text, _ := TextOf(e)
			p.AllowedValues = append(p.AllowedValues, text)
		}
	}
	noEcho, _ := TextOf(v["NoEcho"])
	p.NoEcho = strings.EqualFold(noEcho, "true")
	for field, to := range map[string]**float64{"MinLength": &p.MinLength, "MaxLength": &p.MaxLength,
		"MinValue": &p.MinValue, "MaxValue": &p.MaxValue} {
		text, ok := TextOf(v[field])
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return p, wrong("Template format error: %s of parameter %s must be a number%s", field, name, at)
		}
		*to = &n
	}
	return p, nil
}

func validType(inner string) bool {
	inner = strings.TrimSuffix(strings.TrimPrefix(inner, listPrefix), ">")
	return inner == "String" || inner == "Number" || inner == "CommaDelimitedList" ||
		inner == "AWS::SSM::Parameter::Name" || strings.HasPrefix(inner, "AWS::EC2::") ||
		inner == "AWS::Route53::HostedZone::Id"
}

// TextOf returns the text to which CloudFormation converts a scalar; false for null, lists and objects.
func TextOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// Given is a caller's value for a parameter.
type Given struct {
	Value string
	// Previous means that the value of the last deployment is used.
	Previous bool
}

// Values returns the texts of all parameters: the given ones, those of the last deployment, or the defaults. The
// error is an *Error.
func (t *Template) Values(given map[string]Given, previous map[string]string) (map[string]string, error) {
	declared := map[string]bool{}
	values := map[string]string{}
	var missing []string
	for _, p := range t.Parameters {
		declared[p.Name] = true
		g, ok := given[p.Name]
		switch {
		case ok && g.Previous:
			before, had := previous[p.Name]
			if !had {
				return nil, wrong("Invalid input for parameter key %s. Cannot specify usePreviousValue as true for a parameter key not in the previous template",
					p.Name)
			}
			values[p.Name] = before
		case ok:
			values[p.Name] = g.Value
		case p.Default != nil:
			values[p.Name] = *p.Default
		default:
			missing = append(missing, p.Name)
		}
	}
	var foreign []string
	for name := range given {
		if !declared[name] {
			foreign = append(foreign, name)
		}
	}
	if len(foreign) > 0 {
		sort.Strings(foreign)
		return nil, wrong("Parameters: [%s] do not exist in the template", strings.Join(foreign, ", "))
	}
	if len(missing) > 0 {
		return nil, wrong("Parameters: [%s] must have values", strings.Join(missing, ", "))
	}
	for i := range t.Parameters {
		p := &t.Parameters[i]
		if err := p.check(values[p.Name]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (p *Parameter) check(text string) error {
	if p.SSM() { // the given text is a name; its value has no constraints
		return nil
	}
	refuse := func(e *Error) error {
		if p.ConstraintDescription != "" {
			return wrong("Parameter %s failed to satisfy constraint: %s", p.Name, p.ConstraintDescription)
		}
		return e
	}
	elements := []string{text}
	if p.List() {
		elements = splitList(text)
	}
	for _, e := range elements {
		if len(p.AllowedValues) > 0 && !slices.Contains(p.AllowedValues, e) {
			return refuse(wrong("Parameter '%s' must be one of AllowedValues", p.Name))
		}
		if p.AllowedPattern != "" && !fully(p.AllowedPattern, e) {
			return refuse(wrong("Parameter '%s' must match pattern %s", p.Name, p.AllowedPattern))
		}
		if inner := p.inner(); inner == "Number" || inner == "List<Number>" {
			n, err := strconv.ParseFloat(strings.TrimSpace(e), 64)
			switch {
			case err != nil:
				return wrong("Parameter '%s' must be a number", p.Name)
			case p.MinValue != nil && n < *p.MinValue:
				return refuse(wrong("Parameter '%s' must be a number not less than %v", p.Name, *p.MinValue))
			case p.MaxValue != nil && n > *p.MaxValue:
				return refuse(wrong("Parameter '%s' must be a number not greater than %v", p.Name, *p.MaxValue))
			}
		}
	}
	length := float64(len([]rune(text)))
	if p.MinLength != nil && length < *p.MinLength {
		return refuse(wrong("Parameter '%s' must contain at least %v characters", p.Name, *p.MinLength))
	}
	if p.MaxLength != nil && length > *p.MaxLength {
		return refuse(wrong("Parameter '%s' must contain at most %v characters", p.Name, *p.MaxLength))
	}
	return nil
}

func fully(pattern, text string) bool {
	re, err := javapattern.Compile(pattern)
	return err == nil && re.MatchString(text)
}

func splitList(text string) []string {
	if text == "" {
		return nil
	}
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// Value converts a parameter's text to the value that a Ref to the parameter returns: a string, or a []any of
// strings.
func (p *Parameter) Value(text string) any {
	if !p.List() {
		return text
	}
	elements := []any{}
	for _, e := range splitList(text) {
		elements = append(elements, e)
	}
	return elements
}
