package metricmath

import (
	"fmt"
	"math"
	"slices"

	"stepback/internal/lazyregexp"
)

var dynamic = lazyregexp.New(`\$\{([A-Z_]+)\}`)

// Label returns the label of a series: the requested one, with ${LABEL}, ${MAX} and the like replaced, or the series'
// own if label is empty. Of a series without values, the numbers are "--".
func Label(label string, l Labelled) string {
	if label == "" {
		return l.Label
	}
	values := present(l.Values)
	return dynamic.ReplaceAllStringFunc(label, func(name string) string {
		number := map[string]func() float64{
			"${MAX}": func() float64 { return slices.Max(values) }, "${MIN}": func() float64 { return slices.Min(values) },
			"${AVG}": func() float64 { return average(values) }, "${SUM}": func() float64 { return sumOf(values) },
			"${FIRST}": func() float64 { return values[0] }, "${LAST}": func() float64 { return values[len(values)-1] },
			"${DATAPOINT_COUNT}": func() float64 { return float64(len(values)) },
			"${STDDEV}":          func() float64 { return deviation(values) },
			"${RANGE}":           func() float64 { return slices.Max(values) - slices.Min(values) },
		}[name]
		switch {
		case name == "${LABEL}":
			return l.Label
		case number == nil:
			return name
		case len(values) == 0:
			return "--"
		}
		v := number()
		if math.IsInf(v, 0) {
			return "--"
		}
		return fmt.Sprint(v)
	})
}
