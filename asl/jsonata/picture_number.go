package jsonata

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// decimalFormat holds the symbols of a picture of $formatNumber (XPath's fn:format-number).
type decimalFormat struct {
	decimal, grouping, exponent, minus, percent, perMille, digit, pattern string
	zero                                                                  rune
}

func newDecimalFormat(options value) *decimalFormat {
	f := &decimalFormat{
		decimal: ".", grouping: ",", exponent: "e", minus: "-", percent: "%", perMille: "‰", digit: "#", pattern: ";",
		zero: '0',
	}
	o, ok := options.(*object)
	if !ok {
		return f
	}
	for name, symbol := range map[string]*string{
		"decimal-separator": &f.decimal, "grouping-separator": &f.grouping, "exponent-separator": &f.exponent,
		"minus-sign": &f.minus,
		"percent":    &f.percent, "per-mille": &f.perMille, "digit": &f.digit, "pattern-separator": &f.pattern,
	} {
		if s, ok := o.get(name).(string); ok {
			*symbol = s
		}
	}
	if s, ok := o.get("zero-digit").(string); ok && s != "" {
		f.zero = []rune(s)[0]
	}
	return f
}

func (f *decimalFormat) isDigit(r rune) bool { return r >= f.zero && r < f.zero+10 }

// isPlace reports whether a character is a digit position, mandatory or optional.
func (f *decimalFormat) isPlace(r rune) bool { return f.isDigit(r) || string(r) == f.digit }

func (f *decimalFormat) isActive(r rune) bool {
	s := string(r)
	return f.isPlace(r) || s == f.decimal || s == f.exponent || s == f.grouping || s == f.pattern
}

// subPicture is one half of a picture, split into its parts.
type subPicture struct {
	text, prefix, suffix, active, mantissa, exponent, integer, fraction []rune
	hasExponent                                                         bool
}

func indexOf(text []rune, symbol string, from int) int {
	s := []rune(symbol)
	for i := max(from, 0); i+len(s) <= len(text); i++ {
		if slices.Equal(text[i:i+len(s)], s) {
			return i
		}
	}
	return -1
}

// cut splits a sub-picture into its parts. A sub-picture without an active character gets no prefix and no suffix,
// as at AWS and in the reference implementation after 2.1.0; version 2.0.6 fails on it.
func (f *decimalFormat) cut(picture string) *subPicture {
	s := &subPicture{text: []rune(picture)}
	edge := func(r rune) bool { return f.isActive(r) && string(r) != f.exponent }
	first := slices.IndexFunc(s.text, edge)
	last := len(s.text) - 1
	if first < 0 { // no active character: check the whole text as if it were active
		first = 0
	} else {
		for !edge(s.text[last]) {
			last--
		}
	}
	s.prefix, s.active, s.suffix = s.text[:first], s.text[first:last+1], s.text[last+1:]
	s.mantissa = s.active
	if at := indexOf(s.text, f.exponent, first); at >= 0 && at <= last+1 {
		s.mantissa = s.active[:min(at, len(s.active))]
		s.exponent = s.active[min(at+1, len(s.active)):]
		s.hasExponent = true
	}
	s.integer, s.fraction = s.mantissa, s.suffix
	if at := indexOf(s.mantissa, f.decimal, 0); at >= 0 {
		s.integer, s.fraction = s.mantissa[:at], s.mantissa[at+1:]
	}
	return s
}

