package jobs

import (
	"errors"
	"slices"
	"strings"

	"stepback/engine"
	"stepback/jsonvalue"
)

// job is a submitted job; its role may be empty.
type job struct {
	role           string
	params, answer jsonvalue.Value
}

// kind describes a kind of job: how to poll it, when it has ended, and the task's result.
type kind struct {
	describe string                       // action that describes a job
	named    func(job) jsonvalue.Value    // its parameters
	found    path                         // path of the job in a description; empty means the description itself
	status   path                         // path of the status in the job
	read     func(jsonvalue.Value) string // returns the status of a job that has no single status member
	done     []string                     // statuses of successful jobs
	failed   []string                     // statuses of failed jobs
	verdict  func(jsonvalue.Value) bool
	// suffix of the error name that a service returns if the thing to be deleted no longer exists
	gone    string
	final   string // action that describes an ended job, if it is a different one
	result  func(j job, description jsonvalue.Value) jsonvalue.Value
	stop    string // action that stops a job; empty if jobs are left running
	stopped func(job) jsonvalue.Value
}

// job returns the job in a description, or null if it is missing.
func (k *kind) job(description jsonvalue.Value) jsonvalue.Value { return k.found.in(description) }

func (k *kind) state(description jsonvalue.Value) string {
	if k.read != nil {
		return k.read(k.job(description))
	}
	return k.status.in(k.job(description)).Text()
}

// over reports whether a job has ended.
func (k *kind) over(description jsonvalue.Value) bool {
	s := k.state(description)
	return slices.Contains(k.done, s) || slices.Contains(k.failed, s)
}

// deleted reports whether err means that what was to be deleted no longer exists.
func (k *kind) deleted(err error) bool {
	var failed *engine.Failure
	return k.gone != "" && errors.As(err, &failed) && strings.HasSuffix(failed.Name, "."+k.gone)
}

// succeeded reports whether an ended job was successful.
func (k *kind) succeeded(description jsonvalue.Value) bool {
	return slices.Contains(k.done, k.state(description)) && (k.verdict == nil || k.verdict(k.job(description)))
}

// path is a sequence of member names that selects a value. The name "0" selects the first element of an array.
type path []string

// in returns the value at the path, or null if it is missing.
func (p path) in(v jsonvalue.Value) jsonvalue.Value {
	for _, name := range p {
		switch {
		case v.Kind() == jsonvalue.Array && name == "0" && v.Len() > 0:
			v = v.Elements()[0]
		case v.Kind() == jsonvalue.Object:
			v, _ = v.Get(name)
		default:
			return jsonvalue.Value{}
		}
	}
	return v
}

// member is a member of a request about a job: its name, and the source of its value.
type member struct {
	name string
	from func(job) jsonvalue.Value
}

// request returns a function that builds the parameters of an action. Missing members are omitted.
func request(members ...member) func(job) jsonvalue.Value {
	return func(j job) jsonvalue.Value {
		b := jsonvalue.NewObject(len(members))
		for _, m := range members {
			if v := m.from(j); !v.IsNull() {
				b.Set(m.name, v)
			}
		}
		return b.Value()
	}
}

// asked, told, listed and text return functions for the value of a member. asked reads it from the task's
// parameters, and told from the response to the submission. listed puts another function's value into a list. text
// always returns the same text.
func asked(p ...string) func(job) jsonvalue.Value {
	return func(j job) jsonvalue.Value { return path(p).in(j.params) }
}

func told(p ...string) func(job) jsonvalue.Value {
	return func(j job) jsonvalue.Value { return path(p).in(j.answer) }
}

func listed(from func(job) jsonvalue.Value) func(job) jsonvalue.Value {
	return func(j job) jsonvalue.Value { return jsonvalue.OfArray([]jsonvalue.Value{from(j)}) }
}

func text(s string) func(job) jsonvalue.Value {
	return func(job) jsonvalue.Value { return jsonvalue.OfString(s) }
}

// whole, part and as determine the result from the description. whole returns the description itself. part returns
// the value at a path in it. as returns an object with that value as its only member.
func whole(_ job, description jsonvalue.Value) jsonvalue.Value { return description }

func part(p ...string) func(job, jsonvalue.Value) jsonvalue.Value {
	return func(_ job, description jsonvalue.Value) jsonvalue.Value { return path(p).in(description) }
}

func as(name string, p ...string) func(job, jsonvalue.Value) jsonvalue.Value {
	return func(_ job, description jsonvalue.Value) jsonvalue.Value {
		b := jsonvalue.NewObject(1)
		b.Set(name, path(p).in(description))
		return b.Value()
	}
}
