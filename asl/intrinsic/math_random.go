package intrinsic

import (
	"fmt"
	"math/bits"

	"stepback/aws"
	"stepback/jsonvalue"
)

// mathRandom implements States.MathRandom: it returns an integer from start (included) to end (excluded). The same
// seed gives the same integer.
func mathRandom(values []jsonvalue.Value, env Env) (jsonvalue.Value, error) {
	start, err := rounded("the start", values[0])
	if err != nil {
		return jsonvalue.Value{}, err
	}
	end, err := rounded("the end", values[1])
	if err != nil {
		return jsonvalue.Value{}, err
	}
	if start >= end {
		return jsonvalue.Value{}, fmt.Errorf("the start %d is not below the end %d", start, end)
	}
	var random uint64
	if len(values) == 3 {
		seed, err := rounded("the seed", values[2])
		if err != nil {
			return jsonvalue.Value{}, err
		}
		seeded := aws.Random{Seed: uint64(seed)}
		random = seeded.Uint64()
	} else {
		random = env.Random()
	}
	// The high word of the product scales 64 random bits to the range; its bias is below range/2^64.
	offset, _ := bits.Mul64(random, uint64(end-start))
	return jsonvalue.OfInt(start + int64(offset)), nil
}