// validate returns the code of the last rule that a sub-picture violates (XPath functions and operators 4.7.3).
func (f *decimalFormat) validate(s *subPicture) string {
	code := ""
	count := func(symbol string) int { return strings.Count(string(s.text), symbol) }
	check := func(broken bool, c string) {
		if broken {
			code = c
		}
	}
	percent, perMille := count(f.percent), count(f.perMille)
	at := indexOf(s.text, f.decimal, 0)
	isGrouping := func(i int) bool { return i >= 0 && i < len(s.text) && string(s.text[i]) == f.grouping }
	check(count(f.decimal) > 1, "D3081")
	check(percent > 1, "D3082")
	check(perMille > 1, "D3083")
	check(percent > 0 && perMille > 0, "D3084")
	check(!slices.ContainsFunc(s.mantissa, f.isPlace), "D3085")
	check(slices.ContainsFunc(s.active, func(r rune) bool { return !f.isActive(r) }), "D3086")
	if at >= 0 {
		check(isGrouping(at-1) || isGrouping(at+1), "D3087")
	} else {
		check(len(s.integer) > 0 && string(s.integer[len(s.integer)-1]) == f.grouping, "D3088")
	}
	check(indexOf(s.text, f.grouping+f.grouping, 0) >= 0, "D3089")
	optional := indexOf(s.integer, f.digit, 0)
	check(optional >= 0 && slices.ContainsFunc(s.integer[:max(optional, 0)], f.isDigit), "D3090")
	optional = strings.LastIndex(string(s.fraction), f.digit)
	check(optional >= 0 && strings.ContainsFunc(string(s.fraction)[max(optional, 0):], f.isDigit), "D3091")
	check(s.hasExponent && len(s.exponent) > 0 && percent+perMille > 0, "D3092")
	notDigit := func(r rune) bool { return !f.isDigit(r) }
	check(s.hasExponent && (len(s.exponent) == 0 || slices.ContainsFunc(s.exponent, notDigit)), "D3093")
	return code
}

// numberPicture is an analysed sub-picture (XPath functions and operators 4.7.4).
type numberPicture struct {
	*subPicture
	prefix                                                     string
	integerGroups, fractionGroups                              []int
	regular                                                    int
	minInteger, scaling, minFraction, maxFraction, minExponent int
}

func countFunc(text []rune, f func(r rune) bool) int {
	n := 0
	for _, r := range text {
		if f(r) {
			n++
		}
	}
	return n
}

func (f *decimalFormat) analyse(s *subPicture) *numberPicture {
	p := &numberPicture{subPicture: s, prefix: string(s.prefix)}
	p.integerGroups = f.groups(s, s.integer, false)
	p.fractionGroups = f.groups(s, s.fraction, true)
	if len(p.integerGroups) > 0 {
		p.regular = commonDistance(p.integerGroups)
	}
	p.minInteger = countFunc(s.integer, f.isDigit)
	p.scaling = p.minInteger
	p.minFraction = countFunc(s.fraction, f.isDigit)
	p.maxFraction = countFunc(s.fraction, f.isPlace)
	if p.minInteger == 0 && p.maxFraction == 0 {
		if s.hasExponent {
			p.minFraction, p.maxFraction = 1, 1
		} else {
			p.minInteger = 1
		}
	}
	if s.hasExponent && p.minInteger == 0 && indexOf(s.integer, f.digit, 0) >= 0 {
		p.minInteger = 1
	}
	if p.minInteger == 0 && p.minFraction == 0 {
		p.minFraction = 1
	}
	p.minExponent = countFunc(s.exponent, f.isDigit)
	return p
}

// groups returns the positions of the separators in a part of the picture, as their distance in digits from the
// decimal separator. After the first separator, the reference implementation searches the integer part for the next
// one, whichever part it processes; groups does the same.
func (f *decimalFormat) groups(s *subPicture, part []rune, toLeft bool) []int {
	var positions []int
	for at := indexOf(part, f.grouping, 0); at >= 0; at = indexOf(s.integer, f.grouping, at+1) {
		at := min(at, len(part))
		if toLeft {
			positions = append(positions, countFunc(part[:at], f.isPlace))
		} else {
			positions = append(positions, countFunc(part[at:], f.isPlace))
		}
	}
	return positions
}

