package design_test

import (
	"bytes"
	"testing"

	"stepback/adaptive/design"
)

const outage = `
design: 1
name: save-orders
state: Save
arrivals: {rate: 20}
callee: {servers: [5, 6], mean: [0.18, 0.2]}
call: {memory: 1024}
faults:
  - {name: outage, for: [20, 40], errors: 1, error: DatabaseConnectionError}
  - {name: brown-out, for: 240, speed: 0.4}
objective: {saved: 0.995, within: 900}
`

func read(t testing.TB, text string) *design.Design {
	t.Helper()
	d, err := design.Read("problem.yaml", []byte(text), false)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAgain(t *testing.T) {
	t.Parallel()
	d := read(t, outage)
	if err := d.Run(t.Context(), design.Options{}); err != nil {
		t.Fatal(err)
	}
	var first bytes.Buffer
	if err := d.Write(&first); err != nil {
		t.Fatal(err)
	}
	t.Log(first.String())
}
