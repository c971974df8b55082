// Package draw provides the laboratory's random numbers. A number is a function of (seed, purpose, item, attempt)
// only, and does not depend on the order in which numbers are drawn. The third attempt of item 17 therefore has the
// same service time, the same error and the same jitter under every policy, and two policies on one seed can be
// compared in pairs.
//
// The package keeps no state except a [Stream]'s position, and allocates nothing.
package draw

import "math"

// Purpose separates the random numbers of different uses.
type Purpose uint64

// golden is 2^64 divided by the golden ratio. Its multiples are spread evenly over 64 bits.
const golden = 0x9e3779b97f4a7c15

// mix implements SplitMix64's finalizer: every bit of x affects every bit of the result.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Bits returns 64 uniform bits.
func Bits(seed uint64, purpose Purpose, item, attempt uint64) uint64 {
	h := mix(seed + golden*(uint64(purpose)+1))
	h = mix(h + golden*(item+1))
	return mix(h + golden*(attempt+1))
}

// Float returns a number in [0, 1).
func Float(seed uint64, purpose Purpose, item, attempt uint64) float64 {
	return unit(Bits(seed, purpose, item, attempt))
}

func unit(b uint64) float64 { return float64(b>>11) * 0x1p-53 }

// Stream is the sequence of random numbers of one key (seed, purpose, item, attempt). It is a source for
// retry.Policy.
type Stream struct{ state uint64 }

// Of returns the stream of the key made of its arguments.
func Of(seed uint64, purpose Purpose, item, attempt uint64) Stream {
	return Stream{Bits(seed, purpose, item, attempt)}
}

// Uint64 returns the next 64 uniform bits.
func (s *Stream) Uint64() uint64 {
	s.state += golden
	return mix(s.state)
}

// Float returns the next uniform number in [0, 1).
func (s *Stream) Float() float64 { return unit(s.Uint64()) }

// Open returns the next uniform number in (0, 1], so that its logarithm is finite.
func (s *Stream) Open() float64 { return float64(s.Uint64()>>11+1) * 0x1p-53 }

// Exp returns an exponentially distributed number with mean 1.
func (s *Stream) Exp() float64 { return -math.Log(s.Open()) }

// Normal returns a standard normally distributed number, by Marsaglia's polar method.
func (s *Stream) Normal() float64 {
	for {
		u, v := 2*s.Float()-1, 2*s.Float()-1
		if q := u*u + v*v; q > 0 && q < 1 {
			return u * math.Sqrt(-2*math.Log(q)/q)
		}
	}
}

// Gamma returns a gamma-distributed number of the given shape (above 0) and scale 1, by Marsaglia and Tsang's
// method.
func (s *Stream) Gamma(shape float64) float64 {
	if shape < 1 {
		return s.Gamma(shape+1) * math.Pow(s.Open(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.Normal()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(s.Open()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
