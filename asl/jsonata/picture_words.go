package jsonata

import (
	"math"
	"strings"

	"stepback/internal/lazyregexp"
)

var (
	smallNumbers = []string{
		"Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve",
		"Thirteen", "Fourteen",
		"Fifteen", "Sixteen", "Seventeen", "Eighteen", "Nineteen",
	}
	smallOrdinals = []string{
		"Zeroth", "First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth", "Tenth",
		"Eleventh", "Twelfth",
		"Thirteenth", "Fourteenth", "Fifteenth", "Sixteenth", "Seventeenth", "Eighteenth", "Nineteenth",
	}
	decades    = []string{"Twenty", "Thirty", "Forty", "Fifty", "Sixty", "Seventy", "Eighty", "Ninety", "Hundred"}
	magnitudes = []string{"Thousand", "Million", "Billion", "Trillion"}
)

func toWords(f float64, ordinal bool) (string, *Error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "", stackOverflow()
	}
	return words(f, false, ordinal), nil
}

// words writes a number in words. follows is true if the words of a larger part stand before it.
func words(f float64, follows, ordinal bool) string {
	switch {
	case f < 20:
		if ordinal {
			return joinWord(follows, " and ", smallOrdinals[int(f)])
		}
		return joinWord(follows, " and ", smallNumbers[int(f)])
	case f < 100:
		s := joinWord(follows, " and ", decades[int(f)/10-2])
		switch rest := int(f) % 10; {
		case rest > 0:
			return s + "-" + words(float64(rest), false, ordinal)
		case ordinal:
			return s[:len(s)-1] + "ieth"
		}
		return s
	case f < 1000:
		s := joinWord(follows, ", ", smallNumbers[int(f)/100]+" Hundred")
		return s + remainder(float64(int(f)%100), ordinal)
	}
	power := min(int(math.Floor(math.Log10(f)/3)), len(magnitudes))
	factor := math.Pow(10, float64(3*power))
	count := math.Floor(f / factor)
	s := joinWord(follows, ", ", words(count, false, false)+" "+magnitudes[power-1])
	return s + remainder(f-count*factor, ordinal)
}

func joinWord(follows bool, between, word string) string {
	if follows {
		return between + word
	}
	return word
}

func remainder(f float64, ordinal bool) string {
	switch {
	case f > 0:
		return words(f, true, ordinal)
	case ordinal:
		return "th"
	default:
		return ""
	}
}

var wordValues, wordOrder = func() (values map[string]float64, order []string) {
	values = map[string]float64{}
	add := func(word string, v float64) {
		if _, known := values[word]; !known {
			order = append(order, word)
		}
		values[word] = v
	}
	for _, list := range [][]string{smallNumbers, smallOrdinals} {
		for i, word := range list {
			add(strings.ToLower(word), float64(i))
		}
	}
	for i, word := range decades {
		word = strings.ToLower(word)
		add(word, float64(i+2)*10)
		add(word[:len(word)-1]+"ieth", float64(i+2)*10)
	}
	add("hundredth", 100)
	for i, word := range magnitudes {
		word = strings.ToLower(word)
		add(word, math.Pow(10, float64(3*(i+1))))
		add(word+"th", values[word])
	}
	return values, order
}()

var wordBreak = lazyregexp.New(`,\s|\sand\s|[\s\\-]`)

func fromWords(s string) float64 {
	segments := []float64{0}
	for _, part := range wordBreak.Split(s, -1) {
		v, ok := wordValues[part]
		if !ok {
			v = math.NaN()
		}
		top := segments[len(segments)-1]
		segments = segments[:len(segments)-1]
		switch {
		case v >= 100 || !ok:
			segments = append(segments, top*v)
		case top >= 1000:
			segments = append(segments, top, v)
		default:
			segments = append(segments, top+v)
		}
	}
	sum := 0.0
	for _, s := range segments {
		sum += s
	}
	return sum
}

var romanNumerals = []struct {
	value float64
	text  string
}{
	{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"},
	{9, "ix"}, {5, "v"},
	{4, "iv"}, {1, "i"},
}

// longestRoman is the approximate number of letters at which the reference implementation overflows its stack.
const longestRoman = 10_000

func stackOverflow() *Error { return runtimeError("Maximum call stack size exceeded") }

func toRoman(f float64) (string, *Error) {
	var b strings.Builder
	for _, n := range romanNumerals {
		for f >= n.value {
			if b.Len() > longestRoman {
				return "", stackOverflow()
			}
			b.WriteString(n.text)
			f -= n.value
		}
	}
	return b.String(), nil
}

func fromRoman(s string) float64 {
	values := map[byte]float64{'M': 1000, 'D': 500, 'C': 100, 'L': 50, 'X': 10, 'V': 5, 'I': 1}
	sum, top := 0.0, 1.0
	for i := len(s) - 1; i >= 0; i-- {
		v, ok := values[s[i]]
		switch {
		case !ok:
			return math.NaN()
		case v < top:
			sum -= v
		default:
			top = v
			sum += v
		}
	}
	return sum
}

func firstLetter(upper bool) rune {
	if upper {
		return 'A'
	}
	return 'a'
}

func toLetters(f float64, upper bool) string {
	var letters []rune
	for f > 0 && len(letters) < 1100 {
		letters = append([]rune{firstLetter(upper) + rune(math.Mod(f-1, 26))}, letters...)
		f = math.Floor((f - 1) / 26)
	}
	return string(letters)
}

func fromLetters(s string, upper bool) float64 {
	runes := []rune(s)
	sum := 0.0
	for i := range runes {
		sum += float64(runes[len(runes)-1-i]-firstLetter(upper)+1) * math.Pow(26, float64(i))
	}
	return sum
}
