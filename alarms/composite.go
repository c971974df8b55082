package alarms

import (
	"slices"
	"strings"
)

// Page is a kind of trouble that pages, with the name of its composite alarm. Each kind has a composite of its own, so
// that one trouble does not mute another: while the database is away, files that nothing imports still page. Alarms
// of the same kind have the same cause and the same first step, so they page once.
type Page string

// The kinds of trouble. The empty Page does not page.
const (
	PageCallee     Page = "page-callee"
	PageRows       Page = "page-rows"
	PageExecutions Page = "page-executions"
	PageEvents     Page = "page-events"
	PageObjective  Page = "page-objective"
)

// drained is the composite that reports a slow loss of the error budget. It sends a message.
const drained = "budget-drained"

// composites lists the composite alarms, with their texts.
var composites = []struct {
	name           string
	meaning, first string
	event          bool // its alarms count events, as Alarm.Event says
}{
	{string(PageCallee), "Act now: a callee fails, and retrying does not help.",
		"Look at the callee's health; stop new files if it stays down.", false},
	{string(PageRows), "Act now: many rows were dead-lettered.",
		"Find the error that dominates dead-letters.jsonl; stop new files until its cause is fixed.", true},
	{string(PageExecutions), "Act now: executions fail, and their input is not to blame.",
		"Open the execution and read its error.", true},
	{string(PageEvents), "Act now: files arrive, and nothing imports them.",
		"Read the messages of the queue and fix the cause, then redeliver them.", false},
	{string(PageObjective), "Act now: batches are late, and the error budget of the service-level objective is burning.",
		"See on the dashboard what batches wait for: failed attempts by error, throttles, the circuit breaker.", false},
	{drained, "Batches are late more often than the service-level objective allows in the long run.",
		"Look at the last days on the dashboard; a larger capacity or a smaller concurrency may be due.", false},
}

// Composite is a composite alarm of a set.
type Composite struct {
	Name           string // without the state machine's name, which precedes it
	Meaning, First string
	Rule           string
	// Pages is true if it pages; it sends a message otherwise.
	Pages bool
	// Event is true if its alarms count events, so that its change to OK resolves nothing; see Alarm.Event.
	Event bool
}

// Composites returns the composite alarms of the set, those without a term left out. Executions also page if Step
// Functions counted a failed one while the function that attributes failures is silent.
func (s Set) Composites() []Composite {
	var all []Composite
	for _, c := range composites {
		if terms := s.terms(c.name); len(terms) > 0 {
			all = append(all, Composite{Name: c.name, Meaning: c.meaning, First: c.first, Rule: strings.Join(terms, " OR "),
				Pages: c.name != drained, Event: c.event})
		}
	}
	return all
}

func (s Set) terms(composite string) []string {
	var terms []string
	for _, a := range s.Alarms {
		if string(a.Page) == composite && composite != "" {
			terms = append(terms, s.alarming(a.Name))
		}
	}
	for _, b := range Burns() {
		if s.composedBy(b) == composite && s.has(b.LongName()) {
			terms = append(terms, "("+s.alarming(b.LongName())+" AND "+s.alarming(b.ShortName())+")")
		}
	}
	if composite == string(PageExecutions) && s.has(metricsSilent) {
		switch ended := s.endedBadly(); len(ended) {
		case 0:
		case 1:
			terms = append(terms, "("+ended[0]+" AND "+s.silent()+")")
		default:
			terms = append(terms, "(("+strings.Join(ended, " OR ")+") AND "+s.silent()+")")
		}
	}
	return terms
}

// endedBadly returns the terms for the executions that Step Functions counted as failed.
func (s Set) endedBadly() []string {
	var terms []string
	for _, name := range []string{executionsEndedBadly, filesEndedBadly} {
		if s.has(name) {
			terms = append(terms, s.alarming(name))
		}
	}
	return terms
}

func (s Set) has(name string) bool {
	return slices.ContainsFunc(s.Alarms, func(a Alarm) bool { return a.Name == name })
}
