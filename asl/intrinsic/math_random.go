package intrinsic

import (
	"fmt"
	"math/bits"

	"stepback/asl/jsonvalue"
)

// mathRandom is States.MathRandom: an integer from start (included) to end (excluded). The same seed gives the same
// integer.
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
		random = mix(uint64(seed))
	} else {
		random = env.Random()
	}
	// The high word of the product scales 64 random bits to the range; its bias is below range/2^64.
	offset, _ := bits.Mul64(random, uint64(end-start))
	return jsonvalue.OfInt(start + int64(offset)), nil
}

// mix is the first output of the splitmix64 generator (Steele, Lea and Flood, 2014) for a seed.
func mix(seed uint64) uint64 {
	z := seed + 0x9E3779B97F4A7C15
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}