func formatNumberFunction(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	number := numberOf(args[0])
	f := newDecimalFormat(argument(args, 2))
	picture, ok := argument(args, 1).(string)
	if !ok {
		return nil, missingPicture("split")
	}
	size := len(picture)
	if o, ok := argument(args, 2).(*object); ok {
		for i := range o.len() {
			size += len(textOf(o.at(i)))
		}
	}
	if err := c.ev.budget.spendPicture(size); err != nil {
		return nil, err
	}
	halves := strings.Split(picture, f.pattern)
	if len(halves) > 2 {
		return nil, &Error{Code: "D3080"}
	}
	var pictures []*numberPicture
	for _, half := range halves {
		pictures = append(pictures, &numberPicture{subPicture: f.cut(half)})
	}
	for i, p := range pictures {
		if code := f.validate(p.subPicture); code != "" {
			return nil, &Error{Code: code}
		}
		pictures[i] = f.analyse(p.subPicture)
	}
	p := pictures[0]
	if number < 0 || math.IsNaN(number) {
		if len(pictures) == 1 {
			p.prefix = f.minus + p.prefix
		} else {
			p = pictures[1]
		}
	}
	return f.write(p, number), nil
}

func (f *decimalFormat) write(p *numberPicture, number float64) string {
	switch {
	case indexOf(p.text, f.percent, 0) >= 0:
		number *= 100
	case indexOf(p.text, f.perMille, 0) >= 0:
		number *= 1000
	}
	exponent := 0
	if p.minExponent > 0 {
		number, exponent = normalise(number, p.scaling)
	}
	digits := f.digits(round(number, float64(p.maxFraction)), p.maxFraction)
	whole, fraction, _ := strings.Cut(digits, ".")
	zero := string(f.zero)
	whole = strings.TrimLeft(whole, zero)
	fraction = strings.TrimRight(fraction, zero)
	w, d := []rune(whole), []rune(fraction)
	w = append([]rune(strings.Repeat(zero, max(p.minInteger-len(w), 0))), w...)
	d = append(d, []rune(strings.Repeat(zero, max(p.minFraction-len(d), 0)))...)
	text := f.grouped(p, w, d)
	if p.minExponent > 0 {
		e := f.digits(math.Abs(float64(exponent)), 0)
		sign := ""
		if exponent < 0 {
			sign = f.minus
		}
		text += f.exponent + sign + strings.Repeat(zero, max(p.minExponent-len([]rune(e)), 0)) + e
	}
	return p.prefix + text + string(p.suffix)
}

// normalise scales a number to the given number of digits before the decimal separator.
func normalise(number float64, scaling int) (mantissa float64, exponent int) {
	high, low := math.Pow(10, float64(scaling)), math.Pow(10, float64(scaling-1))
	const most = 700 // enough for every float64; zero and negative numbers never get there
	for number < low && exponent > -most {
		number *= 10
		exponent--
	}
	for number > high && exponent < most {
		number /= 10
		exponent++
	}
	return number, exponent
}

// digits formats a number with the given number of decimal places, in the digits of the format.
func (f *decimalFormat) digits(number float64, places int) string {
	s := formatNumber(math.Abs(number))
	if math.Abs(number) < 1e21 {
		s = strconv.FormatFloat(math.Abs(number), 'f', places, 64)
	}
	if f.zero == '0' {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r - '0' + f.zero
		}
		return r
	}, s)
}

// grouped joins both sides of the decimal separator and inserts grouping separators. If a position lies beyond the
// left end, it counts from the right end, as in the reference implementation.
func (f *decimalFormat) grouped(p *numberPicture, whole, fraction []rune) string {
	text := slices.Concat(whole, []rune(f.decimal), fraction)
	point := len(whole)
	insert := func(at int) {
		i := sliceBound(float64(at), float64(len(text)))
		text = slices.Insert(slices.Clone(text), i, []rune(f.grouping)...)
	}
	if p.regular > 0 {
		for group := 1; group <= (point-1)/p.regular; group++ {
			insert(point - group*p.regular)
		}
	} else {
		for _, position := range p.integerGroups {
			insert(point - position)
			point++
		}
	}
	point = indexOf(text, f.decimal, 0)
	for _, position := range p.fractionGroups {
		insert(point + 1 + position)
	}
	point = indexOf(text, f.decimal, 0)
	if indexOf(p.text, f.decimal, 0) < 0 || point == len(text)-1 {
		text = text[:len(text)-1]
	}
	return string(text)
}
