package template

// EvaluateConditions evaluates the conditions of a template. The error is an *Error.
func (t *Template) EvaluateConditions(e *Env) (map[string]bool, error) {
	c := &conditions{env: *e, all: t.Conditions, done: map[string]bool{}, under: map[string]bool{}}
	c.env.Ref, c.env.Attribute, c.env.Conditions = nil, nil, c.done
	for _, name := range sortedKeys(t.Conditions) {
		if _, err := c.named(name); err != nil {
			return nil, err
		}
	}
	return c.done, nil
}

type conditions struct {
	env         Env
	all         map[string]any
	done, under map[string]bool
	inRule      bool // functions of rules are available
}

func (c *conditions) named(name string) (bool, error) {
	if v, ok := c.done[name]; ok {
		return v, nil
	}
	body, ok := c.all[name]
	if !ok {
		return false, wrong("Template format error: Unresolved condition dependency %s in the Conditions block of the template", name)
	}
	if c.under[name] {
		return false, wrong("Template format error: Circular dependencies for condition %s", name)
	}
	c.under[name] = true
	v, err := c.holds(body)
	if err == nil {
		c.done[name] = v
	}
	return v, err
}

func (c *conditions) holds(v any) (bool, error) {
	m, ok := v.(map[string]any)
	if !ok || len(m) != 1 {
		return false, wrong("Template format error: Every Conditions member must be a function that is true or false")
	}
	for name, arg := range m {
		if holds, ok, err := c.ruleFunction(name, arg); ok {
			return holds, err
		}
		switch name {
		case "Condition":
			s, _ := arg.(string)
			return c.named(s)
		case "Fn::Equals":
			return c.equals(arg)
		case "Fn::Not":
			l, _ := arg.([]any)
			if len(l) != 1 {
				return false, wrong("Template error: Fn::Not must have exactly 1 condition")
			}
			b, err := c.holds(l[0])
			return !b, err
		case "Fn::And", "Fn::Or":
			l, _ := arg.([]any)
			if len(l) < 2 || len(l) > 10 {
				return false, wrong("Template error: every %s object requires a list of at least 2 and at most 10 conditions", name)
			}
			result := name == "Fn::And"
			for _, x := range l { // all are evaluated, so that errors are found
				b, err := c.holds(x)
				if err != nil {
					return false, err
				}
				if name == "Fn::And" {
					result = result && b
				} else {
					result = result || b
				}
			}
			return result, nil
		}
	}
	return false, wrong("Template format error: Every Conditions member must be a function that is true or false")
}

func (c *conditions) equals(arg any) (bool, error) {
	l, _ := arg.([]any)
	if len(l) != 2 {
		return false, wrong("Template error: every Fn::Equals object requires a list of 2 string parameters.")
	}
	var texts [2]string
	for i, x := range l {
		if err := c.needs(x); err != nil {
			return false, err
		}
		v, err := c.env.value(x)
		if err != nil {
			return false, err
		}
		if text, ok := TextOf(v); ok {
			texts[i] = text
		} else {
			texts[i] = JSON(v)
		}
	}
	return texts[0] == texts[1], nil
}

// needs evaluates the conditions to which an Fn::If inside a condition refers.
func (c *conditions) needs(v any) error {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if err := c.needs(x); err != nil {
				return err
			}
		}
	case map[string]any:
		for k, arg := range v {
			if l, ok := arg.([]any); ok && k == "Fn::If" && len(l) == 3 {
				if name, ok := l[0].(string); ok {
					if _, err := c.named(name); err != nil {
						return err
					}
				}
			}
			if err := c.needs(arg); err != nil {
				return err
			}
		}
	}
	return nil
}
