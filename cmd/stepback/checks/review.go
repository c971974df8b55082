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
	"stepback/asl/source"
	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/jsonvalue"
	"stepback/retrypatterns/review"
)

// Review implements the verb retries review.
type Review struct {
	Files    []string `arg:"" optional:"" help:"State machine definitions (Amazon States Language in JSON or YAML), - for standard input, templates that declare them (as for validate), or directories, which are searched for *.asl.json, *.asl.yaml, *.asl.yml and templates."`
	Express  bool     `help:"Review as a state machine of type EXPRESS."`
	Rate     float64  `placeholder:"N" help:"Executions started per second, for the rule METASTABLE_ABOVE."`
	Capacity float64  `placeholder:"N" help:"Calls per second that the called services can handle."`
	FailOn   string   `enum:"error,warning,advice" default:"error" help:"Exit with status 3 if there are findings of at least this severity: error, warning or advice."`
	Strict   bool     `help:"The same as --fail-on advice."`
	Fix      bool     `help:"Fix what can be fixed mechanically, in place, and review the rest: in definitions (JSON, YAML, with placeholders) and in the templates that contain them."`
	Explain  string   `placeholder:"CODE" help:"Explain a rule, or list all of them (--explain all), instead of reviewing."`
	JSON     bool     `name:"json" xor:"form" help:"Print states and findings as JSON; durations are in seconds."`
	SARIF    bool     `name:"sarif" xor:"form" help:"Print the findings as SARIF 2.1.0, for code scanning in CI."`

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

A Comment with "stepback:ignore CODE reason" silences a rule for its state, retrier or catcher.

Exit status: 2 if a named file cannot be read; 3 if a definition would be refused, a finding is at least as severe as --fail-on, or
something in a directory was not read (stepback validate --help).`
}

// reviewed is the review of one definition.
type reviewed struct {
	definitions.Validated
	States []reviewedState `json:"states"`

	file   definitions.File
	lacks  error            // why an accepted definition cannot be reviewed
	advice []asl.Diagnostic // includes the errors of a definition that AWS would refuse
	fixes  []review.Finding
	mended int
}

// reviewedState is the JSON form of the totals that a state's retries can reach; see review.State.
type reviewedState struct {
	Location    string  `json:"location"`
	Retries     int64   `json:"retries"`
	Attempts    int64   `json:"attempts"`
	LongestWait float64 `json:"longestWaitSeconds"`
	Attempt     float64 `json:"attemptSeconds,omitempty"`
	Longest     float64 `json:"longestSeconds,omitempty"`

	about *review.State
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
	read, unread := definitions.All(c.Files, values, std)
	if err := c.Unknown(read...); err != nil {
		return exit.With(exit.Usage, err)
	}
	wanting, unfixed := false, []error(nil)
	all := make([]reviewed, 0, len(read)+len(unread))
	for _, d := range read {
		x := c.review(d)
		if c.Fix {
			var wrong error
			if x, wrong = c.applyFixes(x, std); wrong != nil {
				unfixed = append(unfixed, wrong)
			}
		}
		wanting = wanting || x.Result != "OK" || slices.ContainsFunc(x.advice, c.severe)
		all = append(all, x)
		if !c.JSON && !c.SARIF {
			x.print(std)
		}
	}
	switch {
	case c.SARIF:
		err = terminal.PrintJSON(std.Out, sarifOf(all, unread))
	case c.JSON:
		for _, u := range unread {
			all = append(all, reviewed{Validated: definitions.NotRead(u), States: []reviewedState{}})
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
	if len(x.fixes) == 0 {
		return x, nil
	}
	if x.file.Path == "standard input" {
		return x, errors.New("--fix edits files in place: name a file instead of -")
	}
	// Another definition in the same file may have been fixed since the file was read.
	text, err := definitions.ReadText(x.file.Source, std)
	if err != nil {
		return x, err
	}
	d, err := x.file.Reread(string(text))
	if err != nil {
		return x, err
	}
	x = c.review(d)
	const rounds = 10 // one fix may uncover another finding
	total := 0
	var unfixed error
	for range rounds {
		next, mended, err := fixOnce(&x)
		if unfixed = err; mended == 0 {
			break
		}
		if err := definitions.ReplaceText(x.file.Source, next.Document.Text); err != nil {
			return x, err
		}
		x = c.review(next)
		total += mended
	}
	x.mended = total
	if unfixed != nil {
		return x, fmt.Errorf("%s: %w; fix this by hand", x.file.Path, unfixed)
	}
	return x, nil
}

// fixOnce returns a definition with the fixes of its findings, and their number. Fixes are taken only if the edited
// text, read anew, is the definition that they should lead to. err says why others were left out.
func fixOnce(x *reviewed) (fixed definitions.File, mended int, err error) {
	d := x.file.Document
	edits, chosen, err := review.Edits(slices.DeleteFunc(slices.Clone(x.fixes), func(f review.Finding) bool { return len(f.Fix) == 0 }),
		d.Edits)
	if len(chosen) == 0 {
		return x.file, 0, err
	}
	if fixed, ok := fixedBy(&x.file, edits, chosen); ok {
		return fixed, len(chosen), err
	}
	for _, f := range chosen {
		own, one, _ := review.Edits([]review.Finding{f}, d.Edits)
		if fixed, ok := fixedBy(&x.file, own, one); ok {
			return fixed, 1, err
		}
	}
	return x.file, 0, errors.Join(err, fmt.Errorf("the text of %s is written in a way that --fix cannot edit",
		terminal.Counted(int64(len(chosen)), "finding")))
}

// fixedBy returns the definition with the edits that fix the findings. ok is false if the edited text, read anew, is not
// the definition that the fixes should lead to.
func fixedBy(d *definitions.File, edits []source.Edit, findings []review.Finding) (fixed definitions.File, ok bool) {
	want, n := review.Fix(d.Document.JSON, findings)
	fixed, err := d.Reread(source.Apply(d.Document.Text, edits))
	return fixed, err == nil && n == len(findings) && sameJSON(fixed.Document.JSON, want)
}

// EditsOf returns the edits of a definition's text that fix a finding of its review. It returns an error if the finding
// has no fix, or the text is written in a way that cannot be edited.
func EditsOf(d *definitions.File, f review.Finding) ([]source.Edit, error) {
	edits, chosen, err := review.Edits([]review.Finding{f}, d.Document.Edits)
	if err != nil {
		return nil, err
	}
	if _, ok := fixedBy(d, edits, chosen); len(chosen) != 1 || !ok {
		return nil, fmt.Errorf("%s cannot be fixed by an edit of the text", f.Code)
	}
	return edits, nil
}

// sameJSON reports whether two texts are the same JSON.
func sameJSON(a, b string) bool {
	x, err := jsonvalue.Parse(a)
	y, wrong := jsonvalue.Parse(b)
	return err == nil && wrong == nil && jsonvalue.Equal(x, y)
}

// Opinion returns the review of a definition that Diagnose of the definition has accepted, with the findings about its
// JSON. err says why the definition cannot be reviewed: values of placeholders are missing. The report is empty then.
func Opinion(d *definitions.File, o review.Options) (report review.Report, err error) {
	if err := d.Lacks(o.Express); err != nil {
		return report, err
	}
	machine, _ := asl.Options{Express: o.Express}.Parse(d.Text)
	if machine == nil {
		return report, nil
	}
	o.StandsIn = d.Document.StandsIn
	return review.Definition(d.Text, machine, o), nil
}

func (c *Review) review(d definitions.File) reviewed {
	x := reviewed{file: d, advice: d.Diagnose(c.Express), States: []reviewedState{}}
	refused := asl.HasErrors(x.advice)
	if !refused {
		var opinion review.Report
		opinion, x.lacks = Opinion(&d, review.Options{Express: c.Express || d.Express, Rate: c.Rate, Capacity: c.Capacity})
		if x.lacks == nil {
			// A retrier with a misspelt error retries nothing, so the review reports these findings of validate too.
			misspelt := slices.DeleteFunc(x.advice, func(f asl.Diagnostic) bool { return f.Code != asl.UnknownErrorName })
			x.advice, x.fixes = append(d.Document.Place(opinion.Advice()), asl.Group(misspelt)...), opinion.Findings
		}
		for i := range opinion.States {
			s := &opinion.States[i]
			x.States = append(x.States, reviewedState{
				s.Location, s.Retries, s.Attempts, s.Wait.Max.Seconds(), s.Attempt.Seconds(), s.Longest.Seconds(), s,
			})
		}
	}
	x.Validated = definitions.NewValidated(&d, x.advice)
	if x.Result = "OK"; refused {
		x.Result = "FAIL"
	}
	return x
}

// print prints the findings with the lines they refer to, then the totals that the retries can reach.
func (x *reviewed) print(std terminal.Streams) {
	w := std.Out
	text := x.file.Render(x.advice)
	if std.Colour {
		text = terminal.Coloured(text)
	}
	fmt.Fprint(w, text)
	switch {
	case x.Result != "OK":
		fmt.Fprintf(w, "%s: not valid, not reviewed\n", x.File)
		return
	case x.lacks != nil:
		fmt.Fprintf(w, "not reviewed: %v\n", x.lacks)
		return
	case x.mended > 0:
		fmt.Fprintf(w, "%s: fixed: %d, left: %s\n", x.File, x.mended, tally(x.advice))
	default:
		fmt.Fprintf(w, "%s: %s\n", x.File, tally(x.advice))
	}
	if len(x.States) == 0 {
		return
	}
	fmt.Fprintln(w, "\nif the errors persist:")
	t := terminal.NewTable("state", ">retries", ">attempts", ">longest wait", ">attempt", ">longest in the state")
	for i := range x.States {
		s := x.States[i].about
		t.Add(s.Location, s.Retries, s.Attempts, terminal.Duration(s.Wait.Max), known(s.Attempt), known(s.Longest))
	}
	t.Print(w, "  ")
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
