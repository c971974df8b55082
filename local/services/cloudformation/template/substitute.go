package template

import (
	"strings"
)

func (e *Env) sub(arg any) (any, error) {
	const what = "One or more Fn::Sub intrinsic functions don't specify expected arguments. Specify a string as first argument, and an optional second argument to specify a mapping of values to replace in the string"
	text, isText := arg.(string)
	variables := map[string]any{}
	if !isText {
		l, ok := arg.([]any)
		if !ok || len(l) != 2 {
			return nil, wrong("Template error: %s", what)
		}
		if text, ok = l[0].(string); !ok {
			return nil, wrong("Template error: %s", what)
		}
		if variables, ok = l[1].(map[string]any); !ok {
			return nil, wrong("Template error: %s", what)
		}
	}
	var b strings.Builder
	for text != "" {
		start := strings.Index(text, "${")
		if start < 0 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:start])
		end := strings.IndexByte(text[start:], '}')
		if end < 0 {
			b.WriteString(text[start:])
			break
		}
		name := text[start+2 : start+end]
		text = text[start+end+1:]
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			b.WriteString("${" + literal + "}")
			continue
		}
		name = strings.TrimSpace(name)
		v, err := e.placeholder(name, variables)
		if err != nil {
			return nil, err
		}
		if u, ok := v.(Unknown); ok {
			return u, nil
		}
		s, ok := TextOf(v)
		if !ok {
			return nil, wrong("Template error: variable %s in Fn::Sub expression does not resolve to a string", name)
		}
		b.WriteString(s)
	}
	return e.dynamic(b.String())
}

func (e *Env) placeholder(name string, variables map[string]any) (any, error) {
	if v, ok := variables[name]; ok {
		return e.value(v)
	}
	if id, attribute, ok := strings.Cut(name, "."); ok {
		return e.getAtt([]any{id, attribute})
	}
	return e.ref(name)
}

// placeholders returns the names in a text of Fn::Sub.
func placeholders(text string) []string {
	var names []string
	for {
		start := strings.Index(text, "${")
		if start < 0 {
			return names
		}
		end := strings.IndexByte(text[start:], '}')
		if end < 0 {
			return names
		}
		if name := text[start+2 : start+end]; !strings.HasPrefix(name, "!") {
			names = append(names, strings.TrimSpace(name))
		}
		text = text[start+end+1:]
	}
}

const dynamicPrefix = "{{resolve:"

// dynamic replaces the dynamic references in a text.
func (e *Env) dynamic(text string) (any, error) {
	if e.Dynamic == nil || !strings.Contains(text, dynamicPrefix) {
		return text, nil
	}
	var b strings.Builder
	for {
		start := strings.Index(text, dynamicPrefix)
		if start < 0 {
			break
		}
		end := strings.Index(text[start:], "}}")
		if end < 0 {
			break
		}
		service, key, ok := strings.Cut(text[start+len(dynamicPrefix):start+end], ":")
		if !ok {
			return nil, wrong("Template error: Incorrect format is used in the following SSM reference: [%s]",
				text[start:start+end+2])
		}
		v, err := e.Dynamic(service, key)
		if err != nil {
			return nil, err
		}
		b.WriteString(text[:start] + v)
		text = text[start+end+2:]
	}
	b.WriteString(text)
	return b.String(), nil
}
