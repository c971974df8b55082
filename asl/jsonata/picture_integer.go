package jsonata

import (
	"math"
	"strings"
)

// pictureKind is the notation of an integer.
type pictureKind uint8

const (
	decimalPicture pictureKind = iota
	letterPicture
	romanPicture
	wordPicture
	sequencePicture // a numbering sequence, which is not supported
)

type letterCase uint8

const (
	lowerLetters letterCase = iota
	upperLetters
	titleLetters
)

// separator is a grouping separator; position is the number of digits to its right.
type separator struct {
	position  int
	character rune
}

// integerPicture is a parsed picture of $formatInteger (XPath's fn:format-integer).
type integerPicture struct {
	primary   pictureKind
	letters   letterCase
	ordinal   bool
	zero      rune // of the digit family
	mandatory int  // digits
	optional  int  // digits
	// regular is the distance at which separators repeat; 0 if they occur only where the picture has them.
	regular    int
	separators []separator
	token      string
}

// digitZeros lists the zero digit of each of Unicode's decimal digit families in the basic plane.
var digitZeros = []rune{
	0x30, 0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0DE6,
	0x0E50, 0x0ED0, 0x0F20,
	0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0,
	0xA900, 0xA9D0, 0xA9F0,
	0xAA50, 0xABF0, 0xFF10,
}

func parseIntegerPicture(picture string) (*integerPicture, *Error) {
	p := &integerPicture{}
	if i := strings.LastIndexByte(picture, ';'); i >= 0 {
		p.ordinal = strings.HasPrefix(picture[i+1:], "o")
		picture = picture[:i]
	}
	switch picture {
	case "A", "a":
		p.primary = letterPicture
	case "I", "i":
		p.primary = romanPicture
	case "W", "w", "Ww":
		p.primary = wordPicture
	default:
		return p, p.digits(picture)
	}
	switch {
	case picture == "Ww":
		p.letters = titleLetters
	case picture[0] < 'a':
		p.letters = upperLetters
	}
	return p, nil
}

// digits parses a pattern of digits, # for optional ones, and separators.
func (p *integerPicture) digits(picture string) *Error {
	position := 0
	runes := []rune(picture)
	for i := len(runes) - 1; i >= 0; i-- {
		zero := digitFamily(runes[i])
		switch {
		case zero != 0:
			if p.zero != 0 && p.zero != zero {
				return &Error{Code: "D3131"}
			}
			p.zero = zero
			p.mandatory++
			position++
		case runes[i] == '#':
			p.optional++
			position++
		default:
			p.separators = append(p.separators, separator{position, runes[i]})
		}
	}
	if p.mandatory == 0 {
		p.primary, p.token = sequencePicture, picture
		return nil
	}
	p.regular = regularDistance(p.separators)
	return nil
}

func digitFamily(r rune) rune {
	for _, zero := range digitZeros {
		if r >= zero && r <= zero+9 {
			return zero
		}
	}
	return 0
}

// regularDistance returns the distance at which equal separators repeat; 0 if they do not repeat.
func regularDistance(separators []separator) int {
	if len(separators) == 0 {
		return 0
	}
	positions := make([]int, len(separators))
	for i, s := range separators {
		if s.character != separators[0].character {
			return 0
		}
		positions[i] = s.position
	}
	return commonDistance(positions)
}

// commonDistance returns the greatest common divisor of the positions. Each of its first len(positions) multiples
// must be among the positions; otherwise there is no common distance.
func commonDistance(positions []int) int {
	factor := 0
	for _, p := range positions {
		factor = gcd(factor, p)
	}
	for i := range positions {
		found := false
		for _, p := range positions {
			found = found || p == (i+1)*factor
		}
		if !found {
			return 0
		}
	}
	return factor
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// format formats a whole number.
func (p *integerPicture) format(f float64) (string, *Error) {
	magnitude := math.Abs(f)
	var s string
	var err *Error
	switch p.primary {
	case letterPicture:
		s = toLetters(magnitude, p.letters == upperLetters)
	case romanPicture:
		if s, err = toRoman(magnitude); p.letters == upperLetters {
			s = strings.ToUpper(s)
		}
	case wordPicture:
		s, err = toWords(magnitude, p.ordinal)
		switch p.letters {
		case upperLetters:
			s = strings.ToUpper(s)
		case lowerLetters:
			s = strings.ToLower(s)
		default:
		}
	case decimalPicture:
		s = p.formatDecimal(magnitude)
	default:
		return "", raise("D3130", p.token)
	}
	if f < 0 {
		s = "-" + s
	}
	return s, err
}

func (p *integerPicture) formatDecimal(f float64) string {
	digits := []rune(formatNumber(f))
	if missing := p.mandatory - len(digits); missing > 0 {
		digits = append([]rune(strings.Repeat("0", missing)), digits...)
	}
	last, tens := digits[len(digits)-1], rune(0)
	if len(digits) > 1 {
		tens = digits[len(digits)-2]
	}
	if p.zero != '0' {
		for i := range digits {
			digits[i] += p.zero - '0'
		}
	}
	s := string(p.grouped(digits))
	if !p.ordinal {
		return s
	}
	suffix := map[rune]string{'1': "st", '2': "nd", '3': "rd"}[last]
	if suffix == "" || tens == '1' || p.zero != '0' {
		suffix = "th"
	}
	return s + suffix
}

func (p *integerPicture) grouped(digits []rune) []rune {
	if p.regular > 0 {
		var out []rune
		for i, d := range digits {
			if left := len(digits) - i; i > 0 && left%p.regular == 0 {
				out = append(out, p.separators[0].character)
			}
			out = append(out, d)
		}
		return out
	}
	for i := len(p.separators) - 1; i >= 0; i-- {
		s := p.separators[i]
		at := max(len(digits)-s.position, 0)
		digits = append(digits[:at:at], append([]rune{s.character}, digits[at:]...)...)
	}
	return digits
}

// parse parses a number that was formatted with the picture. It returns NaN if the text is not such a number.
func (p *integerPicture) parse(s string) (float64, *Error) {
	switch p.primary {
	case letterPicture:
		return fromLetters(s, p.letters == upperLetters), nil
	case romanPicture:
		if p.letters != upperLetters {
			s = strings.ToUpper(s)
		}
		return fromRoman(s), nil
	case wordPicture:
		return fromWords(strings.ToLower(s)), nil
	default:
		return p.parseDecimal(s)
	}
}

func (p *integerPicture) parseDecimal(s string) (float64, *Error) {
	if p.ordinal {
		s = s[:max(len(s)-2, 0)]
	}
	if p.regular > 0 {
		s = strings.ReplaceAll(s, ",", "")
	} else {
		for _, sep := range p.separators {
			s = strings.ReplaceAll(s, string(sep.character), "")
		}
	}
	if p.zero != '0' {
		digits := []rune(s)
		for i, r := range digits {
			if digits[i] = r - p.zero + '0'; digits[i] < 0 {
				return 0, runtimeError("Invalid code point " + formatNumber(float64(digits[i])))
			}
		}
		s = string(digits)
	}
	return leadingInteger(s), nil
}

// leadingInteger implements JavaScript's parseInt: it returns the number at the beginning of the text; NaN if there
// is none.
func leadingInteger(s string) float64 {
	s = strings.TrimSpace(s)
	sign := 1.0
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	l := lexer{source: s}
	end := l.digits(0)
	if end == 0 {
		return math.NaN()
	}
	f, _ := toNumber(nil, s[:end])
	return sign * numberOf(f)
}
