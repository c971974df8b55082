package plainwords

import (
	"go/ast"
	"go/token"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// leastWords is the number of words from which a string literal counts as a text. Shorter ones are names and keys, such
// as the user "nobody".
const leastWords = 3

// Strings returns the findings in a file's string literals and struct tags. The operands of a concatenation form
// one text, so that a phrase split between them is found. A generated file has none.
func Strings(fset *token.FileSet, file *ast.File) []Finding {
	if ast.IsGenerated(file) {
		return nil
	}
	var found []Finding
	tags := make(map[*ast.BasicLit]bool) // already checked with their field
	ast.Inspect(file, func(n ast.Node) bool {
		var s sentence
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag == nil {
				return true
			}
			s.add(fset, n.Tag)
			s.text = strings.ReplaceAll(s.text, `"`, " ") // the values of a tag are not quotations
			tags[n.Tag] = true
		case *ast.BinaryExpr:
			if n.Op != token.ADD || !s.concatenation(fset, n) {
				return true
			}
		case *ast.BasicLit:
			if !tags[n] {
				s.add(fset, n)
			}
		default:
			return true
		}
		found = append(found, s.findings()...)
		_, tag := n.(*ast.Field)
		return tag // the operands of a concatenation are not visited again
	})
	sort.SliceStable(found, func(i, j int) bool { return found[i].Line < found[j].Line })
	return found
}

// sentence is the text of one or more string literals.
type sentence struct {
	text  string
	parts []part
}

// part is a literal within a sentence.
type part struct {
	offset int  // in the text
	line   int  // in the file
	raw    bool // newlines of the text are lines of the file
}

func (s *sentence) add(fset *token.FileSet, l *ast.BasicLit) {
	value, err := strconv.Unquote(l.Value)
	if l.Kind != token.STRING || err != nil {
		return
	}
	s.parts = append(s.parts, part{len(s.text), fset.Position(l.Pos()).Line, strings.HasPrefix(l.Value, "`")})
	s.text += value
}

// concatenation adds the operands of a concatenation to the sentence. It returns false if an operand contains other
// literals, such as a call with literal arguments; those are separate texts.
func (s *sentence) concatenation(fset *token.FileSet, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return e.Op == token.ADD && s.concatenation(fset, e.X) && s.concatenation(fset, e.Y)
	case *ast.ParenExpr:
		return s.concatenation(fset, e.X)
	case *ast.BasicLit:
		s.add(fset, e)
		return e.Kind == token.STRING
	}
	s.text += "…" // a value that is not known here
	plain := true
	ast.Inspect(e, func(n ast.Node) bool {
		_, literal := n.(*ast.BasicLit)
		plain = plain && !literal
		return true
	})
	return plain
}

func (s *sentence) findings() []Finding {
	if len(strings.Fields(s.text)) < leastWords {
		return nil
	}
	plain := withoutQuotations(s.text)
	var found []Finding
	for _, r := range phrases {
		for _, at := range r.pattern.FindAllStringIndex(plain, -1) {
			found = append(found, Finding{Line: s.line(at[0]), Phrase: oneLine(plain[at[0]:at[1]]), Advice: r.advice})
		}
	}
	return found
}

// line returns the file's line of an offset in the text.
func (s *sentence) line(offset int) int {
	i := sort.Search(len(s.parts), func(i int) bool { return s.parts[i].offset > offset }) - 1
	if i < 0 {
		i = 0
	}
	p := s.parts[i]
	if !p.raw {
		return p.line
	}
	return p.line + strings.Count(s.text[p.offset:offset], "\n")
}

var action = regexp.MustCompile(`(?s)\{\{.*?\}\}`)

// Template returns the findings in an HTML template: in its text and in its attributes, but not in its actions.
func Template(text string) []Finding {
	text = action.ReplaceAllStringFunc(text, func(a string) string { return "…" + strings.Repeat("\n", strings.Count(a, "\n")) })
	return Text(strings.ReplaceAll(text, `"`, " "))
}
