package jsonata

import (
	"strings"
)

// parameter is one parameter of a signature. It holds the type symbols that it accepts, and how many arguments it
// takes.
type parameter struct {
	types    string
	optional bool
	many     bool
	// context is true if the context replaces a missing argument.
	context bool
	array   bool
	subtype string
}

// signature checks the arguments of a call, and completes missing ones.
type signature struct {
	definition string
	parameters []parameter
}

const anyType = "asnblfom"

// parseSignature reads a signature such as <s-(sf)n?:a<s>>. The position of an error is relative to its start.
func parseSignature(text string) (*signature, *Error) {
	s := &signature{definition: text}
	kind := byte(0)
	for i := 1; i < len(text) && text[i] != ':'; i++ {
		last := len(s.parameters) - 1
		switch c := text[i]; c {
		case 's', 'n', 'b', 'l', 'o':
			s.parameters = append(s.parameters, parameter{types: string(c) + "m"})
			kind = c
		case 'a', 'x':
			s.parameters = append(s.parameters, parameter{types: anyType, array: c == 'a'})
			kind = c
		case 'f':
			s.parameters = append(s.parameters, parameter{types: "f"})
			kind = c
		case 'j':
			s.parameters = append(s.parameters, parameter{types: "asnblom"})
			kind = c
		case '(':
			end := closingBracket(text, i, '(', ')')
			choice := text[i+1 : end]
			if strings.Contains(choice, "<") {
				return nil, &Error{Code: "S0402", Position: i, value: choice}
			}
			s.parameters = append(s.parameters, parameter{types: choice + "m"})
			kind = c
			i = end
		case '<':
			if kind != 'a' && kind != 'f' {
				return nil, &Error{Code: "S0401", Position: i}
			}
			end := closingBracket(text, i, '<', '>')
			s.parameters[last].subtype = text[i+1 : end]
			i = end
		default:
			if last >= 0 {
				s.parameters[last].modify(c)
			}
		}
	}
	return s, nil
}

func (p *parameter) modify(c byte) {
	switch c {
	case '-':
		p.context, p.optional = true, true
	case '?':
		p.optional = true
	case '+':
		p.many = true
	}
}

// closingBracket returns the position of the bracket that closes the one at start, or the last position of the text.
func closingBracket(text string, start int, opening, closing byte) int {
	depth := 0
	for i := start; i < len(text); i++ {
		switch text[i] {
		case opening:
			depth++
		case closing:
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return len(text) - 1
}

// typeSymbol returns the letter that signatures use for a value's type; m for a missing (undefined) value.
func typeSymbol(v value) byte {
	switch v.(type) {
	case nil:
		return 'm'
	case string:
		return 's'
	case float64:
		return 'n'
	case bool:
		return 'b'
	case null:
		return 'l'
	case *array:
		return 'a'
	case *object, *tuple:
		return 'o'
	default:
		return 'f'
	}
}

// counts matches the types of all arguments against the parameters from number i on. It returns the number of
// arguments that each parameter takes. Like a regular expression, it matches greedily and backtracks.
func (s *signature) counts(types string, i int, anchored bool) ([]int, bool) {
	if i == len(s.parameters) {
		return nil, types == "" || !anchored
	}
	p := &s.parameters[i]
	most := 0
	for most < len(types) && strings.IndexByte(p.types, types[most]) >= 0 && (most == 0 || p.many) {
		most++
	}
	least := 1
	if p.optional {
		least = 0
	}
	for n := most; n >= least; n-- {
		if rest, ok := s.counts(types[n:], i+1, anchored); ok {
			return append([]int{n}, rest...), true
		}
	}
	return nil, false
}

// validate returns the arguments in the form that the function expects. It replaces a missing argument by the
// context, and wraps a single value where an array is required.
func (s *signature) validate(args []value, context value) ([]value, *Error) {
	if s == nil {
		return args, nil
	}
	symbols := make([]byte, len(args))
	for i, a := range args {
		symbols[i] = typeSymbol(a)
	}
	types := string(symbols)
	counts, ok := s.counts(types, 0, true)
	if !ok {
		return nil, s.mismatch(types, args)
	}
	valid := make([]value, 0, len(s.parameters))
	next := 0
	for i := range s.parameters {
		p := &s.parameters[i]
		if counts[i] == 0 {
			if !p.context {
				var arg value
				if next < len(args) {
					arg = args[next]
				}
				valid = append(valid, arg)
				next++
				continue
			}
			if strings.IndexByte(p.types, typeSymbol(context)) < 0 {
				return nil, &Error{Code: "T0411", value: context, index: next + 1}
			}
			valid = append(valid, context)
			continue
		}
		match := types[min(next, len(types)):min(next+counts[i], len(types))]
		for range counts[i] {
			arg, err := p.accept(args[next], match, next)
			if err != nil {
				return nil, err
			}
			valid = append(valid, arg)
			next++
		}
	}
	return valid, nil
}

var plurals = map[string]string{"a": "arrays", "b": "booleans", "f": "functions", "n": "numbers", "o": "objects",
	"s": "strings"}

// accept checks an argument against the parameter's element type. match contains the types of all arguments of the
// parameter.
func (p *parameter) accept(arg value, match string, index int) (value, *Error) {
	if !p.array || arg == nil {
		return arg, nil
	}
	list, isArray := arg.(*array)
	if p.subtype != "" && !p.holds(list, isArray, match) {
		return nil, &Error{Code: "T0412", value: arg, index: index + 1, kind: plurals[p.subtype]}
	}
	if !isArray {
		return newArray([]value{arg}), nil
	}
	return list, nil
}

func (p *parameter) holds(list *array, isArray bool, match string) bool {
	if !isArray {
		return match == p.subtype
	}
	for _, e := range list.list() {
		if typeSymbol(e) != p.subtype[0] {
			return false
		}
	}
	return true
}

// mismatch returns an error about the argument that does not match the signature.
func (s *signature) mismatch(types string, args []value) *Error {
	good := 0
	for n := range s.parameters {
		partial := signature{parameters: s.parameters[:n+1]}
		counts, ok := partial.counts(types, 0, false)
		if !ok {
			break
		}
		good = 0
		for _, c := range counts {
			good += c
		}
	}
	err := &Error{Code: "T0410", index: good + 1}
	if good < len(args) {
		err.value = args[good]
	}
	return err
}
