package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"

	"stepback/internal/recordings"
)

// Case is one recorded program of API calls and the service's responses.
type Case struct {
	ID, Group string
	Features  []string
	// Needs are the services besides Step Functions that the case uses.
	Needs []string
	// Drift are the keys that the service has added to its responses since the recording.
	Drift    []string
	Doubtful bool
	// Lambdas are the rules of the functions that the case calls, by function name.
	Lambdas map[string]Rule
	Steps   []Step
}

// Has reports whether the case has a feature.
func (c *Case) Has(feature string) bool { return slices.Contains(c.Features, feature) }

// Rule defines a function's response.
type Rule struct {
	Echo         bool
	Return       json.RawMessage
	ReturnRepeat *struct {
		Text  string
		Count int
	}
	Error *struct {
		ErrorType, ErrorMessage string
		StackTrace              []string
	}
	DelaySeconds float64
	Sequence     []Rule
}

// Step is one call or one wait.
type Step struct {
	N       int
	Service string // empty means Step Functions
	Account string // "secondary" is a different account from that of the other steps
	Op      string
	Params  map[string]any
	Error   bool // the call must fail
	Thread  *int
	Check   []Check

	Wait         string
	ExecutionARN string `json:"executionArn"`
	MachineARN   string `json:"stateMachineArn"`
	Status       string
	Seconds      float64
}

// Check is one recorded response.
type Check struct {
	Key       string
	Value     any
	Path      []string
	Contains  bool
	Exception *struct{ Type, Text string }
	LastEvent map[string]any
}

// Find reads the cases of the recordings (package recordings).
func Find() ([]*Case, error) {
	from, err := recordings.FS()
	if err != nil {
		return nil, err
	}
	return Load(from)
}

// Load reads all cases below "cases", in the order of their paths. If that folder is missing it returns none.
func Load(files fs.FS) ([]*Case, error) {
	paths, err := fs.Glob(files, "cases/*/*.json")
	if err != nil {
		return nil, err
	}
	cases := make([]*Case, len(paths))
	for i, path := range paths {
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		cases[i] = &Case{}
		if err := decode(text, cases[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return cases, nil
}

// decode parses JSON, keeping the text of numbers.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// parse parses a text that is exactly one JSON value; ok is false for other texts.
func parse(text string) (any, bool) {
	if !json.Valid([]byte(text)) {
		return nil, false
	}
	var v any
	err := decode([]byte(text), &v)
	return v, err == nil
}
