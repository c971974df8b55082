package review

import (
	"slices"
	"strings"
	"unicode"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/internal/spelling"
)

var unprotectedCompensation = Rule{
	Code: "UNPROTECTED_COMPENSATION", Severity: asl.SeverityWarning,
	Title: "work that undoes other work is neither retried nor caught",
	Why: "A compensation (a state named Refund, Cancel, Compensate, Rollback or Undo, or one that a catcher leads to) runs when " +
		"something has already failed, often while the callee is in trouble. If it fails too, the execution ends with half of " +
		"its work done: the card stays charged, the room stays booked. Give it a Retry that lasts longer than an outage, make it " +
		"idempotent, and catch what is left, for example into a queue that people read (Saga pattern, AWS Prescriptive Guidance). " +
		"States that only send a message or only read are left out.",
	check: func(s *subject) {
		if s.Type != asl.Task || s.callee() == "" && !s.undoes() || len(s.Catch) > 0 || s.most() > 0 ||
			s.sends() || s.protectedAround() {
			return
		}
		const hint = "retry it for longer than an outage, and catch what is left"
		switch {
		case s.undoes():
			s.found(s.in(source.Member("Retry")), nil, hint,
				"if %s fails once, what it should undo stays done: it has neither Retry nor Catch", s.Name)
		case s.onErrorPath() && !s.reads():
			s.found(s.in(source.Member("Retry")), nil, hint,
				"%s handles a failure and has neither Retry nor Catch: if it fails once, the failure stays unhandled", s.Name)
		}
	},
}

// undoingWords are the beginnings of words in names of states that undo work.
var undoingWords = []string{"refund", "cancel", "compensat", "rollback", "undo", "revert", "unreserve"}

// undoes reports whether the state's name says that it undoes work.
func (s *subject) undoes() bool {
	words := wordsOf(s.Name)
	for i, word := range words {
		if slices.ContainsFunc(undoingWords, func(begin string) bool { return strings.HasPrefix(word, begin) }) ||
			word == "roll" && i+1 < len(words) && words[i+1] == "back" {
			return !strings.HasSuffix(word, "ed") // Cancelled describes a result
		}
	}
	return false
}

// wordsOf splits a name at blanks, punctuation and capital letters, in lower case.
func wordsOf(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r):
			r = ' '
		case unicode.IsUpper(r) && lower:
			b.WriteRune(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

// sends reports whether the state only sends a message: a notification, or an item into a queue.
func (s *subject) sends() bool {
	return s.pattern == "" && (s.is("sqs", "sendMessage") || s.is("sns", "publish") || s.is("events", "putEvents") ||
		s.is("eventbridge", "putEvents") || s.service == "ses" || s.service == "sesv2")
}

// readingWords begin the names of actions that only read.
var readingWords = []string{"get", "list", "describe", "query", "scan", "head", "batchGet"}

// reads reports whether the state only reads: a task that looks up what is there handles no failure.
func (s *subject) reads() bool {
	return slices.ContainsFunc(readingWords, func(begin string) bool { return strings.HasPrefix(s.action, begin) })
}

// parkingWords are the beginnings of words in the names of states and queues that keep failed work for later.
var parkingWords = []string{"dlq", "dead", "park", "quarantine", "poison", "fail", "unprocess", "retry"}

// parks reports whether the state puts failed work into a queue or a topic, where it waits to be looked at. It is the
// last resort: sending twice does no harm there, and no error is worth giving up for.
func (s *subject) parks() bool {
	if !s.is("sqs", "sendMessage") && !s.is("sns", "publish") || s.pattern != "" {
		return false
	}
	queue, _ := s.text("QueueUrl")
	topic, _ := s.text("TopicArn")
	for _, word := range wordsOf(s.Name + " " + queue[strings.LastIndex(queue, "/")+1:] + " " + topic[strings.LastIndex(topic, ":")+1:]) {
		if slices.ContainsFunc(parkingWords, func(begin string) bool { return strings.HasPrefix(word, begin) }) {
			return true
		}
	}
	return s.onErrorPath()
}

// onErrorPath reports whether only catchers lead to the state.
func (s *subject) onErrorPath() bool {
	if s.r.regular == nil {
		s.r.regular = map[*asl.Graph]map[string]bool{}
	}
	regular, known := s.r.regular[s.graph]
	if !known {
		regular = map[string]bool{}
		s.r.regular[s.graph] = regular
		for pending := []string{s.graph.StartAt}; len(pending) > 0; {
			x := s.graph.State(pending[len(pending)-1])
			pending = pending[:len(pending)-1]
			if x == nil || regular[x.Name] {
				continue
			}
			regular[x.Name] = true
			pending = append(pending, x.Next, x.Default)
			for i := range x.Choices {
				pending = append(pending, x.Choices[i].Next)
			}
		}
	}
	return !regular[s.Name]
}

// protectedAround reports whether a Parallel or Map state around the state retries it, or catches its errors.
func (s *subject) protectedAround() bool {
	return slices.ContainsFunc(s.r.subjects, func(o subject) bool {
		return s.inside(&o) && (o.catches(allErrors) || o.retried(allErrors))
	})
}

// inside reports whether the state is in a branch or the processor of another one.
func (s *subject) inside(o *subject) bool {
	return len(o.at) < len(s.at) && slices.Equal(s.at[:len(o.at)], o.at)
}

var retriedNotCaught = Rule{
	Code: "RETRIED_NOT_CAUGHT", Severity: asl.SeverityWarning,
	Title: "errors that outlast their retries pass the catchers by",
	Why: "When the retries of an error run out, its catcher decides what happens. If no catcher names the error, the execution " +
		"fails at once: the states that undo the work, which the machine has for other errors, never run. Catch the errors that " +
		"are retried too, or States.ALL. Only machines whose catchers lead to a compensation are checked. EXHAUSTED_NOT_CAUGHT " +
		"checks the items of Maps.",
	check: func(s *subject) {
		if s.mapping != nil || s.onErrorPath() || s.protectedAround() {
			return
		}
		var missed []string
		s.active(func(_ int, x *asl.Retrier) {
			for _, name := range x.ErrorEquals {
				if !s.catches(name) && s.neverRaised(name) == "" {
					missed = append(missed, name)
				}
			}
		})
		undo := s.compensation()
		if len(missed) == 0 || undo == "" {
			return
		}
		const shown = 2
		names := strings.Join(missed[:min(shown, len(missed))], ", ")
		if more := len(missed) - shown; more > 0 {
			names += " and " + spelling.Counted(more, "other error")
		}
		s.found(s.in(source.Member("Catch")), nil, "catch States.ALL too",
			"when the retries of %s run out, no catcher takes over, and the execution fails without %s", names, undo)
	},
}

// compensation returns the name of a state of the same graph that undoes work and that a catcher leads to; "" if there
// is none.
func (s *subject) compensation() string {
	for i := range s.r.subjects {
		if o := &s.r.subjects[i]; o.graph == s.graph && o.onErrorPath() && (o.undoes() || o.begins(releasingWords)) {
			return o.Name
		}
	}
	return ""
}

// releasingWords are the first words in names of states that undo work if only catchers lead to them.
var releasingWords = []string{"release", "void", "restore", "unlock", "return"}

// begins reports whether the first word of the state's name is one of the words.
func (s *subject) begins(words []string) bool {
	name := wordsOf(s.Name)
	return len(name) > 0 && slices.Contains(words, name[0])
}
