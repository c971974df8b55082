package checks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stepback/asl"
	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
)

// Review implements the verb retries review.
type Review struct {
	Files    []string `arg:"" optional:"" help:"State machine definitions (Amazon States Language in JSON or YAML), - for standard input, templates that declare them (as for validate), source files of durable Lambda functions in JavaScript, TypeScript or Go, or directories, which are searched for all of these."`
	Express  bool     `help:"Review as a state machine of type EXPRESS; not for code."`
	Rate     float64  `placeholder:"N" help:"Executions started per second, for the rule METASTABLE_ABOVE."`
	Capacity float64  `placeholder:"N" help:"Calls per second that the called services can handle."`
	FailOn   string   `enum:"error,warning,advice" default:"error" help:"Exit with status 3 if there are findings of at least this severity: error, warning or advice."`
	Strict   bool     `help:"The same as --fail-on advice."`
	Fix      bool     `help:"Fix what can be fixed mechanically, in place, and review the rest: in definitions (JSON, YAML, with placeholders) and in the templates that contain them."`
	Explain  string   `placeholder:"CODE" help:"Explain a rule, or list all of them (--explain all), instead of reviewing."`
	JSON     bool     `name:"json" xor:"form" help:"Print states and findings as JSON; durations are in seconds."`
	SARIF    bool     `name:"sarif" xor:"form" help:"Print the findings as SARIF 2.1.0, for code scanning in CI."`
	Quality  bool     `name:"code-quality" xor:"form" help:"Print the findings as a Code Quality report of GitLab, which shows them in merge requests."`

	definitions.Substitutions
}

// Help shows examples.
func (Review) Help() string {
	return `Examples:
  stepback retries review statemachine.asl.json
  stepback retries review --fail-on warning --sarif definitions/ > review.sarif
  stepback retries review --fix template.yaml
  stepback retries review --rate 20 --capacity 25 statemachine.asl.json
  stepback retries review --explain METASTABLE_ABOVE
  stepback retries review functions/order.ts

A Comment with "stepback:ignore CODE reason" silences a rule for its state, retrier or catcher. In the code of a durable function,
such a comment silences a rule on its line, or on the next one.

Exit status: 2 if a named file cannot be read; 3 if a definition would be refused, code has a syntax error, a finding is at least as severe as --fail-on, or
something in a directory was not read (stepback validate --help).`
}

// reviewed is the review of one definition, with the number of fixes written to its file, or of one source file.
type reviewed struct {
	definitions.Reviewed

	// Functions is the number of durable functions of a source file, and NotFollowed lists the functions of other files
	// that they call.
	Functions   int      `json:"durableFunctions,omitempty"`
	NotFollowed []string `json:"notFollowed,omitempty"`

	mended int
}

// Run prints the review of each definition.
func (c *Review) Run(_ context.Context, std terminal.Streams) error {
	if c.Explain != "" {
		return explainRules(std.Out, c.Explain)
	}
	if err := c.check(); err != nil {
		return exit.With(exit.Usage, err)
	}
	values, err := c.Values()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	code, unreadCode, others, withCode := sources(c.Files)
	read, unread := definitions.All(others, values, std)
	unread = slices.DeleteFunc(unread, func(u definitions.Unread) bool {
		return errors.Is(u.Err, definitions.ErrNothing) && slices.Contains(withCode, u.Path)
	})
	unread = append(unread, unreadCode...)
	if err := c.Unknown(read...); err != nil {
		return exit.With(exit.Usage, err)
	}
	wanting, unfixed := false, []error(nil)
	all := make([]reviewed, 0, len(read)+len(code)+len(unread))
	for _, d := range read {
		x := c.review(d)
		if c.Fix {
			var wrong error
			if x, wrong = c.applyFixes(x, std); wrong != nil {
				unfixed = append(unfixed, wrong)
			}
		}
		wanting = wanting || x.Result != "OK" || slices.ContainsFunc(x.Advice, c.severe)
		all = append(all, x)
		if c.asText() {
			x.print(std)
		}
	}
	for _, x := range code {
		wanting = wanting || x.Result != "OK" || slices.ContainsFunc(x.Advice, c.severe)
		all = append(all, x)
		if c.asText() {
			x.print(std)
		}
	}
	switch {
	case c.SARIF:
		err = terminal.PrintJSON(std.Out, sarifOf(all, unread))
	case c.Quality:
		err = terminal.PrintJSON(std.Out, codeQualityOf(all, unread))
	case c.JSON:
		for _, u := range unread {
			all = append(all, reviewed{Reviewed: definitions.NotReviewed(u)})
		}
		err = terminal.PrintJSON(std.Out, all)
	}
	if err != nil {
		return err
	}
	status := definitions.Status(std, unread, wanting)
	for _, err := range unfixed {
		fmt.Fprintf(std.Err, "stepback: not fixed: %v\n", err)
		status = exit.With(exit.Usage, nil)
	}
	return status
}

// asText reports whether the reviews are printed for people.
func (c *Review) asText() bool { return !c.JSON && !c.SARIF && !c.Quality }

func (c *Review) check() error {
	switch {
	case len(c.Files) == 0:
		return errors.New("name the definitions to review, for example: stepback retries review statemachine.asl.json")
	case c.Rate < 0 || c.Capacity < 0 || math.IsNaN(c.Rate+c.Capacity) || math.IsInf(c.Rate+c.Capacity, 0):
		return errors.New("--rate and --capacity must be numbers per second above 0")
	case c.Rate > 0 && c.Capacity == 0:
		return errors.New("--rate needs --capacity, the calls per second that the called services can handle")
	}
	return nil
}

