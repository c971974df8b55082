package asl

import (
	"slices"
	"strings"

	"stepback/jsonvalue"
)

// object reads the members of one JSON object of the definition. It reports missing and unknown members and wrong
// types, and returns only members that are allowed.
type object struct {
	d        *decoder
	value    jsonvalue.Value
	fields   *fields
	language QueryLanguage
}

// object checks that the value at the current path is an object and that it has only the allowed members.
func (d *decoder) object(v jsonvalue.Value, allowed *fields, language QueryLanguage) (object, bool) {
	if v.Kind() != jsonvalue.Object {
		d.expect("Object", v)
		return object{}, false
	}
	o := object{d: d, value: v, fields: allowed, language: language}
	d.accepts(func(a *Accepted) { a.Fields, a.Language = allowed.in(language), language })
	for _, key := range v.Keys() {
		o.checkName(key)
	}
	return o, true
}

func (o object) checkName(key string) {
	only, known := o.fields.language[key]
	switch {
	case !known:
		o.d.fail("Field '%s' is not supported", key).onKey(key).hint(o.fields.suggest(key, o.language))
	case only != "" && only != o.language:
		o.d.fail("The QueryLanguage is set to '%s', but field '%s' is only supported for the '%s' QueryLanguage",
			o.language, key, only).onKey(key).hint(counterpart(key, o.language))
	}
}

// get returns a member if it exists and is allowed.
func (o object) get(key string) (jsonvalue.Value, bool) {
	if only, known := o.fields.language[key]; !known || only != "" && only != o.language {
		return jsonvalue.Value{}, false
	}
	return o.value.Get(key)
}

func (o object) has(key string) bool {
	_, ok := o.get(key)
	return ok
}

// present returns the given keys that exist.
func (o object) present(keys []string) []string {
	var found []string
	for _, k := range keys {
		if o.has(k) {
			found = append(found, k)
		}
	}
	return found
}

// require reports keys that are missing. It returns true if all exist.
func (o object) require(keys ...string) bool { return o.requireFor("", keys...) }

// requireFor is like require, but adds a hint about the missing keys.
func (o object) requireFor(hint string, keys ...string) bool {
	missing := slices.DeleteFunc(slices.Clone(keys), o.has)
	if len(missing) == 0 {
		return true
	}
	o.d.fail("These fields are required: [%s]", strings.Join(missing, ", ")).hint(hint)
	return false
}

// atMostOne reports an error if more than one of the keys exists.
func (o object) atMostOne(keys ...string) {
	if found := o.present(keys); len(found) > 1 {
		o.d.fail("There should only be one of the following fields: [%s]", strings.Join(keys, ", ")).onKey(found[1])
	}
}

// exactlyOne reports an error if none or several of the keys exist. Keys of the other query language do not count.
func (o object) exactlyOne(keys ...string) {
	keys = slices.DeleteFunc(keys, func(k string) bool {
		only := o.fields.language[k]
		return only != "" && only != o.language
	})
	if len(o.present(keys)) == 0 {
		o.d.fail("This object should have only one of the following fields: [%s]", strings.Join(keys, ", "))
	}
	o.atMostOne(keys...)
}

// str reads a string. It returns "" if the member is absent or invalid.
func (o object) str(key string) string {
	v, ok := o.get(key)
	if !ok {
		return ""
	}
	if v.Kind() != jsonvalue.String {
		o.d.enter(key)
		o.d.expect("String", v)
		o.d.leave()
		return ""
	}
	return v.Text()
}

// filled reads a string that must not be empty.
func (o object) filled(key string) string {
	s := o.str(key)
	if v, ok := o.get(key); ok && s == "" && v.Kind() == jsonvalue.String {
		o.d.enter(key)
		o.d.fail("Value cannot be empty")
		o.d.leave()
	}
	return s
}

// choice reads a string that must be one of the values.
func (o object) choice(key string, values ...string) string {
	s := o.str(key)
	o.d.acceptsIn(key, func(a *Accepted) { a.Values, a.Language = values, o.language })
	if v, ok := o.get(key); !ok || v.Kind() != jsonvalue.String || slices.Contains(values, s) {
		return s
	}
	o.d.enter(key)
	o.d.fail("Value should be one of the following: [%s]", strings.Join(values, ", ")).hint(didYouMean(s, values))
	o.d.leave()
	return ""
}

func (o object) boolean(key string) bool {
	v, ok := o.get(key)
	if ok && v.Kind() != jsonvalue.Bool {
		o.d.enter(key)
		o.d.expect("Boolean", v)
		o.d.leave()
	}
	return v.Bool()
}

// integer reads a whole number within the limits; it returns the fallback if the member is absent.
func (o object) integer(key string, within limits, fallback int64) int64 {
	v, ok := o.get(key)
	if !ok {
		return fallback
	}
	o.d.enter(key)
	defer o.d.leave()
	within.check(o.d, v)
	i, _ := v.Int()
	return i
}

// each calls read for every element of an array. The current path is then that of the element.
func (o object) each(key string, read func(i int, v jsonvalue.Value)) {
	array, ok := o.get(key)
	if !ok {
		return
	}
	o.d.enter(key)
	defer o.d.leave()
	if array.Kind() != jsonvalue.Array {
		o.d.expect("Array", array)
		return
	}
	for i, v := range array.Elements() {
		o.d.enterElement(i)
		read(i, v)
		o.d.leave()
	}
}

// notEmpty reports an empty array or object.
func (o object) notEmpty(key string) bool {
	v, ok := o.get(key)
	if !ok || v.Len() > 0 || v.Kind() != jsonvalue.Array && v.Kind() != jsonvalue.Object {
		return ok
	}
	o.d.enter(key)
	o.d.fail("Value cannot be empty")
	o.d.leave()
	return false
}
