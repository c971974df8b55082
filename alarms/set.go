package alarms

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stepback/retrymetrics"
)

// Options defines what is watched and where notifications go. StateMachine is required. Alarms on a resource that is
// not named here are left out.
type Options struct {
	StateMachine string
	// Level is the log level of the state machine; empty means ALL. At ERROR, alarms that need level ALL are left
	// out, and failed attempts are watched instead of retries.
	Level retrymetrics.Level
	// Topic is the ARN of the SNS topic for messages. PagingTopic is the ARN of the topic that pages; empty means
	// Topic.
	Topic, PagingTopic string
	// MachineARN is the state machine's ARN, the dimension of Step Functions' own metrics. With it, the account's
	// throttled state transitions are watched, too.
	MachineARN string
	// Timeout is the state machine's timeout. An execution that takes half of it is reported; 0 reports none.
	Timeout time.Duration
	// FilesMachine is the name of the state machine that imports many files as one, FilesMachineARN its ARN, and
	// FilesTimeout its timeout. All are set, or none.
	FilesMachine, FilesMachineARN string
	FilesTimeout                  time.Duration
	// UndeliveredQueue is the name of the queue for events that could not start an execution. NotificationQueue is
	// the name of the queue for messages that reached no subscriber.
	UndeliveredQueue, NotificationQueue string
	// PagesTopic, NoticesTopic and ImportsTopic are the names of the topics for pages, for messages and for the
	// results of imports. The alarms watch deliveries from these topics.
	PagesTopic, NoticesTopic, ImportsTopic string
	// MetricsFunction is the name of the function that counts the metrics; a schedule invokes it as well.
	// AdaptFunction is the name of the controller's function. RelayFunction is the name of the function of the
	// outbox's relay. PruneFunction is the name of the function that deletes old versions. TrainFunction is the name
	// of the function that trains the model of retry success.
	MetricsFunction, AdaptFunction, RelayFunction, PruneFunction, TrainFunction string
	// Cluster is the identifier of the Aurora Serverless cluster.
	Cluster string
	// General is true if the state machine is not the CSV import. Alarms on rows, on files and on the function that
	// counts the metrics are then left out, and the others speak of executions.
	General bool
	// Guide is the address where docs/operating.md is published; empty means that path itself. Each alarm links to
	// its own heading there.
	Guide string
}

// Set holds the alarms of a state machine.
type Set struct {
	Options
	Alarms []Alarm
}

// New returns the alarms. It returns the error of [Alarm.Check], or an error that names a text too long for
// CloudWatch.
func New(o Options) (Set, error) {
	if o.StateMachine == "" {
		return Set{}, errors.New("alarms need the state machine's name")
	}
	o.Level = cmp.Or(o.Level, retrymetrics.LevelAll)
	o.PagingTopic = cmp.Or(o.PagingTopic, o.Topic)
	o.Guide = cmp.Or(o.Guide, "docs/operating.md")
	s := Set{Options: o}
	for _, a := range slices.Concat(o.source(), o.additions(), o.burning(), o.services(), o.files()) {
		if !a.at(o) {
			continue
		}
		if err := a.Check(o.StateMachine); err != nil {
			return Set{}, err
		}
		s.Alarms = append(s.Alarms, a)
	}
	return s, s.checkTexts()
}

// checkTexts returns an error for the first text that is too long for CloudWatch. The texts contain the guide's
// address and the state machine's name.
func (s Set) checkTexts() error {
	all, composites := s.Put()
	for _, c := range composites {
		if err := checkTexts(c.AlarmName, c.AlarmDescription); err != nil {
			return err
		}
		if n := utf8.RuneCountInString(c.AlarmRule); n > maxRule {
			return fmt.Errorf("alarm %s: its rule has %d characters, %d are allowed; take a shorter name for the state machine", c.AlarmName, n, maxRule)
		}
	}
	for _, a := range all {
		if err := checkTexts(a.AlarmName, a.AlarmDescription); err != nil {
			return err
		}
	}
	return nil
}

func checkTexts(name, description string) error {
	if n := utf8.RuneCountInString(name); n > maxName {
		return fmt.Errorf("alarm %s: its name has %d characters, %d are allowed; take a shorter name for the state machine", name, n, maxName)
	}
	if n := utf8.RuneCountInString(description); n > maxDescription {
		return fmt.Errorf("alarm %s: its description has %d characters, %d are allowed; take a shorter address for the guide", name, n, maxDescription)
	}
	return nil
}

