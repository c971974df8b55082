package history

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"stepback/jsonvalue"
)

// ParseEvents parses a history in the form of GetExecutionHistory: an object with events, or just the array. Times
// may be seconds since 1970, as in the API, or RFC 3339 texts, as the AWS CLI prints them. A history in reverse order
// is reversed. The error names the event that cannot be parsed.
func ParseEvents(text string) ([]Event, error) {
	v, err := jsonvalue.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the history is not JSON: %w", err)
	}
	if inner, ok := v.Get("events"); ok {
		v = inner
	}
	if v.Kind() != jsonvalue.Array {
		return nil, errors.New("the history has no array of events, as get-execution-history prints it")
	}
	events := make([]Event, 0, v.Len())
	for i, one := range v.Elements() {
		e, err := ParseEvent(one)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
		events = append(events, e)
	}
	if n := len(events); n > 1 && events[0].ID > events[n-1].ID {
		for i := range n / 2 {
			events[i], events[n-1-i] = events[n-1-i], events[i]
		}
	}
	return events, nil
}

// ParseEvent parses one event as written by AppendJSON. A type that this package does not know becomes Unknown.
func ParseEvent(v jsonvalue.Value) (Event, error) {
	if v.Kind() != jsonvalue.Object {
		return Event{}, errors.New("it is not an object")
	}
	e := Event{Type: TypeNamed(text(v, "type")), ID: number(v, "id"), Previous: number(v, "previousEventId")}
	at, err := instant(v)
	if err != nil {
		return e, err
	}
	e.Time = at
	for i, name := range v.Keys() {
		if strings.HasSuffix(name, "EventDetails") {
			e.read(v.At(i))
		}
	}
	return e, nil
}

// read reads the details of an event. It needs no case for each type, because a member has the same meaning in all
// of them.
func (e *Event) read(v jsonvalue.Value) {
	for _, name := range []string{"name", "workerName", "state"} {
		if s := text(v, name); s != "" {
			e.Name = s
		}
	}
	for _, name := range []string{"input", "output", "parameters"} {
		if s := text(v, name); s != "" {
			e.Data = s
		}
	}
	m := Details{
		Resource: text(v, "resource"), ResourceType: text(v, "resourceType"), Region: text(v, "region"),
		TimeoutInSeconds: number(v, "timeoutInSeconds"), HeartbeatInSeconds: number(v, "heartbeatInSeconds"),
		Length: number(v, "length"), Index: number(v, "index"), RedriveCount: number(v, "redriveCount"),
		RoleARN: text(v, "roleArn"), MapRunARN: text(v, "mapRunArn"), VersionARN: text(v, "stateMachineVersionArn"),
		AliasARN: text(v, "stateMachineAliasArn"), Location: text(v, "location"),
	}
	if credentials, ok := v.Get("taskCredentials"); ok {
		m.RoleARN = text(credentials, "roleArn")
	}
	if name, ok := v.Get("error"); ok && !name.IsNull() {
		m.Failure.SetName(name.Text())
	}
	if cause, ok := v.Get("cause"); ok && !cause.IsNull() {
		m.Failure.SetCause(cause.Text())
	}
	assigned, _ := v.Get("assignedVariables")
	for i, name := range assigned.Keys() {
		m.Assigned = append(m.Assigned, Assignment{name, assigned.At(i).Text()})
	}
	e.More = &m
}

func text(v jsonvalue.Value, name string) string {
	member, ok := v.Get(name)
	if !ok || member.Kind() != jsonvalue.String {
		return ""
	}
	return member.Text()
}

func number(v jsonvalue.Value, name string) int64 {
	member, ok := v.Get(name)
	if !ok {
		return 0
	}
	n, _ := member.Int()
	return n
}

// instant returns the time of an event in nanoseconds.
func instant(v jsonvalue.Value) (int64, error) {
	at, _ := v.Get("timestamp")
	switch at.Kind() {
	case jsonvalue.Number:
		const milli = 1000
		return int64(math.Round(at.Float()*milli)) * int64(time.Millisecond), nil
	case jsonvalue.String:
		t, err := time.Parse(time.RFC3339Nano, at.Text())
		if err != nil {
			return 0, fmt.Errorf("the timestamp %q is not valid", at.Text())
		}
		return t.UnixNano(), nil
	default:
		return 0, errors.New("it has no timestamp")
	}
}

var named = sync.OnceValue(func() map[string]Type {
	all := make(map[string]Type, len(types))
	for t := range types {
		all[types[t].name] = Type(t)
	}
	return all
})

// TypeNamed returns the type with a name in the API's spelling; Unknown if this package does not know it.
func TypeNamed(name string) Type { return named()[name] }
