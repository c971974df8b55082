package template

import (
	"slices"
	"strings"

	"stepback/internal/lazyregexp"
)

// LanguageExtensions is the name of the transform that Expand performs.
const LanguageExtensions = "AWS::LanguageExtensions"

const forEach = "Fn::ForEach::"

// maxLoops is the maximum number of copies that Fn::ForEach may create.
const maxLoops = 10_000

// Expand replaces the Fn::ForEach of a document that declares AWS::LanguageExtensions; other documents are not
// changed. values are the values of the parameters. The error is an *Error.
func Expand(d *Document, values map[string]any) error {
	if !slices.Contains(TransformsOf(d), LanguageExtensions) {
		return nil
	}
	mappings, _ := d.Root["Mappings"].(map[string]any)
	x := &expansion{env: &Env{Values: values, Mappings: mappings, Extensions: true}}
	for _, section := range []string{"Conditions", "Resources", "Outputs"} {
		v, ok := d.Root[section]
		if !ok {
			continue
		}
		expanded, err := x.expand(v, nil)
		if err != nil {
			return err
		}
		d.Root[section] = expanded
	}
	return nil
}

type expansion struct {
	env   *Env
	loops int
}

func (x *expansion) expand(v any, names map[string]string) (any, error) {
	switch v := v.(type) {
	case string:
		return replaceNames(v, names), nil
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			r, err := x.expand(e, names)
			if err != nil {
				return nil, err
			}
			l[i] = r
		}
		return l, nil
	case map[string]any:
		if name, ok := v["Ref"].(string); ok && len(v) == 1 {
			if value, ok := names[name]; ok {
				return value, nil
			}
		}
		m := map[string]any{}
		for _, k := range sortedKeys(v) {
			if strings.HasPrefix(k, forEach) {
				made, err := x.loop(k, v[k], names)
				if err != nil {
					return nil, err
				}
				for mk, mv := range made {
					if _, ok := m[mk]; ok {
						return nil, wrong("Template error: %s makes the key %s twice", k, mk)
					}
					m[mk] = mv
				}
				continue
			}
			r, err := x.expand(v[k], names)
			if err != nil {
				return nil, err
			}
			m[replaceNames(k, names)] = r
		}
		return m, nil
	}
	return v, nil
}

func (x *expansion) loop(key string, v any, names map[string]string) (map[string]any, error) {
	l, ok := v.([]any)
	if !ok || len(l) != 3 {
		return nil, wrong("Template error: %s needs an identifier, a collection and a template", key)
	}
	identifier, isName := l[0].(string)
	body, isBody := l[2].(map[string]any)
	if !isName || !isBody {
		return nil, wrong("Template error: %s needs an identifier, a collection and a template", key)
	}
	replaced, err := x.expand(l[1], names)
	if err != nil {
		return nil, err
	}
	collection, err := x.env.Evaluate(replaced)
	if err != nil {
		return nil, err
	}
	elements, ok := collection.([]any)
	if !ok {
		return nil, wrong("Template error: the collection of %s must be a list", key)
	}
	made := map[string]any{}
	for _, e := range elements {
		if x.loops++; x.loops > maxLoops {
			return nil, wrong("Template error: Fn::ForEach goes round more than %d times", maxLoops)
		}
		text, ok := TextOf(e)
		if !ok {
			return nil, wrong("Template error: the collection of %s must have strings", key)
		}
		inner := map[string]string{identifier: text}
		for k, n := range names {
			if _, ok := inner[k]; !ok {
				inner[k] = n
			}
		}
		r, err := x.expand(body, inner)
		if err != nil {
			return nil, err
		}
		m, _ := r.(map[string]any)
		for k, value := range m {
			if _, ok := made[k]; ok {
				return nil, wrong("Template error: %s makes the key %s twice", key, k)
			}
			made[k] = value
		}
	}
	return made, nil
}

var identifiers = lazyregexp.New(`([$&])\{([A-Za-z0-9]+)\}`)

// alphanumeric matches the characters that &{Name} removes from a value.
var alphanumeric = lazyregexp.New(`[^A-Za-z0-9]`)

// replaceNames replaces ${Name} and &{Name} for the identifiers of loops; other names are left for Fn::Sub.
func replaceNames(text string, names map[string]string) string {
	if len(names) == 0 || !strings.Contains(text, "{") {
		return text
	}
	return identifiers.ReplaceAllStringFunc(text, func(found string) string {
		parts := identifiers.FindStringSubmatch(found)
		value, ok := names[parts[2]]
		switch {
		case !ok:
			return found
		case parts[1] == "&":
			return alphanumeric.ReplaceAllString(value, "")
		}
		return value
	})
}
