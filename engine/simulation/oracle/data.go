package oracle

import (
	"encoding/json"
	"fmt"
	"reflect"

	"stepback/engine/simulation/machine"
)

type object = map[string]any

func decoded(text string) object {
	var v object
	if json.Unmarshal([]byte(text), &v) != nil {
		return nil
	}
	return v
}

// number returns a numeric member of a payload, or -1 if it is missing, which never happens in a simulated machine.
func number(text, member string) int {
	if n, ok := decoded(text)[member].(float64); ok {
		return int(n)
	}
	return -1
}

// numbers returns an array member of a payload.
func numbers(text, member string) []any {
	list, _ := decoded(text)[member].([]any)
	return list
}

// judgeOutput compares a state's output with the output predicted from its input and result. The results of Map Runs
// are not known here.
func (j *judge) judgeOutput(t *thread, output string) error {
	in := decoded(t.input)
	s := t.state
	var want any = in
	switch {
	case t.caught != nil:
		if !t.caught.Discard {
			in["error"] = t.errorOutput(decoded(output))
		}
	case s.Type == machine.Choice || s.Type == machine.Wait || s.Type == machine.Succeed:
	case s.Type == machine.Map && s.Map.Distributed && s.Data.ResultPath != "null":
		return nil
	default:
		want = placed(in, s.Data.ResultPath, result(t, in))
	}
	var got any
	if err := json.Unmarshal([]byte(output), &got); err != nil {
		return err
	}
	if !reflect.DeepEqual(got, want) {
		text, _ := json.Marshal(want)
		return fmt.Errorf("its output %s should be %s", output, text)
	}
	return nil
}

// errorOutput returns the error output that a catcher passes on: the cause is empty for a timeout and null if a
// worker left it out.
func (t *thread) errorOutput(got object) object {
	f := &t.failure
	if !f.knownCause {
		return object{"Error": f.Name, "Cause": causeOf(got)}
	}
	out := object{"Error": nil, "Cause": nil}
	if f.HasName() {
		out["Error"] = f.Name
	}
	if f.HasCause() || f.Name == "States.Timeout" {
		out["Cause"] = f.Cause
	}
	return out
}

// causeOf returns the cause in an output.
func causeOf(output object) any {
	e, _ := output["error"].(object)
	return e["Cause"]
}

func placed(in object, path string, result any) any {
	switch path {
	case "":
		return result
	case "null":
		return in
	default:
		in[path[len("$."):]] = result
		return in
	}
}

// result returns the result of the state's work and its templates.
func result(t *thread, in object) any {
	d := t.state.Data
	switch d.Form {
	case machine.Literal:
		out := object{"n": float64(d.N), "items": literal(d.Items)}
		if t.state.Type != machine.Pass {
			out["first"] = t.result.([]any)[0]
		}
		return out
	case machine.Increment:
		return object{"n": in["n"].(float64) + 1, "items": in["items"]}
	case machine.Selected:
		r := t.result.(object)
		return object{"n": r["n"], "items": r["items"], "since": instant(t.entry)}
	default:
		if t.state.Type == machine.Pass {
			return copied(in)
		}
		return t.result
	}
}

// copied returns a copy of in, so that a result is not placed into itself.
func copied(in object) object {
	out := object{}
	for k, v := range in {
		out[k] = v
	}
	return out
}

func literal(items []int) []any {
	out := make([]any, 0, len(items))
	for _, i := range items {
		out = append(out, float64(i))
	}
	return out
}
