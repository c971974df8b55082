package evaluation

import (
	"fmt"
	"strings"
)

// Composite is the rule of a composite alarm, such as ALARM("a") AND NOT (OK("b") OR INSUFFICIENT_DATA(c)).
type Composite struct {
	root  node
	names []string
}

// node evaluates a part of a rule. state returns the state of the alarm with a given name.
type node func(state func(name string) string) bool

// Alarms returns the names and ARNs of the alarms in the rule, without duplicates.
func (c *Composite) Alarms() []string { return c.names }

// Fires reports whether the rule holds. state returns the state of an alarm by its name or ARN in the rule.
func (c *Composite) Fires(state func(name string) string) bool { return c.root(state) }

// ParseComposite parses a rule. The error gives the position of a syntax error.
func ParseComposite(text string) (*Composite, error) {
	p := &composer{text: text}
	root, err := p.or(0)
	if err == nil && p.peek() != "" {
		err = p.wrong("expected AND, OR or the end")
	}
	if err != nil {
		return nil, err
	}
	return &Composite{root, p.names}, nil
}

type composer struct {
	text  string
	at    int
	names []string
}

func (p *composer) wrong(what string) error { return fmt.Errorf("column %d: %s", p.at+1, what) }

// peek returns the next word or character; empty at the end.
func (p *composer) peek() string {
	p.at += len(p.text[p.at:]) - len(strings.TrimLeft(p.text[p.at:], " \t\r\n"))
	rest := p.text[p.at:]
	n := 0
	for n < len(rest) && (rest[n] == '_' || rest[n] >= 'A' && rest[n] <= 'Z') {
		n++
	}
	if n == 0 && rest != "" {
		n = 1
	}
	return rest[:n]
}

func (p *composer) accept(word string) bool {
	if p.peek() != word {
		return false
	}
	p.at += len(word)
	return true
}

func (p *composer) or(depth int) (node, error) {
	return p.chain(depth, "OR", func(a, b bool) bool { return a || b }, func(depth int) (node, error) {
		return p.chain(depth, "AND", func(a, b bool) bool { return a && b }, p.operand)
	})
}

func (p *composer) chain(depth int, word string, join func(a, b bool) bool, operand func(int) (node, error)) (node,
	error) {
	left, err := operand(depth)
	for err == nil && p.accept(word) {
		var right node
		if right, err = operand(depth); err == nil {
			a := left
			left = func(state func(string) string) bool { return join(a(state), right(state)) }
		}
	}
	return left, err
}

func (p *composer) operand(depth int) (node, error) {
	const deepest = 100
	if depth > deepest {
		return nil, p.wrong("nested too deeply")
	}
	switch word := p.peek(); word {
	case "NOT":
		p.at += len(word)
		n, err := p.operand(depth + 1)
		return func(state func(string) string) bool { return !n(state) }, err
	case "(":
		p.at++
		n, err := p.or(depth + 1)
		if err == nil && !p.accept(")") {
			err = p.wrong("expected )")
		}
		return n, err
	case "TRUE", "FALSE":
		p.at += len(word)
		return func(func(string) string) bool { return word == "TRUE" }, nil
	case OK, Alarm, Insufficient:
		p.at += len(word)
		name, err := p.name()
		return func(state func(string) string) bool { return state(name) == word }, err
	}
	return nil, p.wrong("expected ALARM, OK, INSUFFICIENT_DATA, NOT, TRUE, FALSE or (")
}

// name parses the name of an alarm in parentheses, quoted or not.
func (p *composer) name() (string, error) {
	if !p.accept("(") {
		return "", p.wrong("expected (")
	}
	p.peek()
	rest := p.text[p.at:]
	var name string
	if strings.HasPrefix(rest, `"`) {
		n := strings.IndexByte(rest[1:], '"')
		if n < 0 {
			return "", p.wrong("the name does not end")
		}
		name = rest[1 : n+1]
		p.at += n + 2
	} else {
		n := strings.IndexAny(rest, ") ")
		if n < 0 {
			return "", p.wrong("expected )")
		}
		name = rest[:n]
		p.at += n
	}
	if !p.accept(")") {
		return "", p.wrong("expected )")
	}
	if name == "" {
		return "", p.wrong("expected the name of an alarm")
	}
	for _, known := range p.names {
		if known == name {
			return name, nil
		}
	}
	p.names = append(p.names, name)
	return name, nil
}
