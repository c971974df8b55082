package jsonata

import "maps"

// define returns a built-in function. text is its signature, and arity is the number of arguments that a
// higher-order function passes to it.
func define(text string, arity int, call func(c *call, args []value) (value, *Error)) *native {
	return &native{signature: mustSignature(text), arity: arity, parameters: arity, call: call}
}

// builtins contains the functions of JSONata.
var builtins = func() map[string]*native {
	all := map[string]*native{}
	for _, family := range []map[string]*native{
		numericFunctions, aggregateFunctions, stringFunctions, patternFunctions, encodingFunctions, urlFunctions,
		booleanFunctions,
		arrayFunctions, objectFunctions, higherOrderFunctions, dateFunctions, pictureFunctions, controlFunctions,
	} {
		maps.Copy(all, family)
	}
	all["eval"] = define("<sx?:x>", 2, evalText)
	return all
}()

// stepFunctions contains the functions available in expressions of AWS Step Functions.
var stepFunctions = func() map[string]*native {
	all := maps.Clone(builtins)
	delete(all, "eval")
	maps.Copy(all, statesFunctions)
	return all
}()

// textOf returns an argument that the signature guarantees to be a string.
func textOf(v value) string {
	s, _ := v.(string)
	return s
}

func numberOf(v value) float64 {
	f, _ := v.(float64)
	return f
}

// itemsOf returns the elements of an argument that the signature guarantees to be an array. It returns nil for
// other values, which a partial application may pass.
func itemsOf(v value) []value {
	if a, ok := v.(*array); ok {
		return a.list()
	}
	return nil
}

// whenDefined wraps a function of one argument; the result is undefined if the argument is.
func whenDefined(f func(c *call, v value) (value, *Error)) func(c *call, args []value) (value, *Error) {
	return func(c *call, args []value) (value, *Error) {
		if argument(args, 0) == nil {
			return nil, nil
		}
		return f(c, args[0])
	}
}

// ofText wraps a function of one text.
func ofText(f func(s string) string) func(c *call, args []value) (value, *Error) {
	return whenDefined(func(c *call, v value) (value, *Error) {
		s := textOf(v)
		if err := c.ev.budget.spendText(len(s)); err != nil {
			return nil, err
		}
		return f(s), nil
	})
}

// StepFunctions returns the names, without $, of the functions that expressions of AWS Step Functions have, with their
// signatures in JSONata's notation, such as <s-s:s>.
func StepFunctions() map[string]string {
	all := make(map[string]string, len(stepFunctions))
	for name, f := range stepFunctions {
		all[name] = f.signature.definition
	}
	return all
}
