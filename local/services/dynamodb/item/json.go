package item

import (
	"encoding/base64"
	"errors"
	"strings"

	"stepback/jsonvalue"
)

// MaxDepth is the maximum number of levels of a value: 31 lists and maps around a scalar, as measured at AWS.
const MaxDepth = 32

const invalidParameter = "One or more parameter values were invalid: "

const (
	errEmpty = Invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	errMany  = Invalid("Supplied AttributeValue has more than one datatypes set, " +
		"must contain exactly one of the supported datatypes")
	errDepth = Invalid("Nesting Levels have exceeded supported limits: Attributes in the item " +
		"have nested levels beyond supported limit")
	errNull       = Invalid(invalidParameter + "Null attribute value types must have the value of true")
	errSetMember  = Invalid(invalidParameter + "An string set may not have a empty string as a member")
	errDuplicates = Invalid("Input collection contains duplicates")
	errValueType  = Invalid("Unexpected value type in payload")
)

// ErrBase64 is returned for a binary value that is not in base64.
var ErrBase64 = errors.New("the binary value is not in base64")

// FromJSON parses an attribute value in the API's form: {"S": "text"}.
func FromJSON(v jsonvalue.Value) (Value, error) { return fromJSON(v, 0) }

// AttributesFromJSON parses the attributes of an item.
func AttributesFromJSON(v jsonvalue.Value) (Item, error) {
	if v.Kind() == jsonvalue.Object {
		for _, name := range v.Keys() {
			if err := CheckName(name); err != nil {
				return nil, err
			}
		}
	}
	return itemFromJSON(v, 0)
}

// maxNameBytes is the maximum length of an attribute's name.
const maxNameBytes = 65535

// CheckName returns an error if no attribute can have a name.
func CheckName(name string) error {
	switch {
	case name == "":
		return Invalid("Empty attribute name")
	case len(name) > maxNameBytes:
		return Invalid("Attribute name is too large, must be less than 65536 bytes")
	}
	return nil
}

func itemFromJSON(v jsonvalue.Value, depth int) (Item, error) {
	if v.Kind() != jsonvalue.Object {
		return nil, errValueType
	}
	made := make(Item, v.Len())
	for i, name := range v.Keys() {
		value, err := fromJSON(v.At(i), depth)
		if err != nil {
			return nil, err
		}
		made[name] = value
	}
	return made, nil
}

func fromJSON(v jsonvalue.Value, depth int) (Value, error) {
	if v.Kind() != jsonvalue.Object {
		return Value{}, errValueType
	}
	made := Value{}
	for i, name := range v.Keys() {
		kind, member := KindOf(name), v.At(i)
		if kind == KindNone || member.IsNull() {
			continue
		}
		value, err := typed(kind, member, depth)
		switch {
		case err != nil:
			return Value{}, err
		case made.Kind != KindNone:
			return Value{}, errMany
		}
		made = value
	}
	if made.Kind == KindNone {
		return Value{}, errEmpty
	}
	return made, nil
}

func typed(kind Kind, v jsonvalue.Value, depth int) (Value, error) {
	if depth >= MaxDepth {
		return Value{}, errDepth
	}
	want := jsonvalue.String
	switch kind {
	case KindBool, KindNull:
		want = jsonvalue.Bool
	case KindMap:
		want = jsonvalue.Object
	case KindList, KindStringSet, KindNumberSet, KindBinarySet:
		want = jsonvalue.Array
	default:
	}
	if v.Kind() != want {
		return Value{}, errValueType
	}
	switch kind {
	case KindBool:
		return Value{Kind: kind, Bool: v.Bool()}, nil
	case KindNull:
		if !v.Bool() {
			return Value{}, errNull
		}
		return Value{Kind: kind}, nil
	case KindMap:
		members, err := itemFromJSON(v, depth+1)
		return Value{Kind: kind, Map: members}, err
	case KindList:
		elements := make([]Value, v.Len())
		for i, e := range v.Elements() {
			var err error
			if elements[i], err = fromJSON(e, depth+1); err != nil {
				return Value{}, err
			}
		}
		return Value{Kind: kind, List: elements}, nil
	case KindStringSet, KindNumberSet, KindBinarySet:
		return setFromJSON(kind, v.Elements())
	default:
		return scalar(kind, v.Text())
	}
}