func (a Alarm) at(o Options) bool {
	for _, s := range a.watched(o.StateMachine) {
		if !s.Metric.At(o.Level) {
			return false
		}
	}
	return true
}

func (o Options) series(m *retrymetrics.Metric) *retrymetrics.Series {
	s := m.In(retrymetrics.ByMachine, o.StateMachine)
	return &s
}

// source returns the two alarms of the source design, with its numbers. The design reads RetrySuccessRate, which
// nothing publishes. Metric math computes it here, if there are at least MinimumRetries; missing data does not
// breach.
func (o Options) source() []Alarm {
	rate := retrymetrics.SignificantRetrySuccessRate()
	excessive := Alarm{
		Name: "excessive-retries", Series: o.series(retrymetrics.RetryAttempts), Stat: retrymetrics.Sum,
		Comparison: GreaterThanThreshold, Threshold: 100, Period: 5 * time.Minute, Periods: 1, Breaching: 1,
		Missing: NotBreaching,
		Meaning: "More than 100 retries in 5 minutes: a callee fails often.",
		First:   "See which error dominates \"Failed attempts by error\", and look at that callee before you change the retry table.",
	}
	if o.Level == retrymetrics.LevelError {
		excessive.Name, excessive.Series = "excessive-failures", o.series(retrymetrics.TaskFailures)
		excessive.Meaning = "More than 100 failed attempts in 5 minutes: a callee fails often."
	}
	first := "Find the exhausted error in the widget \"Retry Statistics\" and check whether its callee is down; if so, stop new files."
	if o.General {
		first = "Find the error that retries do not recover from, and check whether its callee is down; if so, start no new executions."
		excessive.First = "See which error dominates \"Failed attempts by error\", and look at that callee before you " +
			"change the Retry array."
	}
	return []Alarm{
		{
			Name: "high-retry-failure-rate", Rate: &rate, Comparison: LessThanThreshold, Threshold: 50,
			Period: 5 * time.Minute, Periods: 2, Breaching: 2, Missing: NotBreaching, Page: PageCallee,
			Meaning: "For 10 minutes, fewer than half of the completed retries succeeded, with 20 or more of them in each 5 minutes: retrying does not help.",
			First:   first,
		},
		excessive,
	}
}

// withMeaning returns the alarm with its kind of trouble, its meaning and its first action.
func withMeaning(a Alarm, page Page, meaning, first string) Alarm {
	a.Page, a.Meaning, a.First = page, meaning, first
	return a
}

