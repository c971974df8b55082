package jobs

import (
	"errors"
	"slices"
	"strings"

	"stepback/engine"
	"stepback/jsonvalue"
)

// job is a job that was submitted, with a role that may be empty.
type job struct {
	role           string
	params, answer jsonvalue.Value
}

// kind is one kind of job: how it is looked at, when it is over, and what the task's result is.
type kind struct {
	describe string                       // the action that describes a job
	named    func(job) jsonvalue.Value    // its parameters
	found    path                         // where the job is in a description; the description itself when empty
	status   path                         // where the status is in the job
	read     func(jsonvalue.Value) string // reads the status of a job that has none in one place
	done     []string                     // statuses of a job that went well
	failed   []string                     // statuses of one that did not
	verdict  func(jsonvalue.Value) bool
	// the end of the name of the error by which the description says that what was to be deleted is no more
	gone    string
	final   string // the action that describes a job that is over, where it is another one
	result  func(j job, description jsonvalue.Value) jsonvalue.Value
	stop    string // the action that stops a job; empty where jobs are left running
	stopped func(job) jsonvalue.Value
}

// job finds the job in a description; null when it is not there.
func (k *kind) job(description jsonvalue.Value) jsonvalue.Value { return k.found.in(description) }

func (k *kind) state(description jsonvalue.Value) string {
	if k.read != nil {
		return k.read(k.job(description))
	}
	return k.status.in(k.job(description)).Text()
}

// over reports whether a job has come to its end.
func (k *kind) over(description jsonvalue.Value) bool {
	s := k.state(description)
	return slices.Contains(k.done, s) || slices.Contains(k.failed, s)
}

// deleted reports whether an error of the description says that what was to be deleted is no more.
func (k *kind) deleted(err error) bool {
	var failed *engine.Failure
	return k.gone != "" && errors.As(err, &failed) && strings.HasSuffix(failed.Name, "."+k.gone)
}

// succeeded reports whether a job that is over went well.
func (k *kind) succeeded(description jsonvalue.Value) bool {
	return slices.Contains(k.done, k.state(description)) && (k.verdict == nil || k.verdict(k.job(description)))
}

// path leads through the members of objects to a value. The member "0" of an array is its first element.
type path []string

// in follows the path; what is not there is null.
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

// member is one member of a request about a job: its name, and where its value comes from.
type member struct {
	name string
	from func(job) jsonvalue.Value
}

// request makes the parameters of an action. What is not there is left out.
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

// asked takes a value from the task's parameters, told from the answer to its submission, listed from the answer as the
// only element of a list, text always the same one.
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

// whole makes the description the result, part makes it what lies at a path in it, as makes it an object with that
// part.
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
