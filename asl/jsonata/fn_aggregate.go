package jsonata

import "math"

var aggregateFunctions = map[string]*native{
	"sum": define("<a<n>:n>", 1, whenDefined(func(_ *call, v value) (value, *Error) { return total(itemsOf(v)), nil })),
	"count": define("<a:n>", 1, func(_ *call, args []value) (value, *Error) {
		return float64(len(itemsOf(argument(args, 0)))), nil
	}),
	"max": define("<a<n>:n>", 1, ofNumbers(func(items []value) float64 {
		result := math.Inf(-1)
		for _, item := range items {
			result = math.Max(result, numberOf(item))
		}
		return result
	})),
	"min": define("<a<n>:n>", 1, ofNumbers(func(items []value) float64 {
		result := math.Inf(1)
		for _, item := range items {
			result = math.Min(result, numberOf(item))
		}
		return result
	})),
	"average": define("<a<n>:n>", 1, ofNumbers(func(items []value) float64 { return total(items) / float64(len(items)) })),
}

func total(items []value) float64 {
	sum := 0.0
	for _, item := range items {
		sum += numberOf(item)
	}
	return sum
}

// ofNumbers wraps a function of an array of numbers. The result is undefined for an empty array.
func ofNumbers(f func(items []value) float64) func(c *call, args []value) (value, *Error) {
	return whenDefined(func(_ *call, v value) (value, *Error) {
		items := itemsOf(v)
		if len(items) == 0 {
			return nil, nil
		}
		return f(items), nil
	})
}