// additions returns the alarms that an operator needs in addition to the source's.
func (o Options) additions() []Alarm {
	above := func(name string, m *retrymetrics.Metric, threshold float64, breaching, periods int) Alarm {
		return Alarm{
			Name: name, Series: o.series(m), Stat: m.Stat(), Comparison: GreaterThanThreshold, Threshold: threshold,
			Period: 5 * time.Minute, Periods: periods, Breaching: breaching, Missing: NotBreaching,
		}
	}
	event := func(a Alarm) Alarm {
		a.Event = true
		return a
	}
	rate := func(name string, r retrymetrics.Rate, threshold float64) Alarm {
		return Alarm{
			Name: name, Rate: &r, Comparison: GreaterThanThreshold, Threshold: threshold, Period: 5 * time.Minute,
			Periods: 1, Breaching: 1, Missing: NotBreaching,
		}
	}
	often := rate("many-executions-fail", retrymetrics.ExecutionFailureRate(), 50)
	often.Period = time.Hour
	breaker := above("circuit-breaker-open", retrymetrics.CircuitBreakerState, 0, 3, 5)
	breaker.Period = time.Minute
	slow := above("slow-retries", retrymetrics.RetryDelay, 60, 2, 3)
	slow.Stat, slow.Missing = retrymetrics.P99, Ignore
	open := withMeaning(breaker, PageCallee,
		"The circuit breaker was open in 3 of 5 minutes: it refuses calls to protect the callee.",
		"Look at the health of the callee; the breaker closes by itself once trial calls succeed.")
	const (
		failed = "An execution failed, timed out or was aborted"
		many   = "More than 100 attempts were throttled in two of three 5-minute periods."
		late   = "More than 20 attempts timed out in two of three 5-minute periods."
		long   = "One retry in a hundred waited more than a minute, in two of three 5-minute periods."
	)
	if o.General {
		return []Alarm{
			event(withMeaning(above("executions-failed", retrymetrics.ExecutionsFailed, 0, 1, 1), PageExecutions, failed+".",
				"Open the execution and read its error; fix the cause, then redrive it.")),
			open,
			withMeaning(above("throttled", retrymetrics.Throttles, 100, 2, 3), "", many,
				"Compare the number of concurrent calls with the callee's limit; lower the former or request a higher limit."),
			withMeaning(above("timeouts", retrymetrics.Timeouts, 20, 2, 3), "", late,
				"Compare how long the callee takes with the state's TimeoutSeconds; a timed-out attempt may have taken effect."),
			withMeaning(slow, "", long,
				"See which state waits, and for which error; find out why its callee refuses or fails calls."),
		}
	}
	return []Alarm{
		event(withMeaning(above("dead-letters", retrymetrics.RowsDeadLettered, 0, 1, 1), "",
			"Rows were dead-lettered: they are not counted, and nothing will retry them.",
			"Read dead-letters.jsonl of the execution, fix the cause, then import its corrections file.")),
		event(withMeaning(rate("many-dead-letters", retrymetrics.DeadLetterRate(), 1), PageRows,
			"More than 1 % of the rows of the last 5 minutes' imports, and at least 10, were dead-lettered: something that all rows need is failing.",
			"Find the error that dominates dead-letters.jsonl of the execution; stop new files until its cause is fixed.")),
		event(withMeaning(rate("executions-failed", retrymetrics.FailedBySystem(), 0), PageExecutions,
			failed+", and its input was not to blame.",
			"Open the execution and read its error; fix the cause, then start it again as the guide describes.")),
		withMeaning(often, "",
			"More than half of the executions that ended in an hour failed, with 5 or more of them, whether files or the system are to blame.",
			"See which error the executions have in common: a sender's new format, or a fault of the system."),
		open,
		withMeaning(above("throttled", retrymetrics.Throttles, 100, 2, 3), "",
			many,
			"Compare the Map's concurrency with the account's limit of concurrent invocations; lower the former or request a higher limit."),
		withMeaning(above("timeouts", retrymetrics.Timeouts, 20, 2, 3), "",
			late,
			"Look at the function's duration and at locks in the database; a timed-out attempt may have taken effect."),
		withMeaning(slow, "",
			long,
			"See which state waits; with long waits the conservative pattern protects a callee, so find out what is throttled."),
		withMeaning(above("breaker-unshared", retrymetrics.SharedStateUnavailable, 10, 1, 1), "",
			"Functions could not reach the table of circuit breakers and refuse nothing: each finds out by itself that a callee is down.",
			"Look at the table's throttles and errors and at the functions' logs; imports continue without the shared breaker."),
		withMeaning(above("metrics-incomplete", retrymetrics.UnpairedEvents, 0, 2, 3), "",
			"Attempts in the log could not be paired with the events before them, so retries are undercounted.",
			"Check that the metrics function has a reserved concurrency of 1, and whether it was throttled or restarted."),
	}
}

// FullName returns an alarm's name in CloudWatch.
func (s Set) FullName(name string) string { return s.StateMachine + "-" + name }

// Description returns an alarm's text: the problem, the first thing to do, and where to read more. Part of a composite
// links the composite's heading.
func (s Set) Description(a Alarm) string {
	name := a.Name
	for _, b := range Burns() {
		if a.Part && (name == b.LongName() || name == b.ShortName()) {
			name = s.composedBy(b)
			break
		}
	}
	return a.Meaning + " First: " + a.First + " Guide: " + s.heading(name)
}

// heading returns the address of an alarm's heading in the guide. If the guide's address has a fragment, it is
// returned unchanged.
func (s Set) heading(name string) string {
	if strings.Contains(s.Guide, "#") {
		return s.Guide
	}
	return s.Guide + "#" + name
}

func (s Set) alarming(name string) string { return fmt.Sprintf("ALARM(%q)", s.FullName(name)) }

// silent returns the term of a rule for the alarm on silence, which is in INSUFFICIENT_DATA while data are missing.
func (s Set) silent() string {
	return fmt.Sprintf("(ALARM(%[1]q) OR INSUFFICIENT_DATA(%[1]q))", s.FullName(metricsSilent))
}
