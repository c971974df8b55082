package server

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// lookarounds matches whole texts with a pattern that has lookaheads or lookbehinds, which Go's regular expressions
// lack. It follows all ways through the text at once, as sets of positions, so the time grows with the length of the
// text and not exponentially.
type lookarounds struct{ root *syntax.Regexp }

// The names of the groups that stand for lookarounds in the parsed pattern, without the number that makes them unique.
const (
	ahead     = "ahead"
	notAhead  = "notAhead"
	behind    = "behind"
	notBehind = "notBehind"
)

// compileLookarounds compiles a pattern such as [a-z]([a-z]|-(?!-))* or [a-z.]*(?<!\.), whose dots match line ends. It
// returns nil if the pattern has other elements that Go lacks, such as backreferences.
func compileLookarounds(text string) pattern {
	kinds := []struct{ opening, name string }{{"(?=", ahead}, {"(?!", notAhead}, {"(?<=", behind}, {"(?<!", notBehind}}
	var b strings.Builder
	class, groups := false, 0
	for rest := text; rest != ""; {
		taken := rest[:1]
		switch {
		case rest[0] == '\\' && len(rest) > 1:
			taken = rest[:2]
		case class:
			class = rest[0] != ']'
		case rest[0] == '[':
			class = true
		default:
			for _, k := range kinds {
				if strings.HasPrefix(rest, k.opening) {
					fmt.Fprintf(&b, "(?P<%s%d>", k.name, groups)
					groups++
					rest = rest[len(k.opening):]
					taken = ""
					break
				}
			}
		}
		b.WriteString(taken)
		rest = rest[len(taken):]
	}
	root, err := syntax.Parse(b.String(), syntax.Perl|syntax.DotNL)
	if err != nil {
		return nil
	}
	return lookarounds{root}
}

// MatchString implements pattern.
func (l lookarounds) MatchString(s string) bool {
	text := []rune(s)
	return slices.Contains(ends(l.root, text, []int{0}), len(text))
}

// ends returns the positions, each once, at which a match of n can end that begins at one of the positions from.
func ends(n *syntax.Regexp, text []rune, from []int) []int {
	switch n.Op {
	case syntax.OpNoMatch:
		return nil
	case syntax.OpEmptyMatch:
		return from
	case syntax.OpLiteral:
		for _, r := range n.Rune {
			from = steps(text, from, func(c rune) bool {
				return c == r || n.Flags&syntax.FoldCase != 0 && unicode.ToLower(c) == unicode.ToLower(r)
			})
		}
		return from
	case syntax.OpCharClass:
		return steps(text, from, func(c rune) bool {
			for i := 0; i < len(n.Rune); i += 2 {
				if n.Rune[i] <= c && c <= n.Rune[i+1] {
					return true
				}
			}
			return false
		})
	case syntax.OpAnyChar:
		return steps(text, from, func(rune) bool { return true })
	case syntax.OpAnyCharNotNL:
		return steps(text, from, func(c rune) bool { return c != '\n' })
	case syntax.OpConcat:
		for _, sub := range n.Sub {
			from = ends(sub, text, from)
		}
		return from
	case syntax.OpAlternate:
		all := newPositions(text)
		for _, sub := range n.Sub {
			all.add(ends(sub, text, from))
		}
		return all.list
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return repeated(n, text, from)
	case syntax.OpCapture:
		return captured(n, text, from)
	default:
		return slices.DeleteFunc(slices.Clone(from), func(p int) bool { return !holds(n.Op, text, p) })
	}
}

// steps returns the positions after those characters at the positions from that are accepted.
func steps(text []rune, from []int, accepts func(rune) bool) []int {
	var to []int
	for _, p := range from {
		if p < len(text) && accepts(text[p]) {
			to = append(to, p+1)
		}
	}
	return to
}

// repeated returns the ends of a repetition.
func repeated(n *syntax.Regexp, text []rune, from []int) []int {
	least, most := n.Min, n.Max
	switch n.Op { //nolint:exhaustive // only repetitions come here
	case syntax.OpStar:
		least, most = 0, -1
	case syntax.OpPlus:
		least, most = 1, -1
	case syntax.OpQuest:
		least, most = 0, 1
	}
	for range least {
		from = ends(n.Sub[0], text, from)
	}
	all := newPositions(text)
	fresh := all.add(from)
	for i := least; len(fresh) > 0 && (most < 0 || i < most); i++ {
		fresh = all.add(ends(n.Sub[0], text, fresh))
	}
	return all.list
}

// captured returns the ends of a group. A lookaround keeps the positions at which it holds.
func captured(n *syntax.Regexp, text []rune, from []int) []int {
	kind := strings.TrimRight(n.Name, "0123456789")
	switch kind {
	case ahead, notAhead:
		return slices.DeleteFunc(slices.Clone(from), func(p int) bool {
			return (len(ends(n.Sub[0], text, []int{p})) > 0) != (kind == ahead)
		})
	case behind, notBehind:
		anywhere := make([]int, len(text)+1)
		for i := range anywhere {
			anywhere[i] = i
		}
		found := newPositions(text)
		found.add(ends(n.Sub[0], text, anywhere))
		return slices.DeleteFunc(slices.Clone(from), func(p int) bool { return found.has[p] != (kind == behind) })
	}
	return ends(n.Sub[0], text, from)
}

// holds reports whether an assertion without width holds at a position.
func holds(op syntax.Op, text []rune, p int) bool {
	word := func(i int) bool { return i >= 0 && i < len(text) && syntax.IsWordChar(text[i]) }
	switch op { //nolint:exhaustive // only assertions come here
	case syntax.OpBeginText:
		return p == 0
	case syntax.OpEndText:
		return p == len(text)
	case syntax.OpBeginLine:
		return p == 0 || text[p-1] == '\n'
	case syntax.OpEndLine:
		return p == len(text) || text[p] == '\n'
	case syntax.OpWordBoundary:
		return word(p-1) != word(p)
	case syntax.OpNoWordBoundary:
		return word(p-1) == word(p)
	}
	return false
}

// positions is a set of positions in a text.
type positions struct {
	has  []bool
	list []int
}

func newPositions(text []rune) *positions { return &positions{has: make([]bool, len(text)+1)} }

// add adds positions and returns those that are new.
func (s *positions) add(all []int) []int {
	before := len(s.list)
	for _, p := range all {
		if !s.has[p] {
			s.has[p] = true
			s.list = append(s.list, p)
		}
	}
	return s.list[before:]
}
