package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"stepback/asl"
	"stepback/engine"
	"stepback/retrypatterns/review"
)

type retriesReviewCmd struct {
	Files   []string `arg:"" type:"existingfile" help:"State machine definitions (Amazon States Language, JSON)."`
	Express bool     `help:"Review as a state machine of type EXPRESS."`
	Strict  bool     `help:"End with exit status 3 when there is any advice."`
	JSON    bool     `name:"json" help:"Print states and advice as JSON."`
}

// Help shows examples.
func (retriesReviewCmd) Help() string {
	return `Examples:
  stepback retries review statemachine.asl.json
  stepback retries review --strict machines/*.asl.json

Exit status 3 when a definition would be refused, and with --strict when there is any advice.`
}

// reviewed is the review of one file.
type reviewed struct {
	File   string
	Valid  bool
	States []review.State   `json:",omitempty"`
	Advice []asl.Diagnostic `json:",omitempty"` // with the errors of a definition that is not valid
	text   string
}

// Run prints the review of each definition.
func (c *retriesReviewCmd) Run(std streams) error {
	wanting := false
	all := []reviewed{}
	for _, name := range c.Files {
		x, err := c.review(name)
		if err != nil {
			return err
		}
		wanting = wanting || !x.Valid || c.Strict && len(x.Advice) > 0
		all = append(all, x)
		if !c.JSON {
			x.print(std.out)
		}
	}
	if c.JSON {
		enc := json.NewEncoder(std.out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(all); err != nil {
			return err
		}
	}
	if wanting {
		return &exitError{code: exitData}
	}
	return nil
}

func (c *retriesReviewCmd) review(name string) (reviewed, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return reviewed{}, err
	}
	x := reviewed{File: name, text: string(text)}
	x.Advice = engine.Validate(x.text, c.Express)
	machine, _ := asl.Options{Express: c.Express}.Parse(x.text)
	if asl.HasErrors(x.Advice) || machine == nil {
		return x, nil
	}
	opinion := review.Definition(x.text, machine, review.Options{Express: c.Express})
	x.Valid, x.States, x.Advice = true, opinion.States, opinion.Advice
	return x, nil
}

// print prints the advice with the lines it is about, then what the retries come to.
func (x *reviewed) print(w io.Writer) {
	fmt.Fprint(w, asl.Render(x.Advice, x.text, x.File))
	switch {
	case !x.Valid:
		fmt.Fprintf(w, "%s: not valid, not reviewed\n", x.File)
		return
	case len(x.Advice) == 0:
		fmt.Fprintf(w, "%s: no advice\n", x.File)
	default:
		fmt.Fprintf(w, "%s: pieces of advice: %d\n", x.File, len(x.Advice))
	}
	if len(x.States) == 0 {
		return
	}
	fmt.Fprintln(w, "\nif the errors never go away:")
	t := newTable("state", ">retries", ">attempts", ">longest wait", ">attempt", ">longest in the state")
	for i := range x.States {
		s := &x.States[i]
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
