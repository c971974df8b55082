package library

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"stepback/asl"
	"stepback/cmd/stepback/definitions"
	"stepback/engine/graph"
	"stepback/retrypatterns/review"
)

// load holds the options about the load for which a definition is reviewed.
type load struct {
	source

	Rate     float64 `json:"rate"`     // executions started per second
	Capacity float64 `json:"capacity"` // calls per second that the called services can handle
}

// review reads the options and the definition, and reviews it.
func (o *load) review(options json.RawMessage, text string) (definitions.Reviewed, error) {
	if err := read(options, o); err != nil {
		return definitions.Reviewed{}, err
	}
	switch {
	case o.Rate < 0 || o.Capacity < 0:
		return definitions.Reviewed{}, errors.New("options: rate and capacity must be numbers per second above 0")
	case o.Rate > 0 && o.Capacity == 0:
		return definitions.Reviewed{}, errors.New("options: rate needs capacity, the calls per second that the called services can handle")
	}
	d, err := o.parse(text)
	if err != nil {
		return definitions.Reviewed{}, err
	}
	return o.again(d)
}

// again reviews a definition. It returns an error if a placeholder has no value without which it cannot be reviewed.
func (o *load) again(d definitions.File) (definitions.Reviewed, error) {
	x := definitions.Review(d, definitions.ReviewOptions{Express: o.Express, Rate: o.Rate, Capacity: o.Capacity})
	return x, lacking(x.Lacks)
}

func reviewed(options json.RawMessage, text string) (any, error) {
	return new(load).review(options, text)
}

// fixed is the result of fix.
type fixed struct {
	Text   string               `json:"text"`           // with the fixes; otherwise unchanged, with its comments
	Fixed  int                  `json:"fixed"`          // number of fixes
	Left   string               `json:"left,omitempty"` // why a fix could not be made
	Review definitions.Reviewed `json:"review"`         // of the fixed text
}

// fix fixes what can be fixed mechanically, repeatedly, because one fix may uncover another finding.
func fix(options json.RawMessage, text string) (any, error) {
	var o load
	x, err := o.review(options, text)
	if err != nil {
		return nil, err
	}
	r := fixed{Text: text}
	const rounds = 10
	for range rounds {
		if !x.Fixable() {
			break
		}
		next, n, err := x.FixOnce()
		if r.Left = ""; err != nil {
			r.Left = strings.ReplaceAll(err.Error(), "--fix", "fix")
		}
		if n == 0 {
			break
		}
		r.Fixed += n
		r.Text = next.Document.Text
		if x, err = o.again(next); err != nil {
			return nil, err
		}
	}
	r.Review = x
	return r, nil
}

// drawn draws a definition as SVG, or as text for Mermaid or Graphviz.
func drawn(options json.RawMessage, text string) (any, error) {
	var o struct {
		source

		Title  string `json:"title"`
		Format string `json:"format"` // svg, mermaid or dot
	}
	if err := read(options, &o); err != nil {
		return nil, err
	}
	d, err := o.parse(text)
	if err != nil {
		return nil, err
	}
	m := d.Machine(o.Express)
	if m == nil {
		return nil, fmt.Errorf("%s is not valid:\n%s", d.Path, d.Render(d.Diagnose(o.Express)))
	}
	var b strings.Builder
	switch o.Format {
	case "", "svg":
		err = graph.New(m, o.Title).SVG(&b, graph.Options{})
	case "mermaid":
		err = graph.Mermaid(&b, m)
	case "dot":
		err = graph.DOT(&b, m)
	default:
		err = errors.New("options: format is svg, mermaid or dot")
	}
	return b.String(), err
}

// rule is the JSON form of a rule of review.
type rule struct {
	Code     asl.Code     `json:"code"`
	Severity asl.Severity `json:"severity"`
	Title    string       `json:"title"`
	Why      string       `json:"why"`
}

// explain returns the rule of review with the given code, or all rules for "".
func explain(_ json.RawMessage, code string) (any, error) {
	if code == "" {
		all := review.Rules()
		rules := make([]rule, len(all))
		for i, r := range all {
			rules[i] = rule{r.Code, r.Severity, r.Title, r.Why}
		}
		return rules, nil
	}
	r, ok := review.RuleNamed(code)
	if !ok {
		return nil, fmt.Errorf("there is no rule %s; explain() lists them", code)
	}
	return rule{r.Code, r.Severity, r.Title, r.Why}, nil
}
