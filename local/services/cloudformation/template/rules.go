package template

import (
	"slices"
	"strings"
)

// CheckRules evaluates the rules of a template: each assertion of a rule whose RuleCondition holds, or that has none,
// must hold. The error is an *Error that contains the AssertDescriptions of the assertions that do not.
func (t *Template) CheckRules(e *Env) error {
	c := &conditions{env: *e, all: t.Conditions, done: map[string]bool{}, under: map[string]bool{}, inRule: true}
	c.env.Ref, c.env.Attribute, c.env.Conditions = nil, nil, c.done
	var failed []string
	for _, name := range sortedKeys(t.Rules) {
		f, err := c.rule(name, t.Rules[name])
		if err != nil {
			return err
		}
		failed = append(failed, f...)
	}
	if len(failed) > 0 {
		return wrong("Template error: %s", strings.Join(failed, "; "))
	}
	return nil
}

// rule returns the assertions of a rule that do not hold.
func (c *conditions) rule(name string, v any) (failed []string, err error) {
	rule, ok := v.(map[string]any)
	if !ok {
		return nil, wrong("Template format error: Every Rules member must be an object: %s", name)
	}
	for _, k := range sortedKeys(rule) {
		if k != "RuleCondition" && k != "Assertions" {
			return nil, wrong("Template format error: Invalid property %s of the rule %s", k, name)
		}
	}
	assertions, ok := rule["Assertions"].([]any)
	if !ok || len(assertions) == 0 {
		return nil, wrong("Template format error: The rule %s must have a list of Assertions", name)
	}
	if condition, ok := rule["RuleCondition"]; ok {
		if holds, err := c.holds(condition); err != nil || !holds {
			return nil, err
		}
	}
	for _, a := range assertions {
		assertion, _ := a.(map[string]any)
		assert, ok := assertion["Assert"]
		if !ok {
			return nil, wrong("Template format error: Every assertion of the rule %s must have an Assert", name)
		}
		holds, err := c.holds(assert)
		if err != nil {
			return nil, err
		}
		if !holds {
			description, _ := TextOf(assertion["AssertDescription"])
			failed = append(failed, strings.TrimSuffix("the rule "+name+" failed: "+description, ": "))
		}
	}
	return failed, nil
}

// ruleFunction evaluates a function that only rules have. ok is false if there is no such function.
func (c *conditions) ruleFunction(name string, arg any) (holds, ok bool, err error) {
	if !c.inRule {
		return false, false, nil
	}
	switch name {
	case "Fn::Contains", "Fn::EachMemberEquals", "Fn::EachMemberIn":
	case "Fn::RefAll", "Fn::ValueOf", "Fn::ValueOfAll":
		return false, true, wrong("Template error: the function %s is not supported", name)
	default:
		return false, false, nil
	}
	l, _ := arg.([]any)
	if len(l) != 2 {
		return false, true, wrong("Template error: every %s object requires a list of 2 parameters.", name)
	}
	members, err := c.texts(name, l[0])
	if err != nil {
		return false, true, err
	}
	if name == "Fn::EachMemberIn" {
		among, err := c.texts(name, l[1])
		return !slices.ContainsFunc(members, func(m string) bool { return !slices.Contains(among, m) }), true, err
	}
	v, err := c.env.value(l[1])
	if err != nil {
		return false, true, err
	}
	text, isText := TextOf(v)
	switch {
	case !isText:
		return false, true, wrong("Template error: the second parameter of %s must be a String.", name)
	case name == "Fn::Contains":
		return slices.Contains(members, text), true, nil
	}
	return !slices.ContainsFunc(members, func(m string) bool { return m != text }), true, nil
}

// texts evaluates a list of texts.
func (c *conditions) texts(function string, v any) ([]string, error) {
	v, err := c.env.value(v)
	if err != nil {
		return nil, err
	}
	l, ok := v.([]any)
	all := make([]string, len(l))
	for i, e := range l {
		var isText bool
		all[i], isText = TextOf(e)
		ok = ok && isText
	}
	if !ok {
		return nil, wrong("Template error: %s requires a list of strings.", function)
	}
	return all, nil
}
