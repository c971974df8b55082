package jsonata

import "maps"

// define describes a built-in function: its signature and how many arguments it takes from a higher-order function.
func define(text string, arity int, call func(c *call, args []value) (value, *Error)) *native {
	return &native{signature: mustSignature(text), arity: arity, parameters: arity, call: call}
}

// builtins are the functions of JSONata.
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

// stepFunctions are the functions that expressions of AWS Step Functions have.
var stepFunctions = func() map[string]*native {
	all := maps.Clone(builtins)
	delete(all, "eval")
	maps.Copy(all, statesFunctions)
	return all
}()

// textOf returns an argument that the signature has made a string.
func textOf(v value) string {
	s, _ := v.(string)
	return s
}

func numberOf(v value) float64 {
	f, _ := v.(float64)
	return f
}

// itemsOf returns the elements of an argument that the signature has made an array; a partial application may pass
// others.
func itemsOf(v value) []value {
	if a, ok := v.(*array); ok {
		return a.list()
	}
	return nil
}

// whenDefined makes a function of one argument undefined for undefined.
func whenDefined(f func(c *call, v value) (value, *Error)) func(c *call, args []value) (value, *Error) {
	return func(c *call, args []value) (value, *Error) {
		if argument(args, 0) == nil {
			return nil, nil
		}
		return f(c, args[0])
	}
}

// ofText makes a function of one text.
func ofText(f func(s string) string) func(c *call, args []value) (value, *Error) {
	return whenDefined(func(c *call, v value) (value, *Error) {
		s := textOf(v)
		if err := c.ev.budget.spendText(len(s)); err != nil {
			return nil, err
		}
		return f(s), nil
	})
}
