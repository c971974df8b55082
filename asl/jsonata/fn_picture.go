package jsonata

import "math"

var pictureFunctions = map[string]*native{
	"formatNumber": define("<n-so?:s>", 3, formatNumberFunction),
	"formatInteger": define("<n-s:s>", 2, func(c *call, args []value) (value, *Error) {
		if argument(args, 0) == nil {
			return nil, nil
		}
		p, err := integerPictureOf(c, argument(args, 1))
		if err != nil {
			return nil, err
		}
		s, err := p.format(math.Floor(numberOf(args[0])))
		return s, err
	}),
	"parseInteger": define("<s-s:n>", 2, func(c *call, args []value) (value, *Error) {
		if argument(args, 0) == nil {
			return nil, nil
		}
		p, err := integerPictureOf(c, argument(args, 1))
		if err != nil {
			return nil, err
		}
		if p.primary == sequencePicture {
			return nil, raise("D3130", p.token)
		}
		// The text is read once for each separator of the picture.
		if err := c.ev.budget.spendText(len(textOf(args[0])) * (1 + len(p.separators))); err != nil {
			return nil, err
		}
		f, err := p.parse(textOf(args[0]))
		return f, err
	}),
}

func integerPictureOf(c *call, v value) (*integerPicture, *Error) {
	picture, ok := v.(string)
	if !ok {
		return nil, missingPicture("lastIndexOf")
	}
	if err := c.ev.budget.spendPicture(len(picture)); err != nil {
		return nil, err
	}
	return parseIntegerPicture(picture)
}

// missingPicture returns the reference implementation's error for an undefined picture.
func missingPicture(method string) *Error {
	return runtimeError("Cannot read properties of undefined (reading '" + method + "')")
}
