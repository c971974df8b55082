package main

import (
	"fmt"
	"time"

	"stepback/asl"
	"stepback/retrypatterns/review"
)

type retriesReviewCmd struct {
	Files   []string `arg:"" help:"State machine definitions (Amazon States Language in JSON or YAML), - for standard input, or directories, which are searched for *.asl.json, *.asl.yaml and *.asl.yml."`
	Express bool     `help:"Review as a state machine of type EXPRESS."`
	Strict  bool     `help:"End with exit status 3 when there is any advice."`
	JSON    bool     `name:"json" help:"Print states and advice as JSON; durations are in seconds."`

	substitutions
}

// Help shows examples.
func (retriesReviewCmd) Help() string {
	return `Examples:
  stepback retries review statemachine.asl.json
  stepback retries review --strict definitions/

Exit status: 2 when a file cannot be read; 3 when a definition would be refused, and with --strict when there is any advice.`
}

// reviewed is the review of one definition.
type reviewed struct {
	validated
	States []reviewedState `json:"states"`

	file   definitionFile
	lacks  error            // why an accepted definition cannot be reviewed
	advice []asl.Diagnostic // with the errors of a definition that would be refused
}

// reviewedState is what the retries of a state may come to; see review.State.
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
func (c *retriesReviewCmd) Run(std streams) error {
	files, err := definitionPaths(c.Files)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	values, err := c.values()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	wanting := false
	all := make([]reviewed, 0, len(files))
	for _, path := range files {
		d, err := readDefinition("", path, values, std)
		if err != nil {
			return &exitError{exitUsage, err}
		}
		x := c.review(d)
		wanting = wanting || x.Result != "OK" || c.Strict && len(x.advice) > 0
		all = append(all, x)
		if !c.JSON {
			x.print(std)
		}
	}
	if c.JSON {
		if err := printJSON(std.out, all); err != nil {
			return err
		}
	}
	if wanting {
		return &exitError{code: exitData}
	}
	return nil
}

func (c *retriesReviewCmd) review(d definitionFile) reviewed {
	x := reviewed{file: d, advice: d.diagnose(c.Express), States: []reviewedState{}}
	if !asl.HasErrors(x.advice) {
		x.lacks = d.lacks(c.Express)
	}
	machine, _ := asl.Options{Express: c.Express}.Parse(d.text)
	if !asl.HasErrors(x.advice) && x.lacks == nil && machine != nil {
		opinion := review.Definition(d.text, machine, review.Options{Express: c.Express, Unknown: d.document.StandsIn})
		x.advice = d.document.Place(opinion.Advice)
		for i := range opinion.States {
			s := &opinion.States[i]
			x.States = append(x.States, reviewedState{
				s.Location, s.Retries, s.Attempts, s.Wait.Max.Seconds(), s.Attempt.Seconds(), s.Longest.Seconds(), s,
			})
		}
	}
	x.validated = newValidated(&d, x.advice)
	return x
}

// print prints the advice with the lines it is about, then what the retries come to.
func (x *reviewed) print(std streams) {
	w := std.out
	text := x.file.render(x.advice)
	if std.colour {
		text = coloured(text)
	}
	fmt.Fprint(w, text)
	switch {
	case x.Result != "OK":
		fmt.Fprintf(w, "%s: not valid, not reviewed\n", x.File)
		return
	case x.lacks != nil:
		fmt.Fprintf(w, "not reviewed: %v\n", x.lacks)
		return
	case len(x.advice) == 0:
		fmt.Fprintf(w, "%s: no advice\n", x.File)
	default:
		fmt.Fprintf(w, "%s: pieces of advice: %d\n", x.File, len(x.advice))
	}
	if len(x.States) == 0 {
		return
	}
	fmt.Fprintln(w, "\nif the errors never go away:")
	t := newTable("state", ">retries", ">attempts", ">longest wait", ">attempt", ">longest in the state")
	for i := range x.States {
		s := x.States[i].about
		t.add(s.Location, s.Retries, s.Attempts, plain(s.Wait.Max), known(s.Attempt), known(s.Longest))
	}
	t.print(w, "  ")
}

// known is a duration, or a question mark when a definition leaves it open.
func known(d time.Duration) string {
	if d == 0 {
		return "?"
	}
	return plain(d)
}
