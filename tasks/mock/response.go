package mock

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"stepback/jsonvalue"
)

// maxInvocations is the upper limit of an invocation number, so that a range cannot require more memory than a test
// needs.
const maxInvocations = 100_000

// numbered is an answer for a range of invocations.
type numbered struct {
	key         string
	first, last int
	answer      answer
}

// responses parses MockedResponses.
func (r *reader) responses(root jsonvalue.Value) map[string]*response {
	v, _ := root.Get("MockedResponses")
	all := map[string]*response{}
	for i, name := range r.object("MockedResponses", v) {
		all[name] = r.response("MockedResponses."+name, name, v.At(i))
	}
	return all
}

// response parses the numbered answers of a response. If there is no answer for invocation 0, it returns an empty
// response.
func (r *reader) response(place, name string, v jsonvalue.Value) *response {
	keys := r.object(place, v)
	steps := make([]numbered, 0, len(keys))
	for i, key := range keys {
		n := numbered{key: key, answer: r.answer(place+"."+key, v.At(i))}
		var ok bool
		if n.first, n.last, ok = invocations(key); !ok {
			r.problem(place+"."+key, `is not the number of an invocation or a range of them, such as "0" or "1-2"`)
			continue
		}
		steps = append(steps, n)
	}
	slices.SortFunc(steps, func(a, b numbered) int { return cmp.Compare(a.first, b.first) })
	out := &response{name: name}
	if len(steps) > 0 && steps[0].first > 0 {
		return out // as in Step Functions Local, the state then fails when it is entered
	}
	for _, n := range steps {
		if next := len(out.answers); n.first != next {
			r.problem(place+"."+n.key, "must continue with invocation "+strconv.Itoa(next)+
				": every invocation from 0 needs one response")
			break
		}
		for range n.last - n.first + 1 {
			out.answers = append(out.answers, n.answer)
		}
	}
	return out
}

// invocations parses an invocation number or range, such as "3" or "1-2".
func invocations(key string) (first, last int, ok bool) {
	from, to, isRange := strings.Cut(key, "-")
	first, ok = number(from)
	if !isRange {
		return first, first, ok
	}
	last, fine := number(to)
	return first, last, ok && fine && first <= last
}

func number(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err == nil && n < maxInvocations
}

// answer parses a Return or a Throw.
func (r *reader) answer(place string, v jsonvalue.Value) answer {
	r.members(place, v, "Return", "Throw")
	output, returns := v.Get("Return")
	throw, throws := v.Get("Throw")
	if returns == throws {
		if v.Kind() == jsonvalue.Object {
			r.problem(place, "needs either Return or Throw")
		}
		return answer{}
	}
	if returns {
		return answer{output: output.JSON()}
	}
	r.members(place+".Throw", throw, "Error", "Cause")
	name, reason, hasReason := r.text(place+".Throw", throw)
	return answer{thrown: true, err: name, reason: reason, hasReason: hasReason}
}

// text parses the members of a Throw.
func (r *reader) text(place string, throw jsonvalue.Value) (name, cause string, hasCause bool) {
	e, _ := throw.Get("Error")
	if throw.Kind() == jsonvalue.Object && e.Text() == "" {
		r.problem(place+".Error", "must be the name of an error")
	}
	c, hasCause := throw.Get("Cause")
	if hasCause && c.Kind() != jsonvalue.String {
		r.problem(place+".Cause", "must be text")
	}
	return e.Text(), c.Text(), hasCause
}
