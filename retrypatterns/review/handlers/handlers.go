package handlers

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"stepback/asl"
	"stepback/asl/source"
)

// MaxText is the most bytes of a file that is reviewed.
const MaxText = 1 << 20

// SyntaxError is the code of a diagnostic for a file that cannot be parsed.
const SyntaxError asl.Code = "SYNTAX_ERROR"

// ErrNone is returned for a file without a durable function.
var ErrNone = errors.New("it has no durable function: it does not import @aws/durable-execution-sdk-js or " +
	"github.com/aws/aws-durable-execution-sdk-go, or no function in it uses a durable context")

// Report is the result of reviewing a file.
type Report struct {
	// Functions is the number of durable functions, with helpers that receive a durable context.
	Functions int
	// Steps are the operations with a retry strategy, in the order of the file.
	Steps []Step
	// Operations are the operations with a literal name and a body that runs once an attempt, in the order of the file.
	Operations []Operation
	// Findings are in the order of the file. If the file cannot be parsed, they are its syntax errors.
	Findings []asl.Diagnostic
	// NotFollowed lists functions that durable code calls and that are not in the file, such as "charge of ./pay.js".
	NotFollowed []string
	// Ignored is the number of findings that comments have silenced.
	Ignored int
}

// Operation is an operation with a body that runs once an attempt.
type Operation struct {
	// Kind is step, waitForCallback or waitForCondition.
	Kind, Name string
	// Retried is false if the operation fails with its first attempt. It is true if that is unknown.
	Retried bool
}

// Step is the worst case of a step's retries: every attempt fails.
type Step struct {
	// Location is the operation with its name, such as "step charge".
	Location string
	// Retries is the number of retries of the step alone, and Attempts the total number of attempts, with those that
	// enclosing blocks of retries add. -1 means that there is no limit, or that the code does not show it.
	Retries, Attempts int64
	// Wait is the longest total wait between the attempts of the step alone; 0 if it is unknown.
	Wait time.Duration
}

// language is a language of handlers.
type language int

const (
	javaScript language = iota + 1
	golang
)

// languages maps the extensions of file names to their language.
var languages = map[string]language{
	".js": javaScript, ".mjs": javaScript, ".cjs": javaScript, ".jsx": javaScript,
	".ts": javaScript, ".mts": javaScript, ".cts": javaScript, ".tsx": javaScript, ".go": golang,
}

// IsSource reports whether a file's name is that of source code in one of the languages.
func IsSource(name string) bool { return languages[path.Ext(name)] != 0 }

// IsTest reports whether a source file's name is that of tests or of type declarations, which searches of a directory
// skip.
func IsTest(name string) bool {
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	for _, suffix := range []string{".test", ".spec", "_test", ".d"} {
		if strings.HasSuffix(base, suffix) {
			return true
		}
	}
	return false
}

// The packages of AWS's durable execution SDKs.
const (
	sdkOfJavaScript = "@aws/durable-execution-sdk-js"
	sdkOfGo         = "github.com/aws/aws-durable-execution-sdk-go/durable"
)

// mentions reports whether a text names one of the SDKs as imports do, so that it may have a durable function. A bundle
// that contains the SDK names it only in comments.
func mentions(text string) bool {
	for _, quoted := range []string{"'" + sdkOfJavaScript + "'", `"` + sdkOfJavaScript + `"`, "`" + sdkOfJavaScript + "`", `"` + sdkOfGo + `"`} {
		if strings.Contains(text, quoted) {
			return true
		}
	}
	return false
}

// Review reviews the text of a file, whose name's extension gives the language. It returns ErrNone if the file has no
// durable function, and other errors for a name, a length or a nesting that it does not accept. A syntax error is no
// error but a finding.
func Review(name, text string) (report Report, err error) {
	f := &file{name: name, text: text, lines: source.NewLines(text)}
	switch {
	case !IsSource(name):
		return report, fmt.Errorf(
			"%s is no source file: known extensions are .js, .mjs, .cjs, .jsx, .ts, .mts, .cts, .tsx and .go",
			name,
		)
	case len(text) > MaxText:
		return report, fmt.Errorf("it is longer than %d bytes", MaxText)
	case !mentions(text):
		return report, ErrNone
	case !readsJavaScript && languages[path.Ext(name)] != golang:
		return report, errors.New("this build of stepback leaves out the parsers of JavaScript and TypeScript; build it with make build")
	case tooDeep(text):
		return report, fmt.Errorf("it is nested deeper than %d levels", maxNesting)
	}
	defer func() { // a defect of a parser must not end the review of other files
		if p := recover(); p != nil {
			report, err = Report{}, fmt.Errorf("it cannot be read: %v", p)
		}
	}()
	read := f.javaScript
	if languages[path.Ext(name)] == golang {
		read = f.golang
	}
	if wrong := read(); len(wrong) > 0 {
		return Report{Findings: wrong}, nil
	}
	if f.functions == 0 {
		return report, ErrNone
	}
	return f.report(), nil
}

// maxNesting is the deepest nesting that is parsed. The parsers are recursive.
const maxNesting = 1000

// tooDeep reports whether a text may be nested deeper than maxNesting. It counts brackets, and operators that nest
// without them.
func tooDeep(text string) bool {
	depth, run := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			if depth++; depth > maxNesting {
				return true
			}
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
		switch text[i] { // prefix operators and right-associative ones need no brackets to nest
		case '!', '~', '+', '-', '*', '&', '<', '=', '>', '?', ':', '`', '/', '.', '%', '^', '|':
			run++
		case ';', '\n', '"', '\'', ',':
			run = 0
		}
		if run > 20*maxNesting {
			return true
		}
	}
	return false
}

