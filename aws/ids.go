package aws

import (
	"math/bits"
	"math/rand/v2"
)

// NewID returns a random UUID, such as the ID of a request. It is not cryptographically random, so it costs no system
// call.
func NewID() string { return DrawUUID(rand.Uint64) }

// DrawUUID returns a version 4 UUID (RFC 9562) made from two draws of 64 random bits. Equal draws give equal UUIDs.
func DrawUUID(random func() uint64) string {
	hi := bits.ReverseBytes64(random()) // the first draw's lowest byte comes first
	lo := bits.ReverseBytes64(random())
	return UUID(hi, lo)
}

// UUID returns the version 4 UUID made from the given bits, the highest bits first. The six bits of the version and
// the variant are overwritten.
func UUID(hi, lo uint64) string {
	hi = hi&^0xF000 | 0x4000
	lo = lo&^(3<<62) | 2<<62
	const digits = "0123456789abcdef"
	var b [36]byte
	at := 0
	for _, word := range [2]uint64{hi, lo} {
		for shift := 60; shift >= 0; shift -= 4 {
			if at == 8 || at == 13 || at == 18 || at == 23 {
				b[at] = '-'
				at++
			}
			b[at] = digits[word>>shift&15]
			at++
		}
	}
	return string(b[:])
}

// Random implements the splitmix64 generator (Steele, Lea and Flood, 2014). It has eight bytes of state and is
// repeatable from any seed. It is not safe for concurrent use, and not suitable for secrets.
type Random struct{ Seed uint64 }

// Uint64 returns the next 64 random bits.
func (r *Random) Uint64() uint64 {
	r.Seed += 0x9E3779B97F4A7C15
	z := r.Seed
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}
