package intrinsic

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"stepback/asl/jsonvalue"
)

// integer returns the number at this argument as a whole number within 32 bits. Fractions are rounded as Java's Math.round
// does: to the nearest, halves upwards.
func (o *operands) integer(at int) (int64, error) {
	v := o.values[at]
	n, ok := v.Int()
	if !ok {
		f := v.Float()
		if math.Abs(f) > math.MaxUint32 {
			return 0, outOfRange(v.Text())
		}
		whole := math.Floor(f)
		if f-whole >= 0.5 {
			whole++
		}
		n = int64(whole)
	}
	if n != int64(int32(n)) {
		return 0, outOfRange(v.Text())
	}
	return n, nil
}

func outOfRange(number string) error {
	return fmt.Errorf("%s is outside the range -2147483648 to 2147483647", number)
}

// mathAdd is States.MathAdd(a, b), all three numbers within 32 bits.
func mathAdd(o *operands) (jsonvalue.Value, error) {
	a, err1 := o.integer(0)
	b, err2 := o.integer(1)
	if err := errors.Join(err1, err2); err != nil {
		return jsonvalue.Value{}, err
	}
	sum := jsonvalue.OfInt(a + b)
	if a+b != int64(int32(a+b)) {
		return jsonvalue.Value{}, outOfRange("the sum " + sum.Text())
	}
	return sum, nil
}

// mathRandom is States.MathRandom(start, end, seed): a whole number from start up to, but not including, end. The same seed
// yields the same number; without one the number comes from the Env.
func mathRandom(o *operands) (jsonvalue.Value, error) {
	start, err1 := o.integer(0)
	end, err2 := o.integer(1)
	if err := errors.Join(err1, err2); err != nil {
		return jsonvalue.Value{}, err
	}
	if start >= end {
		return jsonvalue.Value{}, fmt.Errorf("the start %d must be less than the end %d", start, end)
	}
	source := o.env.Random
	if len(o.values) == 3 {
		seed, err := o.integer(2)
		if err != nil {
			return jsonvalue.Value{}, err
		}
		source = splitMix(uint64(seed))
	}
	// The high word of the product spreads 64 random bits evenly over a range of at most 32 bits.
	offset, _ := bits.Mul64(source(), uint64(end-start))
	return jsonvalue.OfInt(start + int64(offset)), nil
}

// splitMix returns the generator SplitMix64 for this seed.
func splitMix(state uint64) func() uint64 {
	return func() uint64 {
		state += 0x9E3779B97F4A7C15
		z := state
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		return z ^ z>>31
	}
}