func scalar(kind Kind, text string) (Value, error) {
	switch kind {
	case KindNumber:
		return Number(text)
	case KindBinary:
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return Value{}, ErrBase64
		}
		return Value{Kind: kind, Text: string(b)}, nil
	default:
		return Value{Kind: kind, Text: text}, nil
	}
}

func setFromJSON(kind Kind, elements []jsonvalue.Value) (Value, error) {
	if len(elements) == 0 {
		return Value{}, Invalid(invalidParameter + map[Kind]string{
			KindStringSet: "An string set  may not be empty", KindNumberSet: "An number set  may not be empty",
			KindBinarySet: "Binary sets should not be empty"}[kind])
	}
	made, shown := make([]Value, len(elements)), make([]string, len(elements))
	for i, e := range elements {
		if e.Kind() != jsonvalue.String {
			return Value{}, errValueType
		}
		var err error
		if made[i], err = scalar(kind.Element(), e.Text()); err != nil {
			return Value{}, err
		}
		if kind != KindNumberSet && made[i].Text == "" {
			if kind == KindBinarySet {
				return Value{}, Invalid(invalidParameter + "Binary sets may not contain empty values")
			}
			return Value{}, errSetMember
		}
		shown[i] = e.Text()
	}
	set := Set(kind, made)
	if len(set.List) == len(made) {
		return set, nil
	}
	all := "[" + strings.Join(shown, ", ") + "]"
	switch kind {
	case KindStringSet:
		return Value{}, Invalid(invalidParameter + "Input collection " + all + " contains duplicates.")
	case KindBinarySet:
		return Value{}, Invalid(invalidParameter + "Input collection " + all + "of type BS contains duplicates.")
	default:
		return Value{}, errDuplicates
	}
}

// AppendJSON appends the value in the API's form.
func (v Value) AppendJSON(dst []byte) []byte {
	if v.Kind == KindNone {
		return append(dst, "null"...)
	}
	dst = append(append(append(dst, `{"`...), kindNames[v.Kind]...), `":`...)
	switch v.Kind {
	case KindBool:
		if v.Bool {
			dst = append(dst, "true"...)
		} else {
			dst = append(dst, "false"...)
		}
	case KindNull:
		dst = append(dst, "true"...)
	case KindMap:
		dst = v.Map.AppendJSON(dst)
	case KindList:
		dst = append(dst, '[')
		for i, e := range v.List {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.AppendJSON(dst)
		}
		dst = append(dst, ']')
	case KindStringSet, KindNumberSet, KindBinarySet:
		dst = append(dst, '[')
		for i, e := range v.List {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.appendText(dst)
		}
		dst = append(dst, ']')
	default:
		dst = v.appendText(dst)
	}
	return append(dst, '}')
}

// appendText appends the text of a string, a number or a binary value, in quotes.
func (v Value) appendText(dst []byte) []byte {
	if v.Kind != KindBinary {
		return jsonvalue.AppendQuoted(dst, v.Text)
	}
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, []byte(v.Text))
	return append(dst, '"')
}

// AppendJSON appends the item in the API's form, with attributes sorted by name.
func (i Item) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for n, name := range i.Names() {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonvalue.AppendQuoted(dst, name), ':')
		dst = i[name].AppendJSON(dst)
	}
	return append(dst, '}')
}

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// MarshalJSON implements json.Marshaler.
func (i Item) MarshalJSON() ([]byte, error) { return i.AppendJSON(nil), nil }

// Shown formats a scalar as in messages: {S:text}.
func (v Value) Shown() string {
	text := v.Text
	switch v.Kind {
	case KindBool:
		text = "false"
		if v.Bool {
			text = "true"
		}
	case KindNull:
		text = "true"
	case KindStringSet, KindNumberSet, KindBinarySet:
		parts := make([]string, 0, len(v.List))
		for _, e := range v.List {
			parts = append(parts, e.Text)
		}
		text = "[" + strings.Join(parts, ", ") + "]"
	default:
	}
	return "{" + v.Kind.String() + ":" + text + "}"
}
