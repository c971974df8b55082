package asl

import (
	"errors"
	"fmt"
	"strings"

	"stepback/jsonvalue"
)

// pathKind defines which values a path field may have.
type pathKind uint8

const (
	anyPath                  pathKind = iota // InputPath, OutputPath: also null
	resultPath                               // a reference path into the state input, or null
	referencePath                            // selects a single node of the input, the context object or a variable
	referencePathOrIntrinsic                 // ErrorPath, CausePath
)

// path reads a path field.
func (o object) path(key string, kind pathKind) Path {
	v, ok := o.get(key)
	if !ok {
		return Path{}
	}
	if v.IsNull() && (kind == anyPath || kind == resultPath) {
		return Path{Present: true, Null: true}
	}
	o.d.enter(key)
	defer o.d.leave()
	if v.Kind() != jsonvalue.String {
		o.d.expect("String", v)
		return Path{}
	}
	o.d.checkPath(v.Text(), kind)
	return Path{Present: true, Text: v.Text()}
}

// checkPath reports a path at the current position that does not match its kind.
func (d *decoder) checkPath(s string, kind pathKind) {
	const example = "a path such as $.order.id or $['order-id']"
	switch {
	case kind == referencePathOrIntrinsic && isCall(s):
		if err := d.checkCall(s); err != nil {
			d.fail("Value must be a valid JSONPath or a valid intrinsic function call: %s", err)
		}
	case kind == anyPath:
		if err := d.pathError(s); err != nil {
			d.fail("Value must be a valid JSONPath.").hint(err.Error())
		}
	case kind == resultPath && strings.HasPrefix(s, "$") && !inInput(s):
		d.fail("Value is not a Reference Path: it must lead into the state input").
			hint(example + "; the context object and variables cannot be written")
	default:
		if err := d.referenceError(s); err != nil {
			d.fail("Value is not a Reference Path: %s", err).hint(example)
		}
	}
}

// inInput reports whether the path starts from the state input, not from the context object or a variable.
func inInput(s string) bool {
	return s == "$" || strings.HasPrefix(s, "$.") || strings.HasPrefix(s, "$[")
}

func (d *decoder) pathError(s string) error {
	if d.options.Syntax.Path != nil {
		return d.options.Syntax.Path(s)
	}
	return lightPathCheck(s)
}

// referenceError returns the reason why a path is not a reference path, in the service's words where they are
// known; nil if it is one.
func (d *decoder) referenceError(s string) error {
	if !strings.HasPrefix(s, "$") {
		return errors.New("Reference path didn't start with '$'") //nolint:staticcheck // the service's own words
	}
	if d.options.Syntax.ReferencePath == nil {
		if err := lightPathCheck(s); err != nil {
			return err
		}
	}
	if err := operatorError(s); err != nil || d.options.Syntax.ReferencePath == nil {
		return err
	}
	return d.options.Syntax.ReferencePath(s)
}

func (d *decoder) checkCall(s string) error {
	if d.options.Syntax.Intrinsic != nil {
		return d.options.Syntax.Intrinsic(s)
	}
	return lightCallCheck(s)
}

// lightPathCheck accepts every text that starts like a path and whose brackets and quotes match.
func lightPathCheck(s string) error {
	if !strings.HasPrefix(s, "$") {
		return errors.New("a path starts with '$'")
	}
	if s != strings.TrimSpace(s) || strings.HasSuffix(s, ".") {
		return errors.New("a path does not end with a blank or a dot")
	}
	if !balanced(s) {
		return errors.New("a bracket or a quote of the path is not closed")
	}
	return nil
}

// operatorError returns an error if the path contains an operator that may select more than one node.
func operatorError(s string) error {
	bare := outsideQuotes(s)
	for _, illegal := range []string{"..", "*", "@", ",", ":", "?"} {
		if strings.Contains(bare, illegal) {
			return fmt.Errorf("Illegal use of '%s'", illegal) //nolint:staticcheck // the service's own words
		}
	}
	for i := range len(bare) {
		inside := strings.TrimLeft(bare[i+1:], " ")
		if bare[i] == '[' && (inside == "" || !strings.ContainsAny(inside[:1],
			"]0123456789")) { // a name in quotes was removed
			return errors.New("'[' must be followed by ' or '['")
		}
	}
	return nil
}

// isCall reports whether a text looks like a call of an intrinsic function.
func isCall(s string) bool { return strings.HasPrefix(s, "States.") }

func lightCallCheck(s string) error {
	name, rest, found := strings.Cut(s, "(")
	if !found || !strings.HasSuffix(rest, ")") || !balanced(s) {
		return errors.New("a call is written States.Name(argument, …)")
	}
	if !isName(strings.TrimPrefix(name, "States.")) {
		return fmt.Errorf("'%s' is not the name of an intrinsic function", name)
	}
	return nil
}

// looksDynamic reports whether a literal text looks like a path or an intrinsic call.
func looksDynamic(s string) bool {
	return strings.HasPrefix(s, "$.") || strings.HasPrefix(s, "$$.") || isCall(s) && lightCallCheck(s) == nil
}

// balanced reports whether brackets, parentheses and single quotes are closed in order.
func balanced(s string) bool {
	var open []byte
	quoted := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quoted && c == '\\':
			i++
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(' || c == '[':
			open = append(open, c)
		case c == ')' || c == ']':
			if len(open) == 0 || (open[len(open)-1] == '(') != (c == ')') {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0 && !quoted
}

// outsideQuotes returns the text without the parts in single or double quotes.
func outsideQuotes(s string) string {
	var b strings.Builder
	var quote byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
