package jsonata

// found is one match of a pattern in a text.
type found struct {
	match, start, end, groups value
	next                      value
}

func (m *found) startIndex() int { return int(numberOf(m.start)) }
func (m *found) endIndex() int   { return int(numberOf(m.end)) }

// object returns the match in the form that expressions see.
func (m *found) object() *object {
	o := newObject(5)
	o.set("match", m.match)
	o.set("start", m.start)
	o.set("end", m.end)
	o.set("groups", m.groups)
	o.set("next", m.next)
	return o
}

func (m *matcher) first(text []uint16) *nextMatch {
	return &nextMatch{matcher: m, text: text, first: true}
}

// find returns the next match, or nil if there is none.
func (ev *evaluator) find(n *nextMatch) (*found, *Error) {
	if !n.first && n.from >= len(n.text) {
		return nil, nil
	}
	steps := ev.budget.steps
	at, err := n.matcher.re.Match(n.text, n.from, &steps)
	if spent := ev.budget.spend(ev.budget.steps - steps); spent != nil {
		return nil, spent
	}
	if err != nil {
		return nil, limitError(err.Error())
	}
	if at == nil {
		return nil, nil
	}
	if !n.first && at[0] == at[1] {
		return nil, &Error{Code: "D1004", Position: n.matcher.position, value: n.matcher.source}
	}
	if err := ev.budget.spendText(at[1] - at[0]); err != nil {
		return nil, err
	}
	groups := newArray([]value{})
	for i := 2; i < len(at); i += 2 {
		if at[i] < 0 {
			groups.push(nil)
		} else {
			if err := ev.budget.spendText(at[i+1] - at[i]); err != nil {
				return nil, err
			}
			groups.push(fromUnits(n.text[at[i]:at[i+1]]))
		}
	}
	return &found{
		match: fromUnits(n.text[at[0]:at[1]]), start: float64(at[0]), end: float64(at[1]), groups: groups,
		next: &nextMatch{matcher: n.matcher, text: n.text, from: at[1]},
	}, nil
}

func (ev *evaluator) matchObject(n *nextMatch) (value, *Error) {
	m, err := ev.find(n)
	if err != nil || m == nil {
		return nil, err
	}
	return m.object(), nil
}

// search iterates over the matches of a pattern.
type search struct {
	call    *call
	text    []uint16
	current *found
}

// search finds the first match of a pattern: a regular expression, or a function that returns the same kind of object.
func (c *call) search(pattern value, text string) (*search, *Error) {
	if err := c.ev.budget.spend(len(text) / itemsReadPerStep); err != nil {
		return nil, err
	}
	s := &search{call: c, text: units(text)}
	function := pattern
	if wrapped, ok := pattern.(*closure); ok {
		function = wrapped.function
	}
	var err *Error
	if m, ok := function.(*matcher); ok {
		s.current, err = c.ev.find(m.first(s.text))
		return s, err
	}
	s.current, err = c.foundBy(pattern, text)
	return s, err
}

func (s *search) next() *Error {
	var err *Error
	if n, ok := s.current.next.(*nextMatch); ok {
		s.current, err = s.call.ev.find(n)
		return err
	}
	s.current, err = s.call.foundBy(s.current.next)
	return err
}

// between returns the text between two positions. Positions from a user's function are clamped to the text.
func (s *search) between(from, to int) string {
	from, to = max(0, min(from, len(s.text))), max(0, min(to, len(s.text)))
	return fromUnits(s.text[min(from, to):max(from, to)])
}

// noFunction returns the reference implementation's error for a missing function.
func noFunction() *Error {
	return runtimeError("Cannot read properties of undefined (reading 'apply')")
}

// foundBy calls a function that acts as a pattern.
func (c *call) foundBy(function value, args ...value) (*found, *Error) {
	if function == nil {
		return nil, noFunction()
	}
	v, err := c.invoke(function, args...)
	if err != nil || v == nil {
		return nil, err
	}
	o, ok := v.(*object)
	if !ok {
		return nil, &Error{Code: "T1010"}
	}
	m := &found{match: o.get("match"), start: o.get("start"), end: o.get("end"), groups: o.get("groups"),
		next: o.get("next")}
	_, started := m.start.(float64)
	_, grouped := m.groups.(*array)
	if !started && !grouped && !isFunction(m.next) {
		return nil, &Error{Code: "T1010"}
	}
	return m, nil
}
