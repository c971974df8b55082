package intrinsic

import (
	"errors"
	"fmt"

	"stepback/asl/jsonvalue"
)

// function is one of the intrinsic functions. One file per family.
type function struct {
	name       string
	parameters []kind
	optional   int  // how many of the last parameters may be left out
	variadic   bool // any number of further arguments of any kind
	result     kind
	eval       func(o *operands) (jsonvalue.Value, error)
}

// kind is what a parameter accepts.
type kind uint8

const (
	anything kind = iota
	text
	number
	boolean
	array
	object
)

var kindNames = [...]string{"any value", "a string", "a number", "a boolean", "an array", "an object"}

func (k kind) String() string { return kindNames[k] }

func (k kind) accepts(v jsonvalue.Value) bool { return k == anything || k == kindOfValue(v) }

func kindOfValue(v jsonvalue.Value) kind {
	switch v.Kind() {
	case jsonvalue.String:
		return text
	case jsonvalue.Number:
		return number
	case jsonvalue.Bool:
		return boolean
	case jsonvalue.Array:
		return array
	case jsonvalue.Object:
		return object
	default:
		return anything
	}
}

// kindOf returns the kind of argument at.
func (f *function) kindOf(at int) kind {
	if at < len(f.parameters) {
		return f.parameters[at]
	}
	return anything
}

// takes describes the number of arguments that the function accepts.
func (f *function) takes() string {
	n := len(f.parameters)
	switch {
	case f.variadic && n == 0:
		return "any number of arguments"
	case f.variadic:
		return fmt.Sprintf("at least %d argument", n)
	case f.optional > 0:
		return fmt.Sprintf("%d or %d arguments", n-f.optional, n)
	case n == 0:
		return "no arguments"
	case n == 1:
		return "1 argument"
	default:
		return fmt.Sprintf("%d arguments", n)
	}
}

func (f *function) acceptsCount(n int) bool {
	return n >= len(f.parameters)-f.optional && (f.variadic || n <= len(f.parameters))
}

// operands are the evaluated arguments of one invocation.
type operands struct {
	values   []jsonvalue.Value
	env      Env
	template *template
}

var errTooLarge = errors.New("the result is larger than 4 MiB")

var functions = byName(
	&function{name: "States.Format", parameters: []kind{text}, variadic: true, result: text, eval: format},
	&function{name: "States.StringToJson", parameters: []kind{text}, eval: stringToJSON},
	&function{name: "States.JsonToString", parameters: []kind{anything}, result: text, eval: jsonToString},
	&function{name: "States.Array", variadic: true, result: array, eval: makeArray},
	&function{name: "States.ArrayPartition", parameters: []kind{array, number}, result: array, eval: arrayPartition},
	&function{name: "States.ArrayContains", parameters: []kind{array, anything}, result: boolean, eval: arrayContains},
	&function{name: "States.ArrayRange", parameters: []kind{number, number, number}, result: array, eval: arrayRange},
	&function{name: "States.ArrayGetItem", parameters: []kind{array, number}, eval: arrayGetItem},
	&function{name: "States.ArrayLength", parameters: []kind{array}, result: number, eval: arrayLength},
	&function{name: "States.ArrayUnique", parameters: []kind{array}, result: array, eval: arrayUnique},
	&function{name: "States.Base64Encode", parameters: []kind{text}, result: text, eval: base64Encode},
	&function{name: "States.Base64Decode", parameters: []kind{text}, result: text, eval: base64Decode},
	&function{name: "States.Hash", parameters: []kind{anything, text}, result: text, eval: hashOf},
	&function{name: "States.JsonMerge", parameters: []kind{object, object, boolean}, result: object, eval: jsonMerge},
	&function{name: "States.MathRandom", parameters: []kind{number, number, number}, optional: 1, result: number, eval: mathRandom},
	&function{name: "States.MathAdd", parameters: []kind{number, number}, result: number, eval: mathAdd},
	&function{name: "States.StringSplit", parameters: []kind{text, text}, result: array, eval: stringSplit},
	&function{name: "States.UUID", result: text, eval: uuid},
)

func byName(list ...*function) map[string]*function {
	m := make(map[string]*function, len(list))
	for _, f := range list {
		m[f.name] = f
	}
	return m
}