// file is a file under review, and what its front end has found in it.
type file struct {
	name, text  string
	lines       *source.Lines
	functions   int
	steps       []*step
	calls       []*call
	loops       []*loop
	notFollowed []string

	findings []asl.Diagnostic
}

// step is an operation with a body that runs once an attempt, or a block of operations that is retried as a whole.
type step struct {
	kind string // the operation, such as step, waitForCallback or withRetry
	name string // "" if it has none, or a computed one
	at   source.Span
	// retry is the strategy of a step or block. waits is the strategy of an operation that polls for a condition.
	retry      strategy
	waits      *strategy
	block      bool
	atMostOnce bool
	around     []*step // the blocks around it, from the outermost
	loop       *loop   // the loop that repeats it until it succeeds; nil if there is none
}

// location names the step.
func (s *step) location() string {
	if s.name == "" {
		return s.kind
	}
	return s.kind + " " + s.name
}

// loop is a loop written by hand that repeats operations until one succeeds.
type loop struct {
	at      source.Span
	endless bool // nothing but success ends it
}

// unlimited is a number of attempts without limit.
const unlimited = -1

// strategy is a retry strategy, as far as it is known.
type strategy struct {
	at source.Span
	// attempts is the number of attempts in total; 0 if unknown.
	attempts int
	// jitter is NONE, HALF or FULL; "" if unknown.
	jitter string
	// custom is true for a function of the program.
	custom bool
	// wait is the longest total wait; 0 if unknown.
	wait time.Duration
}

// call is a call that should be in a step, or that a step may repeat.
type call struct {
	kind callKind
	what string
	at   source.Span
	step *step // nil outside steps
	via  int   // the line of the call of the function in which it is; 0 if it is in the durable code itself
	// attempts is the number of attempts that the client makes of each call; 0 if it is unknown.
	attempts int
	// repeats is true if a second call does the work twice, as far as the code shows. hint says how to prevent it.
	repeats bool
	hint    string
}

type callKind int

const (
	// effect is a call that reads or changes something outside.
	effect callKind = iota + 1
	// impure is an expression with another value at each evaluation.
	impure
	// operation is a durable operation in the body of a step.
	operation
	// retries is a call of a library that retries.
	retries
)

func (f *file) called(c call) { f.calls = append(f.calls, &c) }

// skipped records a function whose code was not read.
func (f *file) skipped(what string) {
	if !slices.Contains(f.notFollowed, what) {
		f.notFollowed = append(f.notFollowed, what)
	}
}

// found adds a finding.
func (f *file) found(code asl.Code, at source.Span, location, hint, message string, args ...any) {
	rule := ruleNamed(code)
	f.findings = append(
		f.findings,
		f.diagnostic(rule.Severity, code, at, location, hint, fmt.Sprintf(message, args...)),
	)
}

func (f *file) diagnostic(
	severity asl.Severity,
	code asl.Code,
	at source.Span,
	location, hint, message string,
) asl.Diagnostic {
	p := f.lines.Position(at.Start)
	return asl.Diagnostic{
		Severity: severity,
		Code:     code,
		Message:  message,
		Location: location,
		Hint:     hint,
		Line:     p.Line,
		Column:   p.Column,
		Span:     at,
	}
}

// word extends a position to the name that begins there.
func (f *file) word(start int) source.Span {
	start = max(0, min(start, len(f.text)))
	end := start
	for end < len(f.text) && (f.text[end] == '.' || f.text[end] == '_' || f.text[end] == '$' ||
		f.text[end] >= '0' && f.text[end] <= '9' || f.text[end]|0x20 >= 'a' && f.text[end]|0x20 <= 'z') {
		end++
	}
	for end > start && f.text[end-1] == '.' {
		end--
	}
	return source.Span{Start: start, End: max(end, min(start+1, len(f.text)))}
}

func (f *file) line(at int) int { return f.lines.Position(at).Line }

// report applies the rules.
func (f *file) report() Report {
	slices.SortStableFunc(f.steps, func(a, b *step) int { return cmp.Compare(a.at.Start, b.at.Start) })
	for _, c := range f.calls {
		f.checkCall(c)
	}
	for _, s := range f.steps {
		f.checkStep(s)
	}
	for _, l := range f.loops {
		f.checkLoop(l)
	}
	r := Report{Functions: f.functions, NotFollowed: f.notFollowed}
	for _, s := range f.steps {
		if !s.block && s.name != "" {
			r.Operations = append(r.Operations, Operation{s.kind, s.name, s.retry.attempts != 1})
		}
		if n := s.retry.attempts; !s.block && (n > 1 || n == unlimited) {
			one := Step{Location: s.location(), Retries: int64(n) - 1, Attempts: s.attempts(), Wait: s.retry.wait}
			if n == unlimited {
				one.Retries = unlimited
			}
			r.Steps = append(r.Steps, one)
		}
	}
	r.Findings, r.Ignored = f.silenced()
	slices.SortStableFunc(r.Findings, func(a, b asl.Diagnostic) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return r
}

// attempts returns the number of attempts of a step with the blocks around it; unlimited if one has no known limit.
func (s *step) attempts() int64 {
	total := int64(1)
	for _, x := range append(slices.Clip(s.around), s) {
		n := int64(x.retry.attempts)
		if n < 1 {
			return unlimited
		}
		if total > (1<<62)/n {
			return 1 << 62
		}
		total *= n
	}
	if s.loop != nil {
		return unlimited
	}
	return total
}
