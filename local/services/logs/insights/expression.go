package insights

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// expression is a compiled expression.
type expression func(*Row) value

func (p *parser) or() expression {
	left := p.and()
	for p.take("or") || p.take("||") {
		a, b := left, p.and()
		left = func(r *Row) value { return boolOf(a(r).truth() || b(r).truth()) }
	}
	return left
}

func (p *parser) and() expression {
	left := p.not()
	for p.take("and") || p.take("&&") {
		a, b := left, p.not()
		left = func(r *Row) value { return boolOf(a(r).truth() && b(r).truth()) }
	}
	return left
}

func (p *parser) not() expression {
	if p.take("not") || p.take("!") {
		a := p.not()
		return func(r *Row) value { return boolOf(!a(r).truth()) }
	}
	return p.comparison()
}

// comparisons maps operators to functions that evaluate the result of comparing two values.
var comparisons = map[string]func(order int) bool{
	"=": func(o int) bool { return o == 0 }, "==": func(o int) bool { return o == 0 },
	"!=": func(o int) bool { return o != 0 },
	"<":  func(o int) bool { return o < 0 }, "<=": func(o int) bool { return o <= 0 },
	">": func(o int) bool { return o > 0 }, ">=": func(o int) bool { return o >= 0 },
}

func (p *parser) comparison() expression {
	left := p.sum()
	t := p.peek()
	if holds := comparisons[t.text]; t.kind == sign && holds != nil {
		p.next()
		right := p.sum()
		unequal := t.text == "!="
		return func(r *Row) value {
			a, b := left(r), right(r)
			r.work.spend(perStep + min(len(a.text), len(b.text)))
			if !a.present || !b.present {
				return boolOf(unequal && a.present != b.present)
			}
			return boolOf(holds(compare(a, b)))
		}
	}
	negated := p.take("not")
	result := func(f func(*Row) bool) expression {
		return func(r *Row) value { return boolOf(f(r) != negated) }
	}
	switch {
	case p.take("like") || p.take("=~"):
		match := p.matcher()
		return result(func(r *Row) bool {
			v := left(r)
			return v.present && match(r, v.text)
		})
	case p.take("in"):
		p.need("[")
		var list []expression
		for {
			list = append(list, p.sum())
			if !p.take(",") {
				break
			}
		}
		p.need("]")
		return result(func(r *Row) bool {
			v := left(r)
			for _, e := range list {
				r.work.spend(perStep)
				if w := e(r); v.present && w.present && compare(v, w) == 0 {
					return true
				}
			}
			return false
		})
	case negated:
		p.refuse(p.peek(), "like or in")
	}
	return left
}

// matcher parses the right-hand side of like: a regular expression, a text in which % matches any characters, or a
// text to search for.
func (p *parser) matcher() func(*Row, string) bool {
	if written, start, ok := p.pattern(); ok {
		re, err := compilePattern(written)
		if err != nil {
			p.fail(start, p.at, "the regular expression /%s/ cannot be read: %v", written, err)
		}
		return re.matches
	}
	t := p.next()
	if t.kind != literal {
		p.refuse(t, "a regular expression or a text")
	}
	if strings.Contains(t.text, "%") {
		parts := strings.Split(t.text, "%")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		re, err := compilePattern(`(?s)^` + strings.Join(parts, ".*") + `$`)
		if err != nil {
			p.fail(t.start, t.end, "the text %s cannot be used with like: %v", t.text, err)
		}
		return re.matches
	}
	return func(r *Row, s string) bool {
		r.work.spend(perStep + len(s))
		return strings.Contains(s, t.text)
	}
}

func (p *parser) sum() expression {
	left := p.product()
	for {
		t := p.peek()
		if !t.is("+") && !t.is("-") {
			return left
		}
		p.next()
		left = arithmetic(t.text, left, p.product())
	}
}

func (p *parser) product() expression {
	left := p.power()
	for {
		t := p.peek()
		if !t.is("*") && !t.is("/") && !t.is("%") {
			return left
		}
		p.next()
		left = arithmetic(t.text, left, p.power())
	}
}

func (p *parser) power() expression {
	left := p.primary()
	if p.take("^") {
		return arithmetic("^", left, p.power())
	}
	return left
}

