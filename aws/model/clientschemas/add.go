// Package clientschemas adds to an API model what AWS's client for JavaScript knows and the model does not: operations
// and members of structures that AWS added since. It is for `make refresh-models`.
//
// The clients have fewer details than the models: no constraints and no values of enumerations, and one type for all
// numbers, which become long. So nothing that a model has is changed.
package clientschemas

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepback/aws/model"
)

// Client is one client's schemas, as schemas.mjs prints them.
type Client struct {
	Package    string               `json:"package"`
	Version    string               `json:"version"`
	ServiceID  string               `json:"serviceId"`
	Operations map[string]operation `json:"operations"`
	Shapes     map[string]shape     `json:"shapes"`
}

// Service is the name of the client's service in Resources of AWS SDK integrations.
func (c *Client) Service() string { return model.ServiceName(c.ServiceID) }

type operation struct {
	Traits        traits `json:"traits"`
	Input, Output string
}

// shape is a list (1), a map (2), a structure (3), an error (-3) or a union (4).
type shape struct {
	Kind     int         `json:"kind"`
	Traits   traits      `json:"traits"`
	Key      *reference  `json:"key"`
	Element  *reference  `json:"element"`
	Members  []reference `json:"members"`
	Required []string    `json:"required"`
}

const (
	kindList, kindMap, kindStructure, kindError, kindUnion = 1, 2, 3, -3, 4
)

// reference is a member or an element: the name of a shape, or an inline list, map or simple type.
type reference struct {
	Name            string     `json:"name"`
	Shape           string     `json:"shape"`
	Type            string     `json:"type"`
	TimestampFormat string     `json:"timestampFormat"`
	Streaming       bool       `json:"streaming"`
	List            *reference `json:"list"`
	Map             *reference `json:"map"`
	Traits          traits     `json:"traits"`
}

type traits map[string]any

func (t traits) text(name string) string {
	text, _ := t[name].(string)
	return text
}

// object is a line of a model's file.
type object = map[string]any

// addition is a model that is being extended.
type addition struct {
	client     *Client
	head       object
	operations map[string]object
	shapes     map[string]object
	changed    map[string]bool // lines to be written anew, by "o " or "s " and the name
	done       map[[2]string]bool
	report     []string
}

// Add returns the file of a service with what a client knows in addition, and lists the additions, such as
// "operation PutResourcePolicy" and "member CreateFunctionRequest.TenancyConfig". The file is unchanged if there are none.
func Add(file string, c *Client) (extended string, added []string, err error) {
	a := &addition{client: c, operations: map[string]object{}, shapes: map[string]object{}, changed: map[string]bool{},
		done: map[[2]string]bool{}}
	lines := strings.Split(strings.TrimSuffix(file, "\n"), "\n")
	if err := json.Unmarshal([]byte(lines[0]), &a.head); err != nil {
		return "", nil, err
	}
	for _, line := range lines[1:] {
		parts := strings.SplitN(line, " ", 3)
		if len(parts) != 3 {
			return "", nil, fmt.Errorf("the line %.40q is no part of a model", line)
		}
		var v object
		if err := json.Unmarshal([]byte(parts[2]), &v); err != nil {
			return "", nil, err
		}
		map[string]map[string]object{"o": a.operations, "s": a.shapes}[parts[0]][parts[1]] = v
	}
	for _, name := range slices.Sorted(maps.Keys(c.Operations)) {
		a.operation(name)
	}
	if len(a.report) == 0 {
		return file, nil, nil
	}
	return a.file(lines), a.report, nil
}

// file returns the extended file. Lines without additions stay as they are.
func (a *addition) file(lines []string) string {
	known := map[string]string{}
	for _, line := range lines[1:] {
		parts := strings.SplitN(line, " ", 3)
		known[parts[0]+" "+parts[1]] = line
	}
	a.head["additions"] = a.client.Package + " " + a.client.Version
	made := []string{text(a.head)}
	for _, part := range []struct {
		kind string
		all  map[string]object
	}{{"o ", a.operations}, {"s ", a.shapes}} {
		for _, name := range slices.Sorted(maps.Keys(part.all)) {
			if line, ok := known[part.kind+name]; ok && !a.changed[part.kind+name] {
				made = append(made, line)
			} else {
				made = append(made, part.kind+name+" "+text(part.all[name]))
			}
		}
	}
	return strings.Join(made, "\n") + "\n"
}

func text(v object) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // decoded from JSON, or made of texts and numbers
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// operation adds an operation, or the members that its input and output lack.
func (a *addition) operation(name string) {
	o := a.client.Operations[name]
	if known, ok := a.operations[name]; ok {
		for end, shape := range map[string]string{"input": o.Input, "output": o.Output} {
			ref, _ := known[end].(object)
			if target, ok := ref["shape"].(string); ok && shape != "" {
				a.merge(target, shape)
			}
		}
		return
	}
	made := object{"http": object{"method": "POST", "requestUri": "/"}}
	if http, ok := o.Traits["http"].([]any); ok && len(http) == 3 {
		made["http"] = object{"method": http[0], "requestUri": http[1], "responseCode": http[2]}
	}
	if endpoint, ok := o.Traits["endpoint"].([]any); ok && len(endpoint) > 0 {
		made["hostPrefix"] = endpoint[0]
	}
	if o.Input != "" {
		made["input"] = object{"shape": a.shape(o.Input)}
	}
	if o.Output != "" {
		made["output"] = object{"shape": a.shape(o.Output)}
	}
	a.operations[name] = made
	a.report = append(a.report, "operation "+name)
}

