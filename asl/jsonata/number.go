package jsonata

import (
	"math"
	"strconv"
	"strings"

	"stepback/jsonvalue"
)

// formatNumber formats a number as JavaScript does, with the fewest digits, and with an exponent only below 1e-6
// and from 1e21 on.
func formatNumber(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return "0"
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return strconv.FormatInt(int64(f), 10)
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	return digits + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
}

func numberJSON(f float64) jsonvalue.Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return jsonvalue.Value{}
	}
	return jsonvalue.OfNumberText(formatNumber(f))
}

// precise rounds a number to 15 significant digits, as $string does.
func precise(f float64) float64 {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return f
	}
	text := strconv.FormatFloat(f, 'e', 14, 64)
	const exact = 40
	if digits := strconv.FormatFloat(math.Abs(f), 'e', exact, 64); digits[16] == '5' && strings.Trim(digits[17:exact+2],
		"0") == "" {
		// The number is halfway between two results, and JavaScript rounds up.
		text = strconv.FormatFloat(math.Copysign(math.Nextafter(math.Abs(f), math.Inf(1)), f), 'e', 14, 64)
	}
	// An error means that a very large number rounds to infinity, as in the reference implementation.
	rounded, _ := strconv.ParseFloat(text, 64)
	return rounded
}

// numeric reports whether a value is a number. It returns an error for an infinite number, because JSON cannot
// represent it.
func numeric(v value) (float64, bool, *Error) {
	f, ok := v.(float64)
	if !ok || math.IsNaN(f) {
		return 0, false, nil
	}
	if math.IsInf(f, 0) {
		return 0, false, &Error{Code: "D1001", value: f}
	}
	return f, true, nil
}
