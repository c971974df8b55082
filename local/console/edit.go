package console

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"stepback/asl"
	"stepback/engine"
	"stepback/engine/graph"
	"stepback/retrypatterns"
	"stepback/retrypatterns/review"
)

func retrierJSON(r retrypatterns.Retrier) string {
	text, err := json.Marshal(r)
	if err != nil {
		return "" // plain numbers and texts have no shape
	}
	return string(text)
}

// EditView is the editor of a definition: the text with its diagnostics, a review of its retries, and its graph.
type EditView struct {
	Name        string       `json:"name"`
	ARN         string       `json:"stateMachineArn"`
	Text        string       `json:"definition"`
	Numbers     string       `json:"-"` // line numbers
	Changed     bool         `json:"changed"`
	Valid       bool         `json:"valid"`
	Diagnostics []Remark     `json:"diagnostics"`
	Review      []Remark     `json:"review"`
	States      []string     `json:"states"`
	Tested      *TestedView  `json:"test,omitempty"`
	Versions    []Version    `json:"versions,omitempty"`
	Against     string       `json:"against,omitempty"`
	Diff        []DiffLine   `json:"diff,omitempty"`
	Longest     []LongestRow `json:"retries,omitempty"`
	Picture     Picture      `json:"-"`
	State       string       `json:"state,omitempty"`
	Input       string       `json:"input,omitempty"`
	Mock        string       `json:"mock,omitempty"`
}

// Remark is a diagnostic with its position.
type Remark struct {
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Location string `json:"location,omitempty"`
}

// LongestRow shows what the retries of a state can add up to.
type LongestRow struct {
	Location string        `json:"location"`
	Retries  int64         `json:"retries"`
	Attempts int64         `json:"attempts"`
	Wait     time.Duration `json:"longestWaitNanoseconds"`
	Longest  time.Duration `json:"longestNanoseconds,omitempty"`
}

// TestedView is the result of testing one state.
type TestedView struct {
	Status string `json:"status"`
	Output string `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
	Cause  string `json:"cause,omitempty"`
	Next   string `json:"nextState,omitempty"`
	Failed string `json:"failed,omitempty"` // why it could not be tested
}

func remarks(found []asl.Diagnostic) []Remark {
	out := []Remark{}
	for _, d := range found {
		if !d.Consequence {
			out = append(out, Remark{string(d.Severity), string(d.Code), d.Message, d.Hint, d.Line, d.Column,
				d.Location})
		}
	}
	return out
}

// maxDefinition is the size limit of a definition in Step Functions.
const maxDefinition = 1 << 20

func (c *Console) edit(r *request) (*answer, error) {
	d, err := c.described(r.Context(), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	v := &EditView{Name: d.Name, ARN: d.ARN, Text: indented(d.Definition), States: []string{}, Review: []Remark{},
		Against: r.param("against")}
	stored := v.Text
	if r.Method == http.MethodPost {
		v.Text = strings.ReplaceAll(r.PostForm.Get("definition"), "\r\n", "\n")
		v.State, v.Input, v.Mock = r.PostForm.Get("state"), r.PostForm.Get("input"), r.PostForm.Get("mock")
		if len(v.Text) > maxDefinition {
			return nil, &badForm{"the definition is larger than 1 MiB"}
		}
	}
	v.Changed = v.Text != stored
	express := d.Type == "EXPRESS"
	found := engine.Diagnose(v.Text, express)
	v.Diagnostics, v.Valid = remarks(found), !asl.HasErrors(found)
	if m, _ := asl.Parse(v.Text); m != nil {
		report := review.Definition(v.Text, m, review.Options{Express: express})
		v.Review = remarks(asl.Apart(report.Advice()))
		for _, s := range report.States {
			v.Longest = append(v.Longest, LongestRow{s.Location, s.Retries, s.Attempts, s.Wait.Max, s.Longest})
		}
		v.Picture = pictureOf(graph.New(m, d.Name), graph.Options{Bare: true})
		v.States = statesOf(&m.Graph)
	}
	if r.Method == http.MethodPost && r.PostForm.Get("do") == "test" {
		v.Tested = c.test(r, v)
	}
	for n := range strings.Count(v.Text, "\n") + 1 {
		v.Numbers += strconv.Itoa(n+1) + "\n"
	}
	if v.Versions, err = c.versions(r.Context(), d.ARN); err != nil {
		return nil, err
	}
	if v.Against == "" && v.Changed {
		v.Diff = diff(stored, v.Text)
	} else if v.Against != "" {
		other, err := c.describe(r.Context(), v.Against)
		if err != nil {
			return nil, err
		}
		v.Diff = diff(indented(other.Definition), v.Text)
	}
	return &answer{Title: "Edit " + d.Name, Template: "edit", View: v, Still: true}, nil
}

// indented indents JSON that is all on one line.
func indented(s string) string {
	if strings.Contains(strings.TrimSpace(s), "\n") {
		return s
	}
	return pretty(s)
}

func statesOf(g *asl.Graph) []string {
	var names []string
	for _, s := range g.States {
		names = append(names, s.Name)
		for _, b := range s.Branches {
			names = append(names, statesOf(b)...)
		}
		if s.Map != nil && s.Map.Processor != nil {
			names = append(names, statesOf(s.Map.Processor)...)
		}
	}
	return names
}

// test tests one state on its own.
func (c *Console) test(r *request, v *EditView) *TestedView {
	in := map[string]any{"definition": v.Text, "stateName": v.State, "inspectionLevel": "INFO"}
	if input := strings.TrimSpace(v.Input); input != "" {
		in["input"] = input
	}
	if mock := strings.TrimSpace(v.Mock); mock != "" {
		in["mock"] = map[string]any{"result": mock}
	}
	t := &TestedView{}
	if err := c.cfg.Call(r.Context(), "states", "TestState", in, t); err != nil {
		return &TestedView{Status: "REFUSED", Failed: err.Error()}
	}
	t.Output = pretty(c.hidden.text(t.Output))
	return t
}
