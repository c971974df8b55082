package template

import (
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/netip"
	"strconv"
	"strings"
)

// joinArguments describes the arguments of Fn::Join in errors.
const joinArguments = "every Fn::Join object requires two parameters, (1) a string delimiter and (2) a list of strings to be " +
	"joined or a function that returns a list of strings (such as Fn::GetAZs) to be joined."

// findInMapArguments describes the arguments of Fn::FindInMap in errors. A DefaultValue needs AWS::LanguageExtensions.
const findInMapArguments = "every Fn::FindInMap object requires three parameters, the map name, map key and the attribute for " +
	"return value"

func (e *Env) join(arg any) (any, error) {
	const what = joinArguments
	delimiter, elements, unknown, err := e.textAndList(arg, what)
	if err != nil || unknown != nil {
		return unknown, err
	}
	parts := make([]string, 0, len(elements))
	for _, x := range elements {
		if u, ok := x.(Unknown); ok {
			return u, nil
		}
		s, ok := TextOf(x)
		if !ok {
			return nil, wrong("Template error: %s", what)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, delimiter), nil
}

func (e *Env) choose(arg any) (any, error) {
	const what = "Fn::Select requires a list argument with two elements: an integer index and a list"
	index, elements, unknown, err := e.textAndList(arg, what)
	if err != nil || unknown != nil {
		return unknown, err
	}
	n, err := strconv.Atoi(index)
	if err != nil {
		return nil, wrong("Template error: %s", what)
	}
	if n < 0 || n >= len(elements) {
		return nil, wrong("Template error: Fn::Select cannot select nonexistent value at index %d", n)
	}
	return elements[n], nil
}

func (e *Env) split(arg any) (any, error) {
	const what = "every Fn::Split object requires two parameters, (1) a string delimiter and (2) a string to be split or a function that returns a string to be split."
	l, ok := arg.([]any)
	if !ok || len(l) != 2 {
		return nil, wrong("Template error: %s", what)
	}
	delimiter, unknown, err := e.text(l[0], what)
	if err != nil || unknown != nil {
		return unknown, err
	}
	if delimiter == "" {
		return nil, wrong("Template error: %s", what)
	}
	text, unknown, err := e.text(l[1], what)
	if err != nil || unknown != nil {
		return unknown, err
	}
	parts := []any{}
	for _, p := range strings.Split(text, delimiter) {
		parts = append(parts, p)
	}
	return parts, nil
}

func (e *Env) branch(arg any) (any, error) {
	l, ok := arg.([]any)
	if !ok || len(l) != 3 {
		return nil, wrong("Template error: Fn::If requires a list argument with three elements")
	}
	holds, err := e.ifCondition(l[0])
	if err != nil {
		return nil, err
	}
	if holds {
		return e.value(l[1])
	}
	return e.value(l[2])
}

func (e *Env) ifCondition(v any) (bool, error) {
	name, ok := v.(string)
	if !ok {
		return false, wrong("Template error: Fn::If requires the name of a condition as its first element")
	}
	holds, ok := e.Conditions[name]
	if !ok {
		return false, wrong("Template error: unresolved condition dependency %s in Fn::If", name)
	}
	return holds, nil
}

func (e *Env) findInMap(arg any) (any, error) {
	l, ok := arg.([]any)
	if !ok || len(l) != 3 && len(l) != 4 {
		return nil, wrong("Template error: %s", findInMapArguments)
	}
	var names [3]string
	for i := range names {
		text, unknown, err := e.text(l[i], "the keys of Fn::FindInMap must be strings")
		if err != nil {
			return nil, err
		}
		if unknown != nil {
			return nil, wrong("Template error: Fn::FindInMap cannot use what is known only after resources are made")
		}
		names[i] = text
	}
	top, _ := e.Mappings[names[0]].(map[string]any)
	second, _ := top[names[1]].(map[string]any)
	if v, ok := second[names[2]]; ok {
		return e.value(v)
	}
	if len(l) == 4 {
		if m, ok := l[3].(map[string]any); ok && len(m) == 1 {
			if def, ok := m["DefaultValue"]; ok {
				return e.value(def)
			}
		}
		return nil, wrong("Template error: the fourth element of Fn::FindInMap must have a DefaultValue")
	}
	return nil, wrong("Template error: Unable to get mapping for %s::%s::%s", names[0], names[1], names[2])
}

func (e *Env) importValue(arg any) (any, error) {
	name, unknown, err := e.text(arg, "the attribute in Fn::ImportValue must be a string or a function that returns a string")
	if err != nil {
		return nil, err
	}
	if unknown != nil || e.Import == nil {
		return nil, wrong("Template error: the attribute in Fn::ImportValue must not depend on any resources, imported values, or Fn::GetAZs")
	}
	return e.Import(name)
}

func (e *Env) base64(arg any) (any, error) {
	text, unknown, err := e.text(arg, "every Fn::Base64 object must have a String-typed value.")
	if err != nil || unknown != nil {
		return unknown, err
	}
	return base64.StdEncoding.EncodeToString([]byte(text)), nil
}

func (e *Env) zones(arg any) (any, error) {
	region, unknown, err := e.text(arg, "every Fn::GetAZs object must have a String-typed value.")
	if err != nil || unknown != nil {
		return unknown, err
	}
	if region == "" {
		region, _ = e.Values["AWS::Region"].(string)
	}
	zones := []any{}
	if e.Zones != nil {
		for _, z := range e.Zones(region) {
			zones = append(zones, z)
		}
	}
	return zones, nil
}

func (e *Env) extension(name string) error {
	if e.Extensions {
		return nil
	}
	return wrong("Template error: %s is only supported with the transform AWS::LanguageExtensions", name)
}

func (e *Env) length(arg any) (any, error) {
	if err := e.extension("Fn::Length"); err != nil {
		return nil, err
	}
	l, unknown, err := e.list(arg, "Fn::Length only supports lists")
	if err != nil || unknown != nil {
		return unknown, err
	}
	return json.Number(strconv.Itoa(len(l))), nil
}

func (e *Env) toJSON(arg any) (any, error) {
	if err := e.extension("Fn::ToJsonString"); err != nil {
		return nil, err
	}
	v, err := e.value(arg)
	if err != nil {
		return nil, err
	}
	if u, ok := FindUnknown(v); ok {
		return u, nil
	}
	switch v.(type) {
	case map[string]any, []any:
		return JSON(v), nil
	}
	return nil, wrong("Template error: Fn::ToJsonString only supports objects and arrays")
}

func (e *Env) cidr(arg any) (any, error) {
	const what = "Fn::Cidr requires a CIDR block, a count from 1 to 256 and the number of subnet bits"
	l, ok := arg.([]any)
	if !ok || len(l) < 2 || len(l) > 3 {
		return nil, wrong("Template error: %s", what)
	}
	block, unknown, err := e.text(l[0], what)
	if err != nil || unknown != nil {
		return unknown, err
	}
	numbers := [2]int{0, 8}
	for i, a := range l[1:] {
		text, unknown, err := e.text(a, what)
		if err != nil || unknown != nil {
			return unknown, err
		}
		if numbers[i], err = strconv.Atoi(text); err != nil {
			return nil, wrong("Template error: %s", what)
		}
	}
	prefix, err := netip.ParsePrefix(block)
	if err != nil {
		return nil, wrong("Template error: Fn::Cidr: %s is not a CIDR block", block)
	}
	count, size := numbers[0], prefix.Addr().BitLen()-numbers[1]
	if count < 1 || count > 256 || size < prefix.Bits() || numbers[1] < 1 || size-prefix.Bits() < 9 &&
		1<<(size-prefix.Bits()) < count {
		return nil, wrong("Template error: Fn::Cidr: %d blocks of %d bits do not fit into %s", count, numbers[1], block)
	}
	base := new(big.Int).SetBytes(prefix.Masked().Addr().AsSlice())
	step := new(big.Int).Lsh(big.NewInt(1), uint(numbers[1]))
	blocks := make([]any, count)
	for i := range blocks {
		raw := make([]byte, prefix.Addr().BitLen()/8)
		base.FillBytes(raw)
		addr, _ := netip.AddrFromSlice(raw)
		blocks[i] = netip.PrefixFrom(addr, size).String()
		base.Add(base, step)
	}
	return blocks, nil
}
