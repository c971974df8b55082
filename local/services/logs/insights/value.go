package insights

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// value is the value of a field. The zero value means absent.
type value struct {
	text    string
	number  float64
	numeric bool
	present bool
}

func textOf(s string) value {
	v := value{text: s, present: true}
	if s == "" || len(s) > 40 || !strings.ContainsRune("+-.0123456789", rune(s[0])) {
		return v
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil && !math.IsInf(n, 0) {
		v.number, v.numeric = n, true
	}
	return v
}

func numberOf(n float64) value {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return value{}
	}
	const places = 1e4
	rounded := n
	if math.Abs(n) < math.MaxInt64/places {
		rounded = math.Round(n*places) / places
	}
	return value{text: strconv.FormatFloat(rounded, 'f', -1, 64), number: n, numeric: true, present: true}
}

func boolOf(b bool) value {
	if b {
		return numberOf(1)
	}
	return numberOf(0)
}

// timeLayout is the format in which times are shown.
const timeLayout = "2006-01-02 15:04:05.000"

// timeOf returns the value of a time in milliseconds since 1970.
func timeOf(ms int64) value {
	return value{text: time.UnixMilli(ms).UTC().Format(timeLayout), number: float64(ms), numeric: true, present: true}
}

// truth reports whether the value counts as true in a condition.
func (v value) truth() bool {
	return v.present && (v.numeric && v.number != 0 || !v.numeric && v.text != "" && v.text != "false")
}

// compare compares two present values: as numbers if both are numbers, otherwise as texts.
func compare(a, b value) int {
	if a.numeric && b.numeric {
		switch {
		case a.number < b.number:
			return -1
		case a.number > b.number:
			return 1
		}
		return 0
	}
	return strings.Compare(a.text, b.text)
}
