package javapattern

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"stepback/internal/budgets"
	"stepback/internal/lazyregexp"
)

// lookarounds matches whole texts with a pattern that has lookaheads, lookbehinds, or repetitions of more than 1,000
// times, which Go's regular expressions lack. It follows all ways through the text at once, as sets of positions, so
// the time grows with the length of the text and not exponentially.
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
func compileLookarounds(text string) Pattern {
	kinds := []struct{ opening, name string }{{"(?=", ahead}, {"(?!", notAhead}, {"(?<=", behind}, {"(?<!", notBehind}}
	var b strings.Builder
	class, groups := false, 0
	large := map[int][2]int{} // repetitions by the number that stands for them
	for rest := text; rest != ""; {
		taken := rest[:1]
		switch {
		case rest[0] == '\\' && len(rest) > 1:
			taken = rest[:2]
		case class:
			class = rest[0] != ']'
		case rest[0] == '[':
			class = true
		case rest[0] == '{':
			if count, least, most := repetition(rest); max(least, most) > maxRepeat {
				number := standIn
				for large[number] != [2]int{} || strings.Contains(text, fmt.Sprintf("{%d}", number)) {
					number--
				}
				if number < 2 {
					return nil
				}
				large[number] = [2]int{least, most}
				fmt.Fprintf(&b, "{%d}", number)
				rest, taken = rest[len(count):], ""
			}
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
	enlarge(root, large)
	return lookarounds{root}
}

// maxRepeat is the largest count of a repetition that package syntax parses, that of nested repetitions multiplied.
// standIn is the first number that stands for a larger one.
const (
	maxRepeat = 1000
	standIn   = 97
)

var counts = lazyregexp.New(`^\{(\d{1,9})(?:(,)(\d{0,9}))?\}`)

// repetition returns the count, such as {1,100000}, with which a text begins, and its bounds. most is -1 for none. An
// empty count means that the text begins with something else.
func repetition(text string) (count string, least, most int) {
	m := counts.FindStringSubmatch(text)
	if m == nil {
		return "", 0, 0
	}
	least, _ = strconv.Atoi(m[1]) // it has at most 9 digits
	switch {
	case m[2] == "":
		most = least
	case m[3] == "":
		most = -1
	default:
		most, _ = strconv.Atoi(m[3])
	}
	return m[0], least, most
}

// enlarge sets the bounds of the repetitions for which numbers stand.
func enlarge(n *syntax.Regexp, large map[int][2]int) {
	if bounds, ok := large[n.Min]; ok && n.Op == syntax.OpRepeat && n.Min == n.Max {
		n.Min, n.Max = bounds[0], bounds[1]
	}
	for _, sub := range n.Sub {
		enlarge(sub, large)
	}
}

// MatchString implements Pattern.
func (l lookarounds) MatchString(s string) bool {
	m := match{text: []rune(s), left: budgets.PatternWork.Value}
	to := m.ends(l.root, []int{0})
	return m.left >= 0 && slices.Contains(to, len(m.text))
}

// match is the matching of one text. left is the number of characters that may still be compared; if it is below 0, the
// text counts as one that does not match.
type match struct {
	text []rune
	left int
}

// ends returns the positions, each once, at which a match of n can end that begins at one of the positions from.
func (m *match) ends(n *syntax.Regexp, from []int) []int {
	switch n.Op {
	case syntax.OpNoMatch:
		return nil
	case syntax.OpEmptyMatch:
		return from
	case syntax.OpLiteral:
		for _, r := range n.Rune {
			from = m.steps(from, func(c rune) bool {
				return c == r || n.Flags&syntax.FoldCase != 0 && unicode.ToLower(c) == unicode.ToLower(r)
			})
		}
		return from
	case syntax.OpCharClass:
		return m.steps(from, func(c rune) bool {
			for i := 0; i < len(n.Rune); i += 2 {
				if n.Rune[i] <= c && c <= n.Rune[i+1] {
					return true
				}
			}
			return false
		})
	case syntax.OpAnyChar:
		return m.steps(from, func(rune) bool { return true })
	case syntax.OpAnyCharNotNL:
		return m.steps(from, func(c rune) bool { return c != '\n' })
	case syntax.OpConcat:
		for _, sub := range n.Sub {
			from = m.ends(sub, from)
		}
		return from
	case syntax.OpAlternate:
		all := newPositions(m.text)
		for _, sub := range n.Sub {
			all.add(m.ends(sub, from))
		}
		return all.list
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return m.repeated(n, from)
	case syntax.OpCapture:
		return m.captured(n, from)
	default:
		return slices.DeleteFunc(slices.Clone(from), func(p int) bool { return !holds(n.Op, m.text, p) })
	}
}

// steps returns the positions after those characters at the positions from that are accepted.
func (m *match) steps(from []int, accepts func(rune) bool) []int {
	m.left -= 1 + len(from)
	if m.left < 0 {
		return nil
	}
	var to []int
	for _, p := range from {
		if p < len(m.text) && accepts(m.text[p]) {
			to = append(to, p+1)
		}
	}
	return to
}

// repeated returns the ends of a repetition.
func (m *match) repeated(n *syntax.Regexp, from []int) []int {
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
		if len(from) == 0 {
			break
		}
		from = m.ends(n.Sub[0], from)
	}
	all := newPositions(m.text)
	fresh := all.add(from)
	for i := least; len(fresh) > 0 && (most < 0 || i < most); i++ {
		fresh = all.add(m.ends(n.Sub[0], fresh))
	}
	return all.list
}

// captured returns the ends of a group. A lookaround keeps the positions at which it holds.
func (m *match) captured(n *syntax.Regexp, from []int) []int {
	kind := strings.TrimRight(n.Name, "0123456789")
	switch kind {
	case ahead, notAhead:
		return slices.DeleteFunc(slices.Clone(from), func(p int) bool {
			return (len(m.ends(n.Sub[0], []int{p})) > 0) != (kind == ahead)
		})
	case behind, notBehind:
		anywhere := make([]int, len(m.text)+1)
		for i := range anywhere {
			anywhere[i] = i
		}
		found := newPositions(m.text)
		found.add(m.ends(n.Sub[0], anywhere))
		return slices.DeleteFunc(slices.Clone(from), func(p int) bool { return found.has[p] != (kind == behind) })
	}
	return m.ends(n.Sub[0], from)
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
