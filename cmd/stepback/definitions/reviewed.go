package definitions

import (
	"errors"
	"fmt"
	"slices"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/cmd/stepback/terminal"
	"stepback/jsonvalue"
	"stepback/retrypatterns/review"
)

// ReviewOptions describes what a definition is reviewed for.
type ReviewOptions struct {
	Express bool // review as type EXPRESS, whatever a template says
	// Rate is the number of executions started per second, and Capacity the calls per second that the called services
	// can handle, for the rules about load; 0 for Rate skips these rules.
	Rate, Capacity float64
}

// Reviewed is the review of the Retry and Catch blocks of one definition. Its JSON form has the findings as
// diagnostics.
type Reviewed struct {
	Validated

	States []ReviewedState `json:"states"`

	Definition File             `json:"-"`
	Lacks      error            `json:"-"` // why an accepted definition cannot be reviewed
	Advice     []asl.Diagnostic `json:"-"` // includes the errors of a definition that AWS would refuse

	fixes []review.Finding
}

// ReviewedState is the JSON form of the totals that a state's retries can reach; see review.State.
type ReviewedState struct {
	Location    string  `json:"location"`
	Retries     int64   `json:"retries"`
	Attempts    int64   `json:"attempts"`
	LongestWait float64 `json:"longestWaitSeconds"`
	Attempt     float64 `json:"attemptSeconds,omitempty"`
	Longest     float64 `json:"longestSeconds,omitempty"`

	About *review.State `json:"-"`
}

// NotReviewed returns the result for a file that was not read.
func NotReviewed(u Unread) Reviewed {
	return Reviewed{Validated: NotRead(u), States: []ReviewedState{}}
}

// Review validates a definition and reviews its Retry and Catch blocks. It does not review a definition that AWS would
// refuse, or that lacks the value of a placeholder.
func Review(d File, o ReviewOptions) Reviewed {
	x := Reviewed{Definition: d, Advice: d.Diagnose(o.Express), States: []ReviewedState{}}
	express, refused := o.Express || d.Express, asl.HasErrors(x.Advice)
	var opinion review.Report
	if !refused {
		opinion, x.Lacks = Opinion(&d, review.Options{Express: express, Rate: o.Rate, Capacity: o.Capacity})
	}
	if !refused && x.Lacks == nil {
		// A retrier with a misspelt error retries nothing, so the review reports these findings of validate too.
		misspelt := slices.DeleteFunc(x.Advice, func(f asl.Diagnostic) bool { return f.Code != asl.UnknownErrorName })
		x.Advice, x.fixes = append(d.Document.Place(opinion.Advice()), asl.Group(misspelt)...), opinion.Findings
		for i := range opinion.States {
			s := &opinion.States[i]
			x.States = append(x.States, ReviewedState{
				s.Location, s.Retries, s.Attempts, s.Wait.Max.Seconds(), s.Attempt.Seconds(), s.Longest.Seconds(), s,
			})
		}
	}
	x.Validated = NewValidated(&d, x.Advice)
	if x.Result = "OK"; refused {
		x.Result = "FAIL"
	}
	return x
}

// Fixable reports whether there are findings of which some may be fixed mechanically.
func (x *Reviewed) Fixable() bool { return len(x.fixes) > 0 }

// FixOnce returns the definition with the fixes of its findings, and their number. Fixes are taken only if the edited
// text, read anew, is the definition that they should lead to. err says why others were left out. A fix may uncover
// another finding, so review the result again.
func (x *Reviewed) FixOnce() (fixed File, mended int, err error) {
	d := x.Definition.Document
	edits, chosen, err := review.Edits(slices.DeleteFunc(slices.Clone(x.fixes),
		func(f review.Finding) bool { return len(f.Fix) == 0 }),
		d.Edits)
	if len(chosen) == 0 {
		return x.Definition, 0, err
	}
	if fixed, ok := fixedBy(&x.Definition, edits, chosen); ok {
		return fixed, len(chosen), err
	}
	for _, f := range chosen {
		own, one, _ := review.Edits([]review.Finding{f}, d.Edits)
		if fixed, ok := fixedBy(&x.Definition, own, one); ok {
			return fixed, 1, err
		}
	}
	return x.Definition, 0, errors.Join(err, fmt.Errorf("the text of %s is written in a way that --fix cannot edit",
		terminal.Counted(int64(len(chosen)), "finding")))
}

// fixedBy returns the definition with the edits that fix the findings. ok is false if the edited text, read anew, is
// not the definition that the fixes should lead to.
func fixedBy(d *File, edits []source.Edit, findings []review.Finding) (fixed File, ok bool) {
	want, n := review.Fix(d.Document.JSON, findings)
	fixed, err := d.Reread(source.Apply(d.Document.Text, edits))
	return fixed, err == nil && n == len(findings) && sameJSON(fixed.Document.JSON, want)
}

// EditsOf returns the edits of a definition's text that fix a finding of its review. It returns an error if the finding
// has no fix, or the text is written in a way that cannot be edited.
func EditsOf(d *File, f review.Finding) ([]source.Edit, error) {
	edits, chosen, err := review.Edits([]review.Finding{f}, d.Document.Edits)
	if err != nil {
		return nil, err
	}
	if _, ok := fixedBy(d, edits, chosen); len(chosen) != 1 || !ok {
		return nil, fmt.Errorf("%s cannot be fixed by an edit of the text", f.Code)
	}
	return edits, nil
}

// Opinion returns the review of a definition that Diagnose has accepted, with the findings about its JSON. err reports
// that values of placeholders are missing; the report is empty then.
func Opinion(d *File, o review.Options) (report review.Report, err error) {
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

// sameJSON reports whether two texts are the same JSON.
func sameJSON(a, b string) bool {
	x, err := jsonvalue.Parse(a)
	y, wrong := jsonvalue.Parse(b)
	return err == nil && wrong == nil && jsonvalue.Equal(x, y)
}
