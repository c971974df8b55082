package library

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"stepback/asl"
	"stepback/aws"
	"stepback/engine"
	"stepback/jsonvalue"
	"stepback/local/services/stepfunctions/teststate"
)

// stateTest holds the options of testState: the members of the API's request, and where the definition and the state's
// clock and random values come from.
type stateTest struct {
	teststate.Request

	File          string            `json:"file"`
	Machine       string            `json:"machine"`
	Substitutions map[string]string `json:"substitutions"`
	Now           *time.Time        `json:"now"`  // time of the virtual clock; nil for the current time
	Seed          *uint64           `json:"seed"` // of random values and generated names; nil for a random one
}

// beside lists the options that are no members of the API's request.
var beside = []string{"file", "machine", "substitutions", "now", "seed"}

// defaultRole is the role of an execution whose test names none. Nothing checks it.
const defaultRole = "arn:aws:iam::" + defaultAccount + ":role/stepback"

const defaultAccount, defaultRegion = "000000000000", "us-east-1"

var errNoMock = errors.New("this library calls no service: give the Task state a mock with a result or an errorOutput")

// testState runs one state as the TestState API does, on a virtual clock: a Wait state does not wait. An error of the
// API is an *aws.Error.
func testState(options json.RawMessage, text string) (any, error) {
	var o stateTest
	if err := read(options, &o); err != nil {
		return nil, err
	}
	if o.Definition != "" {
		return nil, errors.New(`options: unknown field "definition": it is the first argument`)
	}
	d, err := source{File: o.File, Machine: o.Machine, Substitutions: o.Substitutions}.parse(text)
	if err != nil {
		return nil, err
	}
	if asl.HasErrors(d.Document.Problems) {
		return nil, errors.New(d.Render(d.Document.Problems))
	}
	if err := errors.Join(d.CheckState(o.StateName, "the option stateName"), lacking(d.Lacks(false))); err != nil {
		return nil, err
	}
	request, err := o.request(options, d.Text)
	if err != nil {
		return nil, err
	}
	now, random := time.Now(), aws.Random{Seed: rand.Uint64()}
	if o.Now != nil {
		now = *o.Now
	}
	if o.Seed != nil {
		random.Seed = *o.Seed
	}
	clock := func() time.Time { return now }
	service := teststate.New(teststate.Config{
		Now: clock, NewID: func() string { return aws.DrawUUID(random.Uint64) },
		Run: func(ctx context.Context, _ aws.Scope, t *engine.StateTest) (*engine.TestedState, error) {
			if t.State.Type() == asl.Task && t.Result == nil && t.Failure == nil {
				return nil, errNoMock
			}
			return t.Run(ctx, clock, random.Uint64, nil)
		},
	})
	return service.TestState(context.Background(), aws.Scope{Account: defaultAccount, Region: defaultRegion}, request)
}

// request returns the API's request, checked against its model.
func (o *stateTest) request(options json.RawMessage, definition string) (*teststate.Request, error) {
	given, err := jsonvalue.Parse(string(options))
	if err != nil {
		return nil, errors.New("options: " + err.Error())
	}
	document := jsonvalue.NewObject(given.Len() + 1)
	document.Set("definition", jsonvalue.OfString(definition))
	document.Set("roleArn", jsonvalue.OfString(defaultRole))
	for i, name := range given.Keys() {
		if !slices.Contains(beside, name) {
			document.Set(name, given.At(i))
		}
	}
	return teststate.Decode(document.Value())
}
