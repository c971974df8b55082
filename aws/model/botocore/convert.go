// Package botocore converts botocore's API models (service-2.json) to the format of package model: one line of
// metadata, and a line for each operation and shape. It is for `make models` and for tests with their own models.
package botocore

import (
	"errors"
	"slices"
	"strings"

	"stepback/aws/model"
	"stepback/jsonvalue"
)

// The members of a model that are kept. All others are documentation, or features not used here.
var (
	ofMetadata = []string{
		"serviceId", "serviceFullName", "endpointPrefix", "signingName", "targetPrefix", "jsonVersion", "apiVersion",
		"xmlNamespace", "signatureVersion", "awsQueryCompatible",
	}
	ofOperation = []string{
		"http", "input", "output", "authtype", "unsignedPayload", "httpChecksum", "httpChecksumRequired", "deprecated",
	}
	ofShape = []string{
		"type", "required", "union", "document", "sparse", "flattened", "streaming", "requiresLength", "eventstream",
		"sensitive", "pattern", "timestampFormat", "locationName", "xmlNamespace", "enum", "min", "max", "exception",
		"fault", "error", "payload",
	}
	ofMember = []string{
		"shape", "location", "locationName", "queryName", "idempotencyToken", "jsonvalue", "hostLabel", "streaming",
		"flattened", "xmlAttribute", "xmlNamespace",
	}
)

// Convert converts a service-2.json to the file of one service, which model.Parse can read. name is the service's
// name in Resources of AWS SDK integrations.
func Convert(source string) (name, file string, err error) {
	v, err := jsonvalue.Parse(source)
	if err != nil {
		return "", "", err
	}
	metadata := member(v, "metadata")
	id := member(metadata, "serviceId").Text()
	if id == "" {
		return "", "", errors.New("the model has no serviceId")
	}
	operations, shapes := member(v, "operations"), member(v, "shapes")
	thrown := exceptions(operations, shapes)
	head := kept(metadata, ofMetadata).With("protocols", protocols(metadata)).With("errors", codes(thrown, shapes))
	lines := []string{head.JSON()}
	for _, o := range slices.Sorted(slices.Values(operations.Keys())) {
		lines = append(lines, "o "+o+" "+operation(member(operations, o)).JSON())
	}
	for _, s := range slices.Sorted(slices.Values(shapes.Keys())) {
		made := shape(member(shapes, s))
		if slices.Contains(thrown, s) {
			made = made.With("exception", jsonvalue.OfBool(true))
		}
		lines = append(lines, "s "+s+" "+made.JSON())
	}
	return model.ServiceName(id), strings.Join(lines, "\n") + "\n", nil
}

func member(v jsonvalue.Value, name string) jsonvalue.Value {
	m, _ := v.Get(name)
	return m
}

// kept returns an object with only the named members.
func kept(v jsonvalue.Value, names []string) jsonvalue.Value {
	b := jsonvalue.NewObject(len(names))
	for i, name := range v.Keys() {
		if e := v.At(i); slices.Contains(names, name) && (e.Kind() != jsonvalue.Bool || e.Bool()) {
			b.Set(name, e)
		}
	}
	return b.Value()
}

// protocols lists the service's protocols; older models have only one.
func protocols(metadata jsonvalue.Value) jsonvalue.Value {
	if all := member(metadata, "protocols"); all.Len() > 0 {
		return all
	}
	return jsonvalue.OfArray([]jsonvalue.Value{member(metadata, "protocol")})
}

// exceptions lists the shapes that are errors: those marked as such, and those that operations list as errors.
func exceptions(operations, shapes jsonvalue.Value) []string {
	found := map[string]bool{}
	for i, name := range shapes.Keys() {
		s := shapes.At(i)
		if member(s, "exception").Bool() || member(s, "fault").Bool() {
			found[name] = true
		}
	}
	for _, o := range operations.Elements() {
		for _, e := range member(o, "errors").Elements() {
			found[member(e, "shape").Text()] = true
		}
	}
	var names []string
	for _, name := range shapes.Keys() {
		if found[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// codes maps the codes of errors to the names of their shapes, where they differ.
func codes(thrown []string, shapes jsonvalue.Value) jsonvalue.Value {
	b := jsonvalue.NewObject(len(thrown))
	for _, name := range thrown {
		if code := member(member(member(shapes, name), "error"), "code").Text(); code != "" && code != name {
			b.Set(code, jsonvalue.OfString(name))
		}
	}
	for _, name := range thrown {
		b.Set(name, jsonvalue.OfString(name))
	}
	return b.Value()
}

func operation(o jsonvalue.Value) jsonvalue.Value {
	made := kept(o, ofOperation)
	for _, end := range []string{"input", "output"} {
		if ref := member(o, end); !ref.IsNull() {
			made = made.With(end, kept(ref, []string{"shape", "locationName", "xmlNamespace"}))
		}
	}
	if prefix := member(member(o, "endpoint"), "hostPrefix"); !prefix.IsNull() {
		made = made.With("hostPrefix", prefix)
	}
	if !member(o, "requestcompression").IsNull() {
		made = made.With("gzip", jsonvalue.OfBool(true))
	}
	thrown := member(o, "errors").Elements()
	errs := make([]jsonvalue.Value, 0, len(thrown))
	for _, e := range thrown {
		errs = append(errs, member(e, "shape"))
	}
	if len(errs) > 0 {
		made = made.With("errors", jsonvalue.OfArray(errs))
	}
	return made
}

func shape(s jsonvalue.Value) jsonvalue.Value {
	made := kept(s, ofShape)
	if all := member(s, "members"); all.Len() > 0 {
		b := jsonvalue.NewObject(all.Len())
		for i, name := range all.Keys() {
			b.Set(name, kept(all.At(i), ofMember))
		}
		made = made.With("members", b.Value())
	}
	for _, part := range []string{"member", "key", "value"} {
		if ref := member(s, part); !ref.IsNull() {
			made = made.With(part, kept(ref, ofMember))
		}
	}
	return made
}
