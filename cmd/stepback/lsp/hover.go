package lsp

import (
	"context"
	"fmt"
	"strings"

	"github.com/tliron/glsp"
	protocol "github.com/tliron/glsp/protocol_3_16"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/retries"
)

// hover explains what the text names at a position: the waits of the retries of a state at its name, at a transition to
// it and at its Retry, and otherwise what a field does.
func (s *server) hover(_ *glsp.Context, p *protocol.HoverParams) (*protocol.Hover, error) {
	d, err := s.open.get(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	offset := d.offset(p.Position)
	o, _, named, span := d.stateAt(offset)
	if named != nil {
		text := fmt.Sprintf("**%s** (%s state)", named.name, named.kind) + waits(d, o, named)
		return d.hovering(text, span), nil
	}
	for _, o := range d.outlines() {
		for _, g := range o.graphs {
			for i := range g.states {
				if at := g.states[i].at.Join(source.Member("Retry")); o.index.Has(at) && within(o.key(at), offset) {
					return d.hovering("**Retry**: "+fields["Retry"]+waits(d, o, &g.states[i]), o.key(at)), nil
				}
			}
		}
	}
	word := d.wordAt(offset)
	if about := fields[d.text[word.Start:word.End]]; about != "" && len(d.outlines()) > 0 {
		return d.hovering("**"+d.text[word.Start:word.End]+"**: "+about, word), nil
	}
	return nil, nil
}

func (d *document) hovering(text string, span source.Span) *protocol.Hover {
	at := d.span(span)
	return &protocol.Hover{Contents: protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: text}, Range: &at}
}

// wordAt returns the letters around an offset.
func (d *document) wordAt(offset int) source.Span {
	letter := func(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
	w := source.Span{Start: offset, End: offset}
	for w.Start > 0 && letter(d.text[w.Start-1]) {
		w.Start--
	}
	for w.End < len(d.text) && letter(d.text[w.End]) {
		w.End++
	}
	return w
}

// waits returns the explanation of a state's retries, as retries explain prints it; "" if it has none or the definition
// is refused.
func waits(d *document, o *outline, s *state) string {
	var text strings.Builder
	for _, x := range d.examinations(context.Background()) {
		if x.file.Path != o.file.Path || asl.HasErrors(x.found) {
			continue
		}
		m, _ := asl.Options{Express: x.file.Express}.Parse(x.file.Text)
		if m == nil {
			continue
		}
		definitions.VisitStates(&m.Graph, func(one *asl.State) {
			if one.Name == s.name && len(one.Retry) > 0 {
				retries.ExplainState(&text, m, one)
			}
		})
	}
	if text.Len() == 0 {
		return ""
	}
	return "\n\n```text\n" + text.String() + "```"
}

// fields describes the fields of definitions.
var fields = map[string]string{
	"StartAt":                    "the name of the first state.",
	"States":                     "the states, by name. Transitions stay inside their States object.",
	"Comment":                    "text for readers. `stepback:ignore CODE reason` silences a finding of review.",
	"QueryLanguage":              "`JSONPath` (default) or `JSONata`.",
	"Version":                    "the version of the states language: `1.0`.",
	"Type":                       "Task, Pass, Choice, Wait, Succeed, Fail, Parallel or Map.",
	"Next":                       "the state that follows. A state has Next or `End: true`, not both.",
	"End":                        "true if the execution, branch or iteration ends with this state.",
	"Default":                    "the state that follows if no rule of Choices matches. Without it the state fails with States.NoChoiceMatched.",
	"Choices":                    "rules, which are evaluated in order; the first that matches decides the next state.",
	"Resource":                   "the ARN of the function, activity or service integration that does the work.",
	"Parameters":                 "the input of the task in JSONPath. A name that ends with `.$` has a path or an intrinsic function as value.",
	"Arguments":                  "the input of the task in JSONata.",
	"Output":                     "the output of the state in JSONata.",
	"Assign":                     "variables that later states can use.",
	"InputPath":                  "selects the part of the input that the state uses. Default: `$`.",
	"OutputPath":                 "selects the part of the output that the next state receives. Default: `$`.",
	"ResultPath":                 "where the result is put into the input. Default: `$`, which replaces the input; null discards the result.",
	"ResultSelector":             "builds the result from the raw result, before ResultPath.",
	"Result":                     "the output of a Pass state.",
	"Credentials":                "the role that the task assumes, for calls in another account.",
	"TimeoutSeconds":             "how long an attempt of a task, or a whole execution, may take. The task then fails with States.Timeout. Each retry begins anew.",
	"HeartbeatSeconds":           "how long a task may be silent before it fails with States.HeartbeatTimeout; less than TimeoutSeconds.",
	"Retry":                      "retriers. The first whose ErrorEquals matches the error decides whether and when the state is attempted again.",
	"Catch":                      "catchers. After the retries, the first whose ErrorEquals matches the error decides the next state.",
	"ErrorEquals":                "the names of errors that match. States.ALL matches all but States.DataLimitExceeded and States.Runtime, and must be alone and last.",
	"IntervalSeconds":            "the wait before the first retry, in seconds, 1 to 99,999,999. Default: 1.",
	"MaxAttempts":                "the number of retries, 0 to 99,999,999, without the first attempt. Default: 3.",
	"BackoffRate":                "the factor by which the wait grows from retry to retry, at least 1. Default: 2.",
	"MaxDelaySeconds":            "the longest wait between two attempts, in seconds, 1 to 31,622,400. Default: no limit.",
	"JitterStrategy":             "FULL draws each wait at random between 0 and the computed wait; NONE (default) waits exactly that long.",
	"Seconds":                    "how long the state waits, in seconds.",
	"Timestamp":                  "until when the state waits, in the form 2026-01-02T15:04:05Z.",
	"Error":                      "the name of the error with which the execution fails.",
	"Cause":                      "a description of the error, for people.",
	"Branches":                   "state machines that run at the same time. The state ends when all have ended, or one has failed.",
	"ItemProcessor":              "the states that each item passes.",
	"Iterator":                   "the older name of ItemProcessor.",
	"ProcessorConfig":            "Mode is INLINE (default) or DISTRIBUTED; a distributed Map runs each batch as an execution of its own.",
	"ItemsPath":                  "selects the array whose items are processed. Default: `$`.",
	"Items":                      "the array whose items are processed, in JSONata.",
	"ItemSelector":               "builds the input of each iteration.",
	"ItemReader":                 "reads the items of a distributed Map from S3.",
	"ItemBatcher":                "groups the items of a distributed Map into batches.",
	"ResultWriter":               "writes the results of a distributed Map to S3.",
	"MaxConcurrency":             "how many iterations run at the same time; 0 (default) sets no limit.",
	"ToleratedFailurePercentage": "the percentage of items that may fail before the distributed Map fails. Default: 0.",
	"ToleratedFailureCount":      "the number of items that may fail before the distributed Map fails. Default: 0.",
	"Label":                      "a prefix for the names of the Map Run's executions.",
}