// merge adds the members of a client's structure that the model's does not have, and so on for those below.
func (a *addition) merge(target, source string) {
	pair := [2]string{target, source}
	known, there := a.shapes[target]
	s, ok := a.client.Shapes[source]
	if a.done[pair] || !there || !ok {
		return
	}
	a.done[pair] = true
	part := func(name string, r *reference) {
		if ref, ok := known[name].(object); ok && r != nil && r.Shape != "" {
			a.merge(ref["shape"].(string), r.Shape) //nolint:forcetypeassert // of every reference
		}
	}
	switch s.Kind {
	case kindList:
		part("member", s.Element)
		return
	case kindMap:
		part("value", s.Element)
		return
	}
	members, _ := known["members"].(object)
	if members == nil {
		members = object{}
	}
	for i := range s.Members {
		m := &s.Members[i]
		if ref, ok := members[m.Name].(object); ok {
			if m.Shape != "" {
				a.merge(ref["shape"].(string), m.Shape) //nolint:forcetypeassert // of every reference
			}
			continue
		}
		members[m.Name] = a.member(m)
		known["members"] = members
		a.changed["s "+target] = true
		a.report = append(a.report, "member "+target+"."+m.Name)
	}
}

// member returns a reference to the shape of a member.
func (a *addition) member(m *reference) object {
	made := object{"shape": a.target(m)}
	locate := func(location, name string) { made["location"], made["locationName"] = location, name }
	for trait := range m.Traits {
		switch trait {
		case "httpLabel":
			locate("uri", m.Name)
		case "httpQuery":
			locate("querystring", m.Traits.text(trait))
		case "httpQueryParams":
			made["location"] = "querystring"
		case "httpHeader":
			locate("header", m.Traits.text(trait))
		case "httpPrefixHeaders":
			locate("headers", m.Traits.text(trait))
		case "httpResponseCode":
			made["location"] = "statusCode"
		case "jsonName", "xmlName":
			made["locationName"] = m.Traits.text(trait)
		case "xmlFlattened":
			made["flattened"] = true
		case "xmlAttribute":
			made["xmlAttribute"] = true
		case "idempotencyToken":
			made["idempotencyToken"] = true
		}
	}
	return made
}

// target returns the name of the shape that a reference names or describes.
func (a *addition) target(r *reference) string {
	switch {
	case r.Shape != "":
		return a.shape(r.Shape)
	case r.List != nil:
		return a.plain("ListOf"+a.target(r.List), object{"type": "list", "member": object{"shape": a.target(r.List)}})
	case r.Map != nil:
		key := a.target(&reference{Type: "string"})
		return a.plain("MapOf"+a.target(r.Map), object{"type": "map", "key": object{"shape": key}, "value": object{"shape": a.target(r.Map)}})
	}
	made := object{"type": r.Type}
	name := "Plain" + strings.ToUpper(r.Type[:1]) + r.Type[1:]
	switch {
	case r.Type == "number":
		made["type"] = "long"
	case r.Type == "document":
		made["type"], made["document"] = "structure", true
	case r.TimestampFormat != "":
		made["timestampFormat"] = r.TimestampFormat
		name += "By" + r.TimestampFormat
	case r.Streaming:
		made["streaming"] = true
		name += "Stream"
	}
	return a.plain(name, made)
}

// plain adds a shape that the client does not name.
func (a *addition) plain(name string, v object) string {
	if _, ok := a.shapes[name]; !ok {
		a.shapes[name] = v
	}
	return name
}

// shape adds a shape of the client, or what the model's shape of this name lacks.
func (a *addition) shape(name string) string {
	if _, ok := a.shapes[name]; ok {
		a.merge(name, name)
		return name
	}
	s := a.client.Shapes[name]
	made := object{}
	a.shapes[name] = made // before its parts, which may refer to it
	switch s.Kind {
	case kindList:
		made["type"], made["member"] = "list", a.member(s.Element)
		return name
	case kindMap:
		made["type"], made["key"], made["value"] = "map", a.member(s.Key), a.member(s.Element)
		return name
	case kindUnion:
		if _, streams := s.Traits["streaming"]; streams {
			made["eventstream"] = true
		} else {
			made["union"] = true
		}
	case kindError:
		made["exception"] = true
		if status, ok := s.Traits["httpError"]; ok {
			made["error"] = object{"httpStatusCode": status, "senderFault": s.Traits.text("error") == "client"}
		}
	}
	made["type"] = "structure"
	members := object{}
	for i := range s.Members {
		m := &s.Members[i]
		members[m.Name] = a.member(m)
		if _, ok := m.Traits["httpPayload"]; ok {
			made["payload"] = m.Name
		}
	}
	if len(members) > 0 {
		made["members"] = members
	}
	if len(s.Required) > 0 {
		made["required"] = s.Required
	}
	return name
}
