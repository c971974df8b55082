package intrinsic

import (
	"fmt"
	"math"
	"unicode/utf8"

	"stepback/jsonvalue"
)

// maxExact is the integer up to which float64 represents every integer exactly.
const maxExact = 1 << 53

// rounded returns a number rounded to the nearest integer. Halves are rounded towards positive infinity, as in
// Java's Math.round.
func rounded(what string, v jsonvalue.Value) (int64, error) {
	if v.Kind() != jsonvalue.Number {
		return 0, wrongKind(what, v, jsonvalue.Number)
	}
	i, whole := v.Int()
	if !whole {
		f := v.Float()
		floor := math.Floor(f)
		if f-floor >= 0.5 {
			floor++
		}
		i = int64(max(min(floor, 2*maxExact), -2*maxExact))
	}
	if i > maxExact || i < -maxExact {
		return 0, fmt.Errorf("%s %s is too large, expected at most 2^53", what, v.Text())
	}
	return i, nil
}

func wrongKind(what string, v jsonvalue.Value, want jsonvalue.Kind) error {
	return fmt.Errorf("%s is %s, expected %s", what, v.Kind().WithArticle(), want.WithArticle())
}

// maxData is the maximum number of characters for the Base64 and hash functions.
const maxData = 10_000

func checkData(s string) error {
	if len(s) <= maxData {
		return nil
	}
	if n := utf8.RuneCountInString(s); n > maxData {
		return fmt.Errorf("the data has %d characters, expected at most %d", n, maxData)
	}
	return nil
}
