package jsonpath

import (
	"math"

	"stepback/jsonvalue"
)

// numbers returns the numbers among v's elements, the arguments and the arguments' elements. It returns an error if
// there are none.
func numbers(v jsonvalue.Value, arguments []jsonvalue.Value) ([]float64, error) {
	var all []float64
	collect := func(v jsonvalue.Value) {
		if v.Kind() == jsonvalue.Number {
			all = append(all, v.Float())
		}
	}
	each := func(v jsonvalue.Value) {
		for _, element := range v.Elements() {
			collect(element)
		}
	}
	if v.Kind() == jsonvalue.Array {
		each(v)
	}
	for _, a := range arguments {
		if a.Kind() == jsonvalue.Array {
			each(a)
		} else {
			collect(a)
		}
	}
	if len(all) == 0 {
		return nil, &EvaluationError{Message: "Aggregation function attempted to calculate value using empty array"}
	}
	return all, nil
}

func aggregate(v jsonvalue.Value, arguments []jsonvalue.Value, of func([]float64) float64) (jsonvalue.Value, error) {
	all, err := numbers(v, arguments)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	return jsonvalue.OfFloat(of(all)), nil
}

func total(all []float64) float64 {
	t := 0.0
	for _, n := range all {
		t += n
	}
	return t
}

func sum(v jsonvalue.Value, arguments []jsonvalue.Value) (jsonvalue.Value, error) {
	return aggregate(v, arguments, total)
}

func average(v jsonvalue.Value, arguments []jsonvalue.Value) (jsonvalue.Value, error) {
	return aggregate(v, arguments, func(all []float64) float64 { return total(all) / float64(len(all)) })
}

func minimum(v jsonvalue.Value, arguments []jsonvalue.Value) (jsonvalue.Value, error) {
	return aggregate(v, arguments, func(all []float64) float64 {
		m := all[0]
		for _, n := range all[1:] {
			m = min(m, n)
		}
		return m
	})
}

func maximum(v jsonvalue.Value, arguments []jsonvalue.Value) (jsonvalue.Value, error) {
	return aggregate(v, arguments, func(all []float64) float64 {
		m := all[0]
		for _, n := range all[1:] {
			m = max(m, n)
		}
		return m
	})
}

// deviation returns the population standard deviation.
func deviation(v jsonvalue.Value, arguments []jsonvalue.Value) (jsonvalue.Value, error) {
	return aggregate(v, arguments, func(all []float64) float64 {
		mean, squares := total(all)/float64(len(all)), 0.0
		for _, n := range all {
			squares += (n - mean) * (n - mean)
		}
		return math.Sqrt(squares / float64(len(all)))
	})
}
