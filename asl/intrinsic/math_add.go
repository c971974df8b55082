package intrinsic

import (
	"fmt"
	"math"

	"stepback/jsonvalue"
)

// mathAdd implements States.MathAdd for 32-bit integers; fractions are rounded before they are added.
func mathAdd(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	a, err := rounded32("the first argument", values[0])
	if err != nil {
		return jsonvalue.Value{}, err
	}
	b, err := rounded32("the second argument", values[1])
	if err != nil {
		return jsonvalue.Value{}, err
	}
	sum := a + b
	if outside32(sum) {
		return jsonvalue.Value{}, fmt.Errorf("the sum %d is outside the 32-bit range", sum)
	}
	return jsonvalue.OfInt(sum), nil
}

func rounded32(what string, v jsonvalue.Value) (int64, error) {
	i, err := rounded(what, v)
	if err == nil && outside32(i) {
		err = fmt.Errorf("%s %s is outside the 32-bit range", what, v.Text())
	}
	return i, err
}

func outside32(i int64) bool { return i < math.MinInt32 || i > math.MaxInt32 }