// severe reports whether a finding is severe enough to fail the command.
func (c *Review) severe(d asl.Diagnostic) bool {
	order := []string{"error", "warning", "advice"}
	limit := c.FailOn
	if c.Strict {
		limit = "advice"
	}
	return slices.Index(order, strings.ToLower(string(d.Severity))) <= slices.Index(order, limit)
}

// applyFixes writes the available fixes into the file, repeatedly until there are no more, and returns the review
// of the remaining findings. The error names the fixes that the file cannot have.
func (c *Review) applyFixes(x reviewed, std terminal.Streams) (reviewed, error) {
	if !x.Fixable() {
		return x, nil
	}
	if x.Definition.Path == "standard input" {
		return x, errors.New("--fix edits files in place: name a file instead of -")
	}
	// Another definition in the same file may have been fixed since the file was read.
	text, err := definitions.ReadText(x.Definition.Source, std)
	if err != nil {
		return x, err
	}
	d, err := x.Definition.Reread(string(text))
	if err != nil {
		return x, err
	}
	x = c.review(d)
	const rounds = 10 // one fix may uncover another finding
	total := 0
	var unfixed error
	for range rounds {
		next, mended, err := x.FixOnce()
		if unfixed = err; mended == 0 {
			break
		}
		if err := definitions.ReplaceText(x.Definition.Source, next.Document.Text); err != nil {
			return x, err
		}
		x = c.review(next)
		total += mended
	}
	x.mended = total
	if unfixed != nil {
		return x, fmt.Errorf("%s: %w; fix this by hand", x.Definition.Path, unfixed)
	}
	return x, nil
}

func (c *Review) review(d definitions.File) reviewed {
	return reviewed{Reviewed: definitions.Review(d, definitions.ReviewOptions{Express: c.Express, Rate: c.Rate,
		Capacity: c.Capacity})}
}

// print prints the findings with the lines they refer to, then the totals that the retries can reach.
func (x *reviewed) print(std terminal.Streams) {
	w := std.Out
	text := x.Definition.Render(x.Advice)
	if std.Colour {
		text = terminal.Coloured(text)
	}
	fmt.Fprint(w, text)
	switch {
	case x.Result != "OK" && x.Definition.Text == "": // source code
		fmt.Fprintf(w, "%s: has syntax errors, not reviewed\n", x.File)
		return
	case x.Result != "OK":
		fmt.Fprintf(w, "%s: not valid, not reviewed\n", x.File)
		return
	case x.Lacks != nil:
		fmt.Fprintf(w, "not reviewed: %v\n", x.Lacks)
		return
	case x.mended > 0:
		fmt.Fprintf(w, "%s: fixed: %d, left: %s\n", x.File, x.mended, tally(x.Advice))
	default:
		fmt.Fprintf(w, "%s: %s\n", x.File, tally(x.Advice))
	}
	if len(x.NotFollowed) > 0 {
		fmt.Fprintf(w, "not followed, because they are not in this file: %s\n", strings.Join(x.NotFollowed, ", "))
	}
	if len(x.States) == 0 {
		return
	}
	fmt.Fprintln(w, "\nif the errors persist:")
	if x.Functions > 0 {
		t := terminal.NewTable("step", ">retries", ">attempts", ">longest wait")
		for i := range x.States {
			s := &x.States[i]
			t.Add(s.Location, limited(s.Retries), limited(s.Attempts), terminal.Duration(s.About.Wait.Max))
		}
		t.Print(w, "  ")
		return
	}
	t := terminal.NewTable("state", ">retries", ">attempts", ">longest wait", ">attempt", ">longest in the state")
	for i := range x.States {
		s := x.States[i].About
		t.Add(s.Location, s.Retries, s.Attempts, terminal.Duration(s.Wait.Max), known(s.Attempt), known(s.Longest))
	}
	t.Print(w, "  ")
}

// limited formats a number of attempts; below 0 the code shows no limit.
func limited(n int64) string {
	if n < 0 {
		return "no limit seen"
	}
	return terminal.Grouped(n)
}

// tally returns the number of findings of each severity, and the number of their places if it is larger.
func tally(found []asl.Diagnostic) string {
	if len(found) == 0 {
		return "nothing found"
	}
	var parts []string
	places := 0
	for _, severity := range []asl.Severity{asl.SeverityError, asl.SeverityWarning, asl.SeverityAdvice} {
		n := 0
		for _, d := range found {
			if d.Severity == severity {
				n++
				places += 1 + len(d.Also)
			}
		}
		switch {
		case n == 0:
		case severity == asl.SeverityAdvice: // has no plural
			parts = append(parts, fmt.Sprintf("%d advice", n))
		default:
			parts = append(parts, terminal.Counted(int64(n), strings.ToLower(string(severity))))
		}
	}
	text := strings.Join(parts, ", ")
	if places > len(found) {
		text += fmt.Sprintf(" in %d places", places)
	}
	return text
}

// known formats a duration. It returns "no timeout" for 0, the value for a state without TimeoutSeconds.
func known(d time.Duration) string {
	if d == 0 {
		return "no timeout"
	}
	return terminal.Duration(d)
}