func arithmetic(operator string, a, b expression) expression {
	return func(r *Row) value {
		r.work.spend(perStep)
		x, y := a(r), b(r)
		if !x.numeric || !y.numeric {
			return value{}
		}
		switch operator {
		case "+":
			return numberOf(x.number + y.number)
		case "-":
			return numberOf(x.number - y.number)
		case "*":
			return numberOf(x.number * y.number)
		case "/":
			return numberOf(x.number / y.number)
		case "%":
			return numberOf(math.Mod(x.number, y.number))
		default:
			return numberOf(math.Pow(x.number, y.number))
		}
	}
}

func (p *parser) primary() expression {
	t := p.next()
	switch t.kind {
	case literal:
		v := value{text: t.text, present: true}
		if n := textOf(t.text); n.numeric {
			v = n
		}
		return func(*Row) value { return v }
	case number:
		n, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			p.fail(t.start, t.end, "%s at position %d is no number", t.text, t.start)
		}
		v := numberOf(n)
		return func(*Row) value { return v }
	case field:
		return fieldNamed(t.text)
	case word:
		if p.peek().is("(") {
			return p.call(t)
		}
		if strings.EqualFold(t.text, "true") || strings.EqualFold(t.text, "false") {
			v := textOf(strings.ToLower(t.text))
			return func(*Row) value { return v }
		}
		return fieldNamed(t.text)
	case sign:
		if t.is("-") {
			return arithmetic("-", func(*Row) value { return numberOf(0) }, p.primary())
		}
		if t.is("(") {
			e := p.or()
			p.need(")")
			return e
		}
	default:
	}
	p.refuse(t, "a field, a value or a function")
	return nil
}

func fieldNamed(name string) expression {
	return func(r *Row) value {
		r.work.spend(perStep)
		return r.get(name)
	}
}

// function is a function with its minimum and maximum number of arguments; a maximum of -1 means any number.
type function struct {
	least, most int
	of          func([]value) value
	// size returns the length of the text that the function builds, if it can be longer than its arguments.
	size func([]value) int
}

func numeric(f func(float64) float64) function {
	return function{least: 1, most: 1, of: func(a []value) value {
		if !a[0].numeric {
			return value{}
		}
		return numberOf(f(a[0].number))
	}}
}

func textual(f func(string) string) function {
	return function{least: 1, most: 1, of: func(a []value) value {
		if !a[0].present {
			return value{}
		}
		return textOf(f(a[0].text))
	}}
}

// functions lists the supported scalar functions.
var functions = map[string]function{
	"abs": numeric(math.Abs), "ceil": numeric(math.Ceil), "floor": numeric(math.Floor), "log": numeric(math.Log),
	"sqrt": numeric(math.Sqrt), "greatest": {least: 1, most: -1, of: extreme(1)}, "least": {least: 1, most: -1, of: extreme(-1)},
	"toupper": textual(strings.ToUpper), "tolower": textual(strings.ToLower), "trim": textual(strings.TrimSpace),
	"ltrim": textual(func(s string) string { return strings.TrimLeft(s, " \t\n\r") }),
	"rtrim": textual(func(s string) string { return strings.TrimRight(s, " \t\n\r") }),
	"strlen": {least: 1, most: 1, of: func(a []value) value {
		if !a[0].present {
			return value{}
		}
		return numberOf(float64(len([]rune(a[0].text))))
	}},
	"concat": {least: 1, most: -1, size: textSize, of: func(a []value) value {
		var b strings.Builder
		for _, v := range a {
			b.WriteString(v.text)
		}
		return textOf(b.String())
	}},
	"substr": {least: 2, most: 3, of: func(a []value) value {
		letters := []rune(a[0].text)
		if !a[0].present || !a[1].numeric {
			return value{}
		}
		from := min(max(0, int(a[1].number)), len(letters))
		to := len(letters)
		if len(a) > 2 && a[2].numeric {
			to = min(to, from+max(0, int(a[2].number)))
		}
		return textOf(string(letters[from:to]))
	}},
	"replace": {least: 3, most: 3, size: func(a []value) int {
		return len(a[0].text) + strings.Count(a[0].text, a[1].text)*max(0, len(a[2].text)-len(a[1].text))
	}, of: func(a []value) value {
		if !a[0].present {
			return value{}
		}
		return textOf(strings.ReplaceAll(a[0].text, a[1].text, a[2].text))
	}},
	"strcontains": {least: 2, most: 2, of: func(a []value) value {
		return boolOf(a[0].present && strings.Contains(a[0].text, a[1].text))
	}},
	"ispresent": {least: 1, most: 1, of: func(a []value) value { return boolOf(a[0].present) }},
	"isempty":   {least: 1, most: 1, of: func(a []value) value { return boolOf(a[0].text == "") }},
	"isblank":   {least: 1, most: 1, of: func(a []value) value { return boolOf(strings.TrimSpace(a[0].text) == "") }},
	"coalesce": {least: 1, most: -1, of: func(a []value) value {
		for _, v := range a {
			if v.present {
				return v
			}
		}
		return value{}
	}},
	"frommillis": {least: 1, most: 1, of: func(a []value) value {
		if !a[0].numeric {
			return value{}
		}
		return timeOf(int64(a[0].number))
	}},
	"tomillis": {least: 1, most: 1, of: func(a []value) value {
		if !a[0].numeric {
			return value{}
		}
		return numberOf(a[0].number)
	}},
}

