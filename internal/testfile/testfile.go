// Package testfile reads what the test files of state machines and those of durable functions have in common.
package testfile

import (
	"time"

	"stepback/internal/strictyaml"
	"stepback/jsonvalue"
)

// textSize is the maximum size of a text in a test file.
const textSize = 1 << 20

// Input reads the members input and inputFile of a test as JSON text: one of them, or {} if both are absent. read
// reads a file.
func Input(o strictyaml.Object, read func(path string) ([]byte, error)) string {
	switch input, file := o.Get("input"), o.Get("inputFile"); {
	case input.Present() && file.Present():
		file.Problem("the input is given twice; remove one")
	case input.Present():
		return input.JSON().JSON()
	case file.Present():
		text, err := read(file.Text(textSize))
		if err == nil {
			_, err = jsonvalue.Parse(string(text))
		}
		if err != nil {
			file.Problem("%v", err)
		}
		return string(text)
	}
	return "{}"
}

// Times reads the number of attempts that get a response: 1 if v is absent, and 0 for "always".
func Times(v strictyaml.Value) int {
	switch {
	case !v.Present():
		return 1
	case v.Is("always"):
		return 0
	}
	return v.Whole(1, 1_000_000)
}

// Ending is the expected end of an execution. machinetest.Ending describes the fields.
type Ending struct {
	Status       string
	Error, Cause string
	Output       *jsonvalue.Value
	Contains     *jsonvalue.Value
	Took         *time.Duration
	Lines        map[string]int
}

// ReadEnding reads the members status, error, cause, output, contains and took of an expectation. statuses are the
// possible statuses, and longest is the maximum of took.
func ReadEnding(v strictyaml.Value, o strictyaml.Object, longest time.Duration, statuses ...string) Ending {
	e := Ending{Status: o.Get("status").OneOf(append([]string{""}, statuses...)...), Error: o.Get("error").Text(textSize),
		Cause: o.Get("cause").Text(textSize), Lines: map[string]int{}}
	for _, m := range v.Members() {
		e.Lines[m.Name] = m.Line()
	}
	if out := o.Get("output"); out.Present() {
		value := out.JSON()
		e.Output = &value
	}
	if out := o.Get("contains"); out.Present() {
		value := out.JSON()
		e.Contains = &value
	}
	if took := o.Get("took"); took.Present() {
		d := took.Duration(0, longest)
		e.Took = &d
	}
	return e
}
