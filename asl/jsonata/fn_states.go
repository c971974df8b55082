package jsonata

import (
	"crypto/md5"
	"crypto/sha1" //nolint:gosec // one of the five algorithms that $hash offers
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"math"

	"stepback/aws"
	"stepback/jsonvalue"
)

// statesFunctions are the functions that AWS Step Functions adds.
var statesFunctions = map[string]*native{
	"partition": define("<an:a<a>>", 2, partition),
	"range":     define("<nnn:a<n>>", 3, rangeFunction),
	"hash":      define("<ss:s>", 2, hash),
	"random":    define("<n?:n>", 1, random),
	"uuid":      define("<:s>", 0, uuid),
	"parse":     define("<s-:x>", 1, whenDefined(parseJSON)),
}

// maxStatesRange is the maximum number of elements of $range.
const maxStatesRange = 1000

func partition(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	size := math.Floor(numberOf(argument(args, 1)))
	if !(size >= 1) {
		return nil, runtimeError("The second argument of the partition function must be a positive number")
	}
	rest := itemsOf(args[0])
	if err := c.ev.budget.spend(int(float64(len(rest))/size) + 1); err != nil {
		return nil, err
	}
	result := newArray([]value{})
	for len(rest) > 0 {
		n := int(min(size, float64(len(rest))))
		result.push(newArray(rest[:n:n]))
		rest = rest[n:]
	}
	return result, nil
}

func rangeFunction(c *call, args []value) (value, *Error) {
	for i := range 3 {
		if argument(args, i) == nil {
			return nil, nil
		}
	}
	first, last, step := math.Floor(numberOf(args[0])), math.Floor(numberOf(args[1])), math.Floor(numberOf(args[2]))
	if step == 0 || math.IsNaN(step) {
		return nil, runtimeError("The third argument of the range function must not be zero")
	}
	size := math.Floor((last-first)/step) + 1
	if size > maxStatesRange {
		return nil, runtimeError("The range function must not make more than 1000 elements")
	}
	result := newSequence() // the service returns a range of one number as that number
	for i := 0.0; i < size; i++ {
		result.push(first + i*step)
	}
	return result, c.ev.budget.spend(len(result.items))
}

func hash(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	if err := c.ev.budget.spendText(len(textOf(args[0]))); err != nil {
		return nil, err
	}
	data := []byte(wellFormed(textOf(args[0])))
	var sum []byte
	switch textOf(argument(args, 1)) {
	case "MD5":
		s := md5.Sum(data)
		sum = s[:]
	case "SHA-1":
		s := sha1.Sum(data)
		sum = s[:]
	case "SHA-256":
		s := sha256.Sum256(data)
		sum = s[:]
	case "SHA-384":
		s := sha512.Sum384(data)
		sum = s[:]
	case "SHA-512":
		s := sha512.Sum512(data)
		sum = s[:]
	default:
		return nil, runtimeError("The second argument of the hash function must be MD5, SHA-1, SHA-256, SHA-384 or SHA-512")
	}
	return hex.EncodeToString(sum), nil
}

// random implements $random. The same seed always gives the same number, the first nextDouble of java.util.Random;
// the service uses that class. For seed 42 it is 0.7275636800328681.
func random(c *call, args []value) (value, *Error) {
	seed, ok := argument(args, 0).(float64)
	if !ok {
		return fraction(c.ev.env.Random()), nil
	}
	return javaDouble(int64(math.Floor(seed))), nil
}

// javaDouble implements new java.util.Random(seed).nextDouble(): a 48-bit linear congruential generator, of which 26
// and then 27 bits form the fraction.
func javaDouble(seed int64) float64 {
	const multiplier, increment, mask = 0x5DEECE66D, 0xB, 1<<48 - 1
	state := (uint64(seed) ^ multiplier) & mask
	next := func(bits uint) uint64 {
		state = (state*multiplier + increment) & mask
		return state >> (48 - bits)
	}
	high := next(26)
	return float64(high<<27+next(27)) / (1 << 53)
}

// uuid implements $uuid: a version 4 UUID (RFC 9562).
func uuid(c *call, _ []value) (value, *Error) {
	return aws.DrawUUID(c.ev.env.Random), nil
}

func parseJSON(c *call, v value) (value, *Error) {
	text := textOf(v)
	if err := c.ev.budget.spendText(len(text)); err != nil {
		return nil, err
	}
	tree, err := jsonvalue.Parse(text)
	if err != nil {
		return nil, runtimeError("The argument of the parse function is not JSON: " + err.Error())
	}
	return fromJSON(tree), nil
}
