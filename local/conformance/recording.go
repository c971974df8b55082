package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"

	"stepback/internal/recordings"
)

// Case is one recorded program of API calls and what the service answered.
type Case struct {
	ID, Group string
	Features  []string
	// Needs are the services beside Step Functions that the case uses.
	Needs []string
	// Drift are the keys that the service has added to its answers since the recording.
	Drift    []string
	Doubtful bool
	// Lambdas are the rules of the functions that the case calls, by name.
	Lambdas map[string]Rule
	Steps   []Step
}

// Has reports whether the case has a feature.
func (c *Case) Has(feature string) bool { return slices.Contains(c.Features, feature) }

// Rule says what a function answers.
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
	Account string // "secondary" is another account than that of the other steps
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

// Check is one recorded answer.
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

// Load reads all cases of a folder that holds "cases", in the order of their paths. Without such a folder there are
// none.
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

// decode reads JSON, keeping the text of numbers.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// parse reads a JSON text that is nothing but one value.
func parse(text string) (any, bool) {
	if !json.Valid([]byte(text)) {
		return nil, false
	}
	var v any
	err := decode([]byte(text), &v)
	return v, err == nil
}
