package jsonata

import (
	"strconv"
	"strings"
)

// datePart is a literal text or, when component is not 0, a component of a date in a picture (XPath's
// fn:format-dateTime).
type datePart struct {
	literal   string
	component byte
	// named is true if the component is written as a name. names is the letter case of the name.
	named   bool
	letters letterCase
	integer *integerPicture
	// military is true for the presentation t, which writes Z for UTC.
	military bool
	maxWidth int // -1 when unlimited
	digits   int // of years, months and days; -1 when unlimited
}

// integerComponents holds the components that are written as numbers unless the picture asks for a name.
const integerComponents = "YMDdFWwXxHhmsf"

var defaultPresentations = map[byte]string{
	'Y': "1", 'M': "1", 'D': "1", 'd': "1", 'F': "n", 'W': "1", 'w': "1", 'X': "1", 'x': "1", 'H': "1", 'h': "1",
	'P': "n", 'm': "01",
	's': "01", 'f': "1", 'Z': "01:01", 'z': "01:01", 'C': "n", 'E': "n",
}

func parseDatePicture(picture string) ([]datePart, *Error) {
	var parts []datePart
	literal := func(text string) {
		if text != "" {
			parts = append(parts, datePart{literal: text})
		}
	}
	for {
		before, rest, found := strings.Cut(picture, "[")
		literal(strings.ReplaceAll(before, "]]", "]"))
		if !found {
			return parts, nil
		}
		if strings.HasPrefix(rest, "[") {
			literal("[")
			picture = rest[1:]
			continue
		}
		marker, after, found := strings.Cut(rest, "]")
		if !found {
			return nil, &Error{Code: "D3135"}
		}
		part, err := parseMarker(strings.Join(strings.Fields(marker), ""))
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		picture = after
	}
}

// parseMarker reads a component, its presentation and its width.
func parseMarker(marker string) (datePart, *Error) {
	p := datePart{maxWidth: -1, digits: -1}
	if marker == "" {
		return p, raise("D3132", "")
	}
	p.component = marker[0]
	presentation := marker[1:]
	minWidth := -1
	if comma := strings.LastIndexByte(presentation, ','); comma >= 0 {
		low, high, hasMax := strings.Cut(presentation[comma+1:], "-")
		minWidth = width(low)
		if hasMax {
			p.maxWidth = width(high)
		}
		presentation = presentation[:comma]
	}
	modifier := byte(0)
	if last := len(presentation) - 1; last > 0 && strings.IndexByte("atco", presentation[last]) >= 0 {
		modifier = presentation[last]
		presentation = presentation[:last]
	}
	if presentation == "" {
		var known bool
		if presentation, known = defaultPresentations[p.component]; !known {
			return p, raise("D3132", string([]rune(marker)[0]))
		}
	}
	p.military = modifier == 't'
	return p, p.present(presentation, modifier, minWidth)
}

// present parses the presentation of a component: a name or an integer picture.
func (p *datePart) present(presentation string, modifier byte, minWidth int) *Error {
	var err *Error
	switch {
	case presentation[0] == 'n':
		p.named = true
	case strings.HasPrefix(presentation, "Nn"):
		p.named, p.letters = true, titleLetters
	case presentation[0] == 'N':
		p.named, p.letters = true, upperLetters
	case strings.IndexByte(integerComponents, p.component) >= 0:
		if modifier != 0 {
			presentation += ";" + string(modifier)
		}
		if p.integer, err = parseIntegerPicture(presentation); err != nil {
			return err
		}
		p.integer.mandatory = max(p.integer.mandatory, minWidth)
		p.limitDigits()
	}
	if p.component == 'Z' || p.component == 'z' {
		p.integer, err = parseIntegerPicture(presentation)
	}
	return err
}

func (p *datePart) limitDigits() {
	if strings.IndexByte("YMD", p.component) < 0 {
		return
	}
	if p.maxWidth >= 0 {
		p.digits = p.maxWidth
		p.integer.mandatory = p.maxWidth
	} else if w := p.integer.mandatory + p.integer.optional; w >= 2 {
		p.digits = w
	}
}

// width parses a width; -1 means any.
func width(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1000 {
		return -1
	}
	return n
}

var (
	dayNames   = []string{"", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
	monthNames = []string{
		"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
		"December",
	}
)
