package machine

import (
	"encoding/json"
	"time"
)

// Epoch is the time at which simulations start; timestamps in definitions count from it.
var Epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

type object = map[string]any

// Definition returns the machine in the Amazon States Language.
func (m *Machine) Definition() string {
	d := m.Root.definition()
	if m.TimeoutSeconds > 0 {
		d["TimeoutSeconds"] = m.TimeoutSeconds
	}
	text, err := json.Marshal(d)
	if err != nil {
		panic("machine: a definition is maps, strings and numbers: " + err.Error())
	}
	return string(text)
}

func (s *Scope) definition() object {
	states := object{}
	for _, st := range s.States {
		states[st.Name] = st.definition()
	}
	return object{"StartAt": s.Start().Name, "States": states}
}

func (s *State) definition() object {
	d := object{"Type": s.Type}
	switch s.Type {
	case Choice:
		s.Choice.define(d)
	case Succeed:
	case Fail:
		set(d, "Error", s.Fail.Error)
		set(d, "Cause", s.Fail.Cause)
	default:
		if s.Next == "" {
			d["End"] = true
		} else {
			d["Next"] = s.Next
		}
	}
	switch s.Type {
	case Task:
		s.Task.define(d)
	case Wait:
		s.Wait.define(d)
	case Parallel:
		branches := make([]object, 0, len(s.Branches))
		for _, b := range s.Branches {
			branches = append(branches, b.definition())
		}
		d["Branches"] = branches
	case Map:
		s.Map.define(d, s.Processor)
	}
	s.Data.define(d, s)
	s.handlers(d)
	return d
}

func set(d object, key, value string) {
	if value != "" {
		d[key] = value
	}
}

var resources = [...]string{ //nolint:gosec // ARNs with tokens in their names, not secrets
	Integration: "arn:aws:states:::sqs:sendMessage",
	Function:    "arn:aws:lambda:us-east-1:000000000000:function:f",
	Token:       "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
	Job:         "arn:aws:states:::glue:startJobRun.sync",
	Activity:    "arn:aws:states:us-east-1:000000000000:activity:a",
}

func (c Call) define(d object) {
	d["Resource"] = resources[c.Kind]
	if c.TimeoutSeconds > 0 {
		d["TimeoutSeconds"] = c.TimeoutSeconds
	}
	if c.HeartbeatSeconds > 0 {
		d["HeartbeatSeconds"] = c.HeartbeatSeconds
	}
	if c.Kind == Token {
		//nolint:gosec // a path in a definition, not a secret
		d["Parameters"] = object{"n.$": "$.n", "items.$": "$.items", "token.$": "$$.Task.Token"}
	}
}

func (w Delay) define(d object) {
	switch w.Form {
	case SecondsPath:
		d["SecondsPath"] = "$.n"
	case Timestamp:
		d["Timestamp"] = Epoch.Add(time.Duration(w.Seconds) * time.Second).Format(time.RFC3339)
	case Seconds:
		d["Seconds"] = w.Seconds
	}
}

func (c Choices) define(d object) {
	rules := make([]object, 0, len(c.Rules))
	for i := range c.Rules {
		r := c.Rules[i].test()
		r["Next"] = c.Rules[i].Next
		rules = append(rules, r)
	}
	d["Choices"] = rules
	set(d, "Default", c.Default)
}

func (r *Rule) test() object {
	t := object{"Variable": "$.n", r.Operator: r.Operand}
	if r.Not {
		t = object{"Not": t}
	}
	if r.And != nil {
		t = object{"And": []object{t, r.And.test()}}
	}
	return t
}

func (m Iteration) define(d object, processor *Scope) {
	p := processor.definition()
	d["ItemsPath"] = "$.items"
	d["ItemSelector"] = object{"n.$": "$$.Map.Item.Value", "items.$": "$.items"}
	if m.MaxConcurrency > 0 {
		d["MaxConcurrency"] = m.MaxConcurrency
	}
	if m.Distributed {
		p["ProcessorConfig"] = object{"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
		if m.ToleratedFailureCount > 0 {
			d["ToleratedFailureCount"] = m.ToleratedFailureCount
		}
		if m.MaxItemsPerBatch > 0 {
			d["ItemBatcher"] = object{"MaxItemsPerBatch": m.MaxItemsPerBatch}
		}
	}
	d["ItemProcessor"] = p
}

func (x Data) define(d object, s *State) {
	switch {
	case s.Type == Pass && x.Form == Literal:
		d["Result"] = object{"n": x.N, "items": x.Items}
	case x.Form == Literal:
		d["ResultSelector"] = object{"n": x.N, "items": x.Items, "first.$": "$[0]"}
	case x.Form == Increment:
		d["Parameters"] = object{"n.$": "States.MathAdd($.n, 1)", "items.$": "$.items"}
	case x.Form == Selected:
		d["ResultSelector"] = object{"n.$": "$.n", "items.$": "$.items", "since.$": "$$.State.EnteredTime"}
	}
	if s.Type == Parallel {
		d["Parameters"] = object{"n.$": "$.n", "items.$": "$.items"}
	}
	if x.ResultPath == "null" {
		d["ResultPath"] = nil
	} else {
		set(d, "ResultPath", x.ResultPath)
	}
	if x.Assign {
		d["Assign"] = object{"seen" + s.Name +
			".$": "$$.State.Name"} // an inner scope must not assign an outer one's variables
	}
}

// handlers writes Retry and Catch, leaving out defaults.
func (s *State) handlers(d object) {
	retry, catch := make([]object, 0, len(s.Retry)), make([]object, 0, len(s.Catch))
	for _, r := range s.Retry {
		o := object{"ErrorEquals": r.ErrorEquals}
		number(o, "IntervalSeconds", r.IntervalSeconds, 1)
		number(o, "MaxAttempts", r.MaxAttempts, 3)
		number(o, "MaxDelaySeconds", r.MaxDelaySeconds, 0)
		if r.BackoffRate != 2 {
			o["BackoffRate"] = r.BackoffRate
		}
		if r.FullJitter {
			o["JitterStrategy"] = "FULL"
		}
		retry = append(retry, o)
	}
	for _, c := range s.Catch {
		o := object{"ErrorEquals": c.ErrorEquals, "Next": c.Next, "ResultPath": "$.error"}
		if c.Discard {
			o["ResultPath"] = nil
		}
		catch = append(catch, o)
	}
	if len(retry) > 0 {
		d["Retry"] = retry
	}
	if len(catch) > 0 {
		d["Catch"] = catch
	}
}

func number(o object, key string, value, preset int) {
	if value != preset {
		o[key] = value
	}
}