// textSize returns the length of all texts together.
func textSize(a []value) int {
	n := 0
	for _, v := range a {
		n += len(v.text)
	}
	return n
}

// extreme returns a function that computes the greatest number, or the least if sign is -1.
func extreme(sign int) func([]value) value {
	return func(a []value) value {
		best := value{}
		for _, v := range a {
			if v.numeric && (!best.present || compare(v, best) == sign) {
				best = v
			}
		}
		return best
	}
}

// call parses the arguments of a function, after its name.
func (p *parser) call(name token) expression {
	p.need("(")
	switch strings.ToLower(name.text) {
	case "bin":
		every := p.period()
		p.need(")")
		return floorOf(fieldNamed("@timestamp"), every, false)
	case "datefloor", "dateceil":
		of := p.or()
		p.need(",")
		every := p.period()
		p.need(")")
		return floorOf(of, every, strings.EqualFold(name.text, "dateceil"))
	}
	f, ok := functions[strings.ToLower(name.text)]
	if !ok {
		if aggregates[strings.ToLower(name.text)] != nil {
			p.fail(name.start, name.end, "the function %s can stand in stats only", name.text)
		}
		p.fail(name.start, name.end, "there is no function %s here; there are abs, ceil, floor, greatest, least, log, sqrt, "+
			"strlen, toupper, tolower, trim, ltrim, rtrim, substr, replace, concat, strcontains, isempty, isblank, "+
			"ispresent, coalesce, bin, datefloor, dateceil, fromMillis and toMillis", name.text)
	}
	var arguments []expression
	for !p.peek().is(")") {
		arguments = append(arguments, p.or())
		if !p.take(",") {
			break
		}
	}
	p.need(")")
	if len(arguments) < f.least || f.most >= 0 && len(arguments) > f.most {
		p.fail(name.start, name.end, "the function %s does not take %d arguments", name.text, len(arguments))
	}
	return func(r *Row) value {
		values := make([]value, len(arguments))
		for i, a := range arguments {
			values[i] = a(r)
		}
		r.work.spend(perStep + textSize(values))
		if f.size != nil {
			r.work.build(f.size(values))
		}
		return f.of(values)
	}
}

// period parses a duration such as 5m and returns it in milliseconds.
func (p *parser) period() int64 {
	t := p.next()
	digits := strings.TrimRight(t.text, "abcdefghijklmnopqrstuvwxyz")
	n, err := strconv.ParseInt(digits, 10, 64)
	units := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
		"d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	unit := units[t.text[len(digits):]]
	if t.kind != number || err != nil || n <= 0 || unit == 0 || n > 10_000 {
		p.refuse(t, "a time such as 5m, in ms, s, m, h, d or w,")
	}
	return n * unit.Milliseconds()
}

// matches reports whether a row's text matches.
func (p pattern) matches(r *Row, text string) bool {
	p.match(r, text)
	return p.MatchString(text)
}

func floorOf(of expression, every int64, up bool) expression {
	return func(r *Row) value {
		v := of(r)
		if !v.numeric {
			return value{}
		}
		ms := int64(v.number)
		floor := ms - ((ms%every)+every)%every
		if up && floor < ms {
			floor += every
		}
		return timeOf(floor)
	}
}
