package intrinsic

import (
	"hash/maphash"
	"math"

	"stepback/asl/jsonvalue"
)

// arrayUnique is States.ArrayUnique(array): the first of each group of deeply equal elements, in order.
func arrayUnique(o *operands) (jsonvalue.Value, error) {
	seed := maphash.MakeSeed()
	seen := make(map[uint64][]jsonvalue.Value, o.values[0].Len())
	unique := make([]jsonvalue.Value, 0, o.values[0].Len())
	for _, element := range o.values[0].Elements() {
		print := fingerprint(seed, element)
		if isIn(seen[print], element) {
			continue
		}
		seen[print] = append(seen[print], element)
		unique = append(unique, element)
	}
	return jsonvalue.OfArray(unique), nil
}

func isIn(list []jsonvalue.Value, v jsonvalue.Value) bool {
	for _, element := range list {
		if jsonvalue.Equal(element, v) {
			return true
		}
	}
	return false
}

// fingerprint is equal for equal values: 1 and 1.0, and objects whatever the order of their members.
func fingerprint(seed maphash.Seed, v jsonvalue.Value) uint64 {
	kind := uint64(v.Kind()) * 0x9E3779B97F4A7C15
	switch v.Kind() {
	case jsonvalue.Bool:
		if v.Bool() {
			kind++
		}
	case jsonvalue.Number:
		kind ^= math.Float64bits(v.Float()+0) * 0xD6E8FEB86659FD93 // adding 0 turns -0 into 0
	case jsonvalue.String:
		kind ^= maphash.String(seed, v.Text())
	case jsonvalue.Array:
		for _, element := range v.Elements() {
			kind = kind*31 + fingerprint(seed, element)
		}
	case jsonvalue.Object:
		for i, key := range v.Keys() {
			kind += maphash.String(seed, key) * (fingerprint(seed, v.At(i)) | 1)
		}
	}
	return kind
}
