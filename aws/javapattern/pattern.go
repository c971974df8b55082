// Package javapattern matches texts with regular expressions in Java's dialect, in which AWS writes the patterns of API
// models and users the AllowedPattern of parameters. Lookarounds and large repetitions, which Go's regular expressions
// lack, are matched without backtracking.
package javapattern

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"stepback/internal/lazyregexp"
)

// Pattern matches whole texts.
type Pattern interface{ MatchString(string) bool }

// javaWords are elements of Java's regular expressions, in which models are written, and what Go has for them. The text
// of a surrogate pair, and of five and six digits, means a character beyond U+FFFF.
var javaWords = strings.NewReplacer(`\p{ASCII}`, `[\x00-\x7f]`, `\p{Print}`, `[\x20-\x7e]`,
	`\uD800\uDC00-\uDBFF\uDFFF`, `\x{10000}-\x{10FFFF}`, `\u10000-\u10FFFF`, `\x{10000}-\x{10FFFF}`)

// javaEscape is the escape of a character.
var javaEscape = lazyregexp.New(`\\u([0-9A-Fa-f]{4})`)

// Compile compiles a regular expression in Java's dialect, which models and the AllowedPattern of parameters use,
// lookarounds included. Backreferences, possessive and atomic groups are refused. A text that takes too much work
// counts as one that does not match. Most patterns in models only define the allowed characters, and are matched
// without the regexp package.
func Compile(text string) (Pattern, error) {
	text = javaEscape.ReplaceAllString(javaWords.Replace(text), `\x{$1}`)
	r, err := regexp.Compile(`\A(?:` + text + `)\z`)
	if err != nil {
		if p := compileLookarounds(text); p != nil {
			return p, nil
		}
		return nil, err
	}
	if parsed, err := syntax.Parse(text, syntax.Perl); err == nil {
		if c := charactersOf(parsed); c != nil {
			return c, nil
		}
	}
	return r, nil
}

// characters matches texts of a limited length whose characters are all of one class, as the pattern [a-z0-9]{1,64}
// does.
type characters struct {
	ascii    [utf8.RuneSelf]bool
	min, max int // max is below 0 for any number
}

// charactersOf converts a pattern to characters; it returns nil if the pattern has another form, or contains
// characters beyond ASCII.
func charactersOf(p *syntax.Regexp) *characters {
	for p.Op == syntax.OpConcat || p.Op == syntax.OpCapture {
		sub := p.Sub
		for len(sub) > 0 && sub[0].Op == syntax.OpBeginText {
			sub = sub[1:]
		}
		for len(sub) > 0 && sub[len(sub)-1].Op == syntax.OpEndText {
			sub = sub[:len(sub)-1]
		}
		if len(sub) != 1 {
			return nil
		}
		p = sub[0]
	}
	c := &characters{min: 1, max: -1}
	switch p.Op {
	case syntax.OpStar:
		c.min = 0
	case syntax.OpPlus:
	case syntax.OpRepeat:
		c.min, c.max = p.Min, p.Max
	default:
		return nil
	}
	class := p.Sub[0]
	if class.Op != syntax.OpCharClass {
		return nil
	}
	for i := 0; i < len(class.Rune); i += 2 {
		if class.Rune[i+1] >= utf8.RuneSelf {
			return nil
		}
		for r := class.Rune[i]; r <= class.Rune[i+1]; r++ {
			c.ascii[r] = true
		}
	}
	return c
}

// MatchString implements Pattern.
func (c *characters) MatchString(s string) bool {
	if len(s) < c.min || c.max >= 0 && len(s) > c.max {
		return false
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || !c.ascii[s[i]] {
			return false
		}
	}
	return true
}
