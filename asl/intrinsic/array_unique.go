package intrinsic

import (
	"hash/maphash"
	"strconv"
	"strings"

	"stepback/jsonvalue"
)

// arrayUnique implements States.ArrayUnique: it returns the first of every set of deeply equal elements, in order.
func arrayUnique(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	if err := wantArray(values[0]); err != nil {
		return jsonvalue.Value{}, err
	}
	seen := make(map[uint64][]jsonvalue.Value, values[0].Len())
	unique := make([]jsonvalue.Value, 0, values[0].Len())
	for _, e := range values[0].Elements() {
		key := fingerprint(e)
		if !containsEqual(seen[key], e) {
			seen[key] = append(seen[key], e)
			unique = append(unique, e)
		}
	}
	return jsonvalue.OfArray(unique), nil
}

func containsEqual(elements []jsonvalue.Value, v jsonvalue.Value) bool {
	for _, e := range elements {
		if jsonvalue.Equal(e, v) {
			return true
		}
	}
	return false
}

// canonicalNumber returns the same text for all spellings of a number: its sign, its digits without zeros at either
// end, and the exponent of the last digit. A float64 would not do: many long numbers round to the same one.
func canonicalNumber(text string) string {
	digits, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	digits, negative := strings.CutPrefix(digits, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	power, _ := strconv.Atoi(exponent) // missing, or so large that the number is not compared exactly
	power += len(digits) - len(fraction)
	if digits = strings.TrimRight(digits, "0"); digits == "" {
		return "0"
	}
	if negative {
		digits = "-" + digits
	}
	return digits + "e" + strconv.Itoa(power)
}

var fingerprintSeed = maphash.MakeSeed()

// fingerprint maps deeply equal values to the same number. It compares numbers by value, and objects regardless of
// the order of their members.
func fingerprint(v jsonvalue.Value) uint64 {
	sum := uint64(v.Kind())
	switch v.Kind() {
	case jsonvalue.Bool:
		return maphash.Comparable(fingerprintSeed, v.Bool())
	case jsonvalue.Number:
		return maphash.String(fingerprintSeed, canonicalNumber(v.Text()))
	case jsonvalue.String:
		return maphash.String(fingerprintSeed, v.Text())
	case jsonvalue.Array:
		for _, e := range v.Elements() {
			sum = sum*31 + fingerprint(e)
		}
	case jsonvalue.Object:
		for i, key := range v.Keys() {
			sum += maphash.String(fingerprintSeed, key) ^ (fingerprint(v.At(i)) * 31)
		}
	default:
	}
	return sum
}
