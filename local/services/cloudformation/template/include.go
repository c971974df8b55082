package template

import "slices"

// Include is the name of the transform that inserts snippets from S3.
const Include = "AWS::Include"

// ExpandIncludes inserts the snippets that a document includes: by Fn::Transform in an object, into which the members
// of the snippet go, or by its section Transform, into the document's sections. read returns the text of the snippet at
// a location. found is true if the document includes any. The error is an *Error, or read's. The environment needs
// values and mappings.
func ExpandIncludes(d *Document, e *Env, read func(location string) (string, error)) (found bool, err error) {
	x := &inclusion{env: e, read: read}
	for _, section := range sortedKeys(d.Root) {
		if section == "Transform" || section == "Parameters" {
			continue
		}
		if d.Root[section], err = x.expand(d.Root[section]); err != nil {
			return x.found, err
		}
	}
	declared, isList := d.Root["Transform"].([]any)
	if !isList {
		declared = []any{d.Root["Transform"]}
	}
	for _, t := range declared {
		m, _ := t.(map[string]any)
		if m["Name"] != Include {
			continue
		}
		snippet, err := x.snippet(m)
		if err != nil {
			return x.found, err
		}
		for _, section := range sortedKeys(snippet) {
			into, isMap := d.Root[section].(map[string]any)
			added, alsoMap := snippet[section].(map[string]any)
			if !isMap || !alsoMap {
				if err := merge(d.Root, map[string]any{section: snippet[section]}); err != nil {
					return x.found, err
				}
				continue
			}
			if err := merge(into, added); err != nil {
				return x.found, err
			}
		}
	}
	return x.found, nil
}

type inclusion struct {
	env   *Env
	read  func(location string) (string, error)
	found bool
}

// expand replaces the includes in a value, the deepest first.
func (x *inclusion) expand(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case []any:
		for i := range v {
			if v[i], err = x.expand(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if k == "Fn::Transform" {
				continue
			}
			if v[k], err = x.expand(v[k]); err != nil {
				return nil, err
			}
		}
		transform, ok := v["Fn::Transform"].(map[string]any)
		if !ok || transform["Name"] != Include {
			return v, nil
		}
		snippet, err := x.snippet(transform)
		if err != nil {
			return nil, err
		}
		delete(v, "Fn::Transform")
		return v, merge(v, snippet)
	}
	return v, nil
}

// snippet reads the snippet that a transform includes.
func (x *inclusion) snippet(transform map[string]any) (map[string]any, error) {
	x.found = true
	parameters, _ := transform["Parameters"].(map[string]any)
	v, err := x.env.Evaluate(parameters["Location"])
	if err != nil {
		return nil, err
	}
	location, ok := v.(string)
	if !ok || len(parameters) != 1 {
		return nil, wrong("Transform AWS::Include failed with: The Parameters of the transform must be a Location, the URL of an object in S3")
	}
	text, err := x.read(location)
	if err != nil {
		return nil, err
	}
	d, err := Parse(text)
	if err != nil {
		return nil, wrong("Transform AWS::Include failed with: The content at %s: %v", location, err)
	}
	if includes(d.Root) {
		return nil, wrong("Transform AWS::Include failed with: The content at %s includes other content", location)
	}
	return d.Root, nil
}

// includes reports whether a value has includes itself.
func includes(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, includes)
	case map[string]any:
		for k, e := range v {
			if m, ok := e.(map[string]any); ok && (k == "Fn::Transform" || k == "Transform") && m["Name"] == Include || includes(e) {
				return true
			}
		}
	}
	return false
}

// merge adds the members of a snippet to an object.
func merge(into, snippet map[string]any) error {
	for _, k := range sortedKeys(snippet) {
		if _, twice := into[k]; twice {
			return wrong("Transform AWS::Include failed with: The template and the included content both have the key %s", k)
		}
		into[k] = snippet[k]
	}
	return nil
}
