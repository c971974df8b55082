package asl

import (
	"unicode"
	"unicode/utf8"

	"stepback/jsonvalue"
)

// assign decodes an Assign field.
func (d *decoder) assign(o object, readable statesParts) *jsonvalue.Value {
	v, ok := o.get("Assign")
	if !ok {
		return nil
	}
	if v.Kind() != jsonvalue.Object {
		d.enter("Assign")
		if _, opened := expression(v.Text()); o.language == JSONata && opened {
			d.fail("Expected value of type Object").hint(`name each variable: {"total": "{% … %}"}`)
		} else {
			d.expect("Object", v)
		}
		d.leave()
		return nil
	}
	d.enter("Assign")
	for _, key := range v.Keys() {
		d.variable(key, o.language)
	}
	d.leave()
	return o.template("Assign", readable)
}

func (d *decoder) variable(key string, language QueryLanguage) {
	switch name := variableName(key, language); {
	case name == "states":
		d.report(SeverityError, ReservedVariableName, "Cannot assign to reserved variable '$states'.").onKey(key)
	case utf8.RuneCountInString(name) > maxNameLength:
		d.report(SeverityError, InvalidVariableName,
			"Invalid variable name '"+name+"': the variable name exceeds 80 characters.").onKey(key)
	case !isName(name):
		d.report(SeverityError, InvalidVariableName,
			"Invalid variable name '"+name+"': the variable name contains invalid characters.").onKey(key).
			hint("a letter, then letters, digits and underscores; a whole variable is assigned, never a part of it")
	}
}

// isName reports whether s can be the name of a variable: Unicode ID_Start, then ID_Continue.
func isName(s string) bool {
	for i, r := range s {
		if i == 0 && !isNameStart(r) || !isNamePart(r) {
			return false
		}
	}
	return s != ""
}

func isNameStart(r rune) bool {
	return unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Other_ID_Start)
}

func isNamePart(r rune) bool {
	return isNameStart(r) || unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc, unicode.Other_ID_Continue)
}
