package insights

import (
	"context"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// Limits bound a run of a query.
type Limits struct {
	// Work limits the bytes that are read and built, in which each step of an expression counts for some more.
	Work int
	// Memory limits the bytes of the fields that rows have at the same time.
	Memory int
	// Text limits the bytes of a value, and Result those of all values of the answer.
	Text, Result int
}

// LimitError reports that a run exceeded one of its Limits.
type LimitError struct {
	// Exceeded says what the query did too much, such as "reads and builds more than 1024 bytes".
	Exceeded string
}

// Error implements error.
func (e *LimitError) Error() string {
	return "The query was ended because it " + e.Exceeded + ". Narrow the time range or filter the events first."
}

// work counts what a run has used. Its methods panic with a stopped, which Run converts to an error.
type work struct {
	ctx        context.Context
	limits     Limits
	done, held int
	untilCheck int
}

type stopped struct{ err error }

const (
	checkEvery = 1 << 20
	// perStep is the work of a step of an expression, in bytes.
	perStep = 16
	// perField is the memory of a row's field apart from its text.
	perField = 64
)

// spend takes n bytes of work.
func (w *work) spend(n int) {
	w.done += n
	w.untilCheck -= n
	if w.done > w.limits.Work {
		panic(stopped{&LimitError{fmt.Sprintf("reads and builds more than %d bytes", w.limits.Work)}})
	}
	if w.untilCheck < 0 {
		w.untilCheck = checkEvery
		if err := w.ctx.Err(); err != nil {
			panic(stopped{err})
		}
	}
}

// build takes the work of building a text of n bytes.
func (w *work) build(n int) {
	if n > w.limits.Text {
		panic(stopped{&LimitError{fmt.Sprintf("builds a value of more than %d bytes", w.limits.Text)}})
	}
	w.spend(n)
}

// hold takes n bytes of memory; a negative n returns them.
func (w *work) hold(n int) {
	if w.held += n; w.held > w.limits.Memory {
		panic(stopped{&LimitError{fmt.Sprintf("needs more than %d bytes for the fields of its rows", w.limits.Memory)}})
	}
}

// pattern is a regular expression and the work of matching a byte with it.
type pattern struct {
	*regexp.Regexp
	perByte int
}

func compilePattern(text string) (pattern, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return pattern{}, err
	}
	p := pattern{Regexp: re, perByte: 1}
	if tree, err := syntax.Parse(text, syntax.Perl); err == nil {
		if program, err := syntax.Compile(tree.Simplify()); err == nil {
			p.perByte += len(program.Inst) * (1 + re.NumSubexp()) / 2
		}
	}
	return p, nil
}

// match takes the work of matching a text.
func (p pattern) match(r *Row, text string) {
	r.work.spend(perStep + len(text)*p.perByte)
}
