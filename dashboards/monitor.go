package dashboards

//go:generate go test . -run TestBodyIsGolden -update

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"stepback/retry"
	"stepback/retrymetrics"
	"stepback/statemachine"
)

// Name is the dashboard's name in the source design.
const Name = "CSV-Processing-Retry-Monitor"

const (
	timeSeries  = "timeSeries"
	singleValue = "singleValue"
	period      = 60 // seconds between published values of the metrics
	// configurationPeriod is the interval, in seconds, at which the configuration is published.
	configurationPeriod = 300
)

// Options configure the dashboard. StateMachine and Region are required.
type Options struct {
	StateMachine, Region string
	// Name is the dashboard's name; empty means [Name].
	Name string
	// Level is the log level of the state machine; empty means ALL. At ERROR, widgets that need level ALL are left
	// out.
	Level retrymetrics.Level
	// Alarms are the ARNs of alarms to show, at most 100.
	Alarms []string
	// Shape is the shape of the import's state machine, which decides its states; empty means [statemachine.Bulk].
	Shape statemachine.Shape
	// Stack is true for the deployed stack, in which functions share a circuit breaker and a controller may adapt
	// retries. Widgets on both are left out otherwise.
	Stack bool
	// FilesMachine is the name of the state machine that imports many files as one. Its widgets are left out if it is
	// empty.
	FilesMachine string
	// General is true if the state machine is not the CSV import. Widgets on rows and on the import's retry table are
	// then left out, and the others speak of executions.
	General bool
}

// Colors with the same meaning in every widget (each is readable on light and dark backgrounds).
const (
	good    = "#2ca02c"
	bad     = "#d62728"
	warn    = "#ff7f0e"
	plain   = "#1f77b4"
	unusual = "#9467bd"
)

// Monitor returns the dashboard. The error names the missing option.
func Monitor(o Options) (Dashboard, error) {
	if o.StateMachine == "" || o.Region == "" {
		return Dashboard{}, fmt.Errorf("a dashboard needs the state machine's name (%q) and the region (%q)",
			o.StateMachine, o.Region)
	}
	b := layout{Options: o}
	b.Level = cmp.Or(o.Level, retrymetrics.LevelAll)
	b.Shape = cmp.Or(o.Shape, statemachine.Bulk)
	b.text(3, b.header())
	if len(o.Alarms) > 0 {
		b.place(Widget{Title: "Alarms", Alarms: o.Alarms, Width: columns, Height: 3})
	}
	b.numbers()
	b.retries()
	b.causes()
	b.progress()
	if o.FilesMachine != "" {
		b.files()
	}
	if !o.General {
		b.configuration()
		b.text(10, baseTable())
	}
	d := Dashboard{Name: cmp.Or(o.Name, Name), Region: o.Region, Widgets: b.widgets}
	return d, d.Check()
}

func (b *layout) header() string {
	text := fmt.Sprintf("# Retries of %s\nCounted from the execution log at level %s, including throttles and timeouts that no function saw. "+
		"Rates are metric math over sums.", b.StateMachine, b.Level)
	if b.Level == retrymetrics.LevelError {
		text += " This level counts failures; retries, delays and recoveries need level ALL."
		if !b.General && statemachine.ChildTask(b.Shape) == "" {
			text += " So do failures by state: the log does not name the state, and child executions have several."
		}
	}
	return text
}

// machine returns a row for the whole state machine.
func (b *layout) machine(m *retrymetrics.Metric, label, color string, stat ...retrymetrics.Stat) Row {
	s := m.In(retrymetrics.ByMachine, b.StateMachine)
	return Row{Label: label, Color: color, Stat: append(stat, m.Stat())[0], Series: &s}
}

// error returns a row for one error of the whole state machine.
func (b *layout) error(m *retrymetrics.Metric, name, label, color string) Row {
	s := m.In(retrymetrics.ByError, b.StateMachine, name)
	return Row{Label: label, Color: color, Stat: m.Stat(), Series: &s}
}

func (b *layout) rate(r retrymetrics.Rate, label, color string) Row {
	return Row{Label: label, Color: color, Rate: &Rate{r, retrymetrics.ByMachine, []string{b.StateMachine}}}
}

func (b *layout) search(m *retrymetrics.Metric, set retrymetrics.Set) Row {
	return Row{Stat: m.Stat(), Search: &Search{m, set, b.StateMachine, period}}
}

func (b *layout) numbers() {
	failed := "Failed files"
	if b.General {
		failed = "Failed executions"
	}
	b.row(3,
		number("Retries", retrymetrics.Count, b.machine(retrymetrics.RetryAttempts, "retries", plain)),
		number("Retry success rate", retrymetrics.Percent, b.rate(retrymetrics.RetrySuccessRate(), "% of ended retries",
			good)),
		number("Rows tried again", retrymetrics.Count, b.machine(retrymetrics.RowsRetried, "rows", warn)),
		number("Row recovery rate", retrymetrics.Percent, b.rate(retrymetrics.RowRecoveryRate(), "% of rows tried again",
			good)),
		number("Failed attempts", retrymetrics.Count, b.machine(retrymetrics.TaskFailures, "failed attempts", bad)),
		number("Throttles", retrymetrics.Count, b.machine(retrymetrics.Throttles, "throttles", warn)),
		number("Dead-lettered rows", retrymetrics.Count, b.machine(retrymetrics.RowsDeadLettered, "rows", bad)),
		number(failed, retrymetrics.Count, b.machine(retrymetrics.ExecutionsFailed, "executions", bad)),
	)
}

// retries adds the three widgets of the source design, and one for the retry rate.
func (b *layout) retries() {
	hundred := 100.0
	success := graph("Retry Success Rate", retrymetrics.Percent, b.rate(retrymetrics.RetrySuccessRate(), "success rate",
		good))
	success.Metric.Max = &hundred
	success.Metric.Lines = []Line{{Label: "alarm below", Value: 50}}
	b.row(6,
		graph("Retry Statistics", retrymetrics.Count,
			b.machine(retrymetrics.RetryAttempts, "RetryAttempts", plain),
			b.machine(retrymetrics.RetrySuccess, "RetrySuccess", good),
			b.machine(retrymetrics.RetryFailure, "RetryFailure", bad)),
		success,
	)
	b.row(6,
		graph("Retry Delays", retrymetrics.Seconds,
			b.machine(retrymetrics.RetryDelay, "p50", good, retrymetrics.P50),
			b.machine(retrymetrics.RetryDelay, "average", plain, retrymetrics.Average),
			b.machine(retrymetrics.RetryDelay, "p99", warn, retrymetrics.P99),
			b.machine(retrymetrics.RetryDelay, "longest", bad, retrymetrics.Maximum)),
		graph("Retry rate: share of attempts that are retries", retrymetrics.Percent, b.rate(retrymetrics.RetryRate(),
			"retry rate", plain)),
		graph("Attempts per task that ended", retrymetrics.Count,
			b.machine(retrymetrics.AttemptsPerTask, "mean", plain, retrymetrics.Average),
			b.machine(retrymetrics.AttemptsPerTask, "most", bad, retrymetrics.Maximum)),
	)
}

// causes adds widgets that show what failed, where and with which error.
func (b *layout) causes() {
	widgets := []Widget{stacked(graph("Failed attempts by error", retrymetrics.Count, b.search(retrymetrics.TaskFailures,
		retrymetrics.ByError)))}
	if b.namesStates() {
		widgets = append(widgets, stacked(graph("Failed attempts by state", retrymetrics.Count,
			b.search(retrymetrics.TaskFailures, retrymetrics.ByState))))
	}
	b.row(6, append(widgets,
		stacked(graph("Retries by error", retrymetrics.Count, b.search(retrymetrics.RetryAttempts,
			retrymetrics.ByError))),
		stacked(graph("Rows tried again by error", retrymetrics.Count,
			b.search(retrymetrics.RowsRetried, retrymetrics.ByError))),
		graph("Retries given up as not worthwhile", retrymetrics.Count, b.error(retrymetrics.TaskFailures,
			retry.RetryNotWorthwhile, "retries", warn)),
	)...)
	shared := graph("Shared breaker out of reach", retrymetrics.Count,
		b.machine(retrymetrics.SharedStateUnavailable, "times", warn))
	controller := graph("Controller of the retries", retrymetrics.Count,
		b.machine(retrymetrics.ControllerChanges, "changes", plain),
		b.machine(retrymetrics.ControllerProposals, "proposals of a dry run", unusual))
	model := graph("Model of the retries: Brier score, and whether it is used", retrymetrics.None,
		b.machine(retrymetrics.RetryModelBrier, "model", plain),
		b.machine(retrymetrics.BaseRateBrier, "base rate", warn),
		b.machine(retrymetrics.RetryModelUsed, "used (1) or not (0)", unusual))
	row := []Widget{
		graph("Throttles and timeouts", retrymetrics.Count,
			b.machine(retrymetrics.Throttles, "throttles", warn), b.machine(retrymetrics.Timeouts, "timeouts",
				unusual)),
		graph("Circuit breaker (1 open, 0 closed)", retrymetrics.None,
			b.machine(retrymetrics.CircuitBreakerState, "state", bad), b.rate(retrymetrics.BreakerTransitions(),
				"transitions", unusual)),
	}
	if b.Stack {
		row = append(row, shared, controller, model)
	}
	b.row(6, row...)
}

// namesStates reports whether failed attempts are counted by state: at level ERROR the log does not name the state, so
// it is known only if child executions have a single Task state.
func (b *layout) namesStates() bool {
	return b.Level == retrymetrics.LevelAll || b.General || statemachine.ChildTask(b.Shape) != ""
}

func (b *layout) progress() {
	b.row(6,
		graph("Map progress: child executions that ended", retrymetrics.Count,
			b.machine(retrymetrics.ChildExecutionsSucceeded, "succeeded", good),
			b.machine(retrymetrics.ChildExecutionsFailed, "failed", bad)),
		stacked(graph("Rows by outcome", retrymetrics.Count,
			b.machine(retrymetrics.RowsApplied, "applied", good), b.machine(retrymetrics.RowsAlreadyApplied,
				"already applied", plain),
			b.machine(retrymetrics.RowsRejected, "rejected", warn), b.machine(retrymetrics.RowsDeadLettered,
				"dead-lettered", bad))),
		b.executions(),
	)
}

// executions returns the widget for executions that ended.
func (b *layout) executions() Widget {
	succeeded, failed := b.machine(retrymetrics.ExecutionsSucceeded, "succeeded", good),
		b.machine(retrymetrics.ExecutionsFailed, "failed", bad)
	if b.General {
		return graph("Executions that ended", retrymetrics.Count, succeeded, failed)
	}
	return graph("Files", retrymetrics.Count, succeeded, failed,
		b.machine(retrymetrics.ExecutionsRefused, "of these for their file", warn),
		b.machine(retrymetrics.UnpairedEvents, "events not paired", unusual))
}

// files adds the widgets of the state machine that imports many files as one. Its children import a file each. Failed
// attempts are named by error and not by state: an import that fails is one of ImportFile.
func (b *layout) files() {
	of := *b
	of.StateMachine = b.FilesMachine
	b.row(6,
		graph("Imports of many files", retrymetrics.Count,
			of.machine(retrymetrics.ExecutionsSucceeded, "succeeded", good),
			of.machine(retrymetrics.ExecutionsFailed, "failed", bad),
			of.machine(retrymetrics.ExecutionsRefused, "of these for their files or list", warn)),
		graph("Imports of many files: files that ended", retrymetrics.Count,
			of.machine(retrymetrics.ChildExecutionsSucceeded, "ended, whether imported or not", plain),
			of.machine(retrymetrics.ChildExecutionsFailed, "not observed to their end", bad)),
		stacked(graph("Imports of many files: failed attempts by error", retrymetrics.Count,
			of.search(retrymetrics.TaskFailures, retrymetrics.ByError))),
	)
}

// configured lists the states whose configuration is shown, with their colors.
var configured = []struct{ state, color string }{
	{statemachine.ValidateCSVFile, plain}, {statemachine.ApplyBatch, good},
	{statemachine.ProcessSingleUserRecord, warn}, {statemachine.AggregateResults, unusual},
}

// configuration adds widgets that show the state machine's current configuration and, as dashed lines, the
// configuration in the retry table.
func (b *layout) configuration() {
	retries := graph("Configuration now (lines) and base (dashed): retries of a task", retrymetrics.Count)
	waits := graph("Configuration now (lines) and base (dashed): longest wait in all", retrymetrics.Seconds)
	for _, c := range configured {
		base, ok := retrymetrics.BaseConfiguration(c.state)
		if !ok || c.state == statemachine.ApplyBatch && b.Shape != statemachine.Bulk {
			continue
		}
		show := func(w Widget, m *retrymetrics.Metric, value float64) {
			s := m.In(retrymetrics.ByState, b.StateMachine, c.state)
			w.Metric.Rows = append(w.Metric.Rows, Row{Label: c.state, Color: c.color, Stat: m.Stat(), Series: &s})
			w.Metric.Lines = append(w.Metric.Lines, Line{Label: "base of " + c.state, Value: value, Color: c.color})
			w.Metric.Period = configurationPeriod
		}
		show(retries, retrymetrics.ConfiguredRetries, float64(base.Retries))
		show(waits, retrymetrics.ConfiguredWait, base.Wait.Seconds())
	}
	b.row(6, retries, waits)
}

// baseTable returns the base configuration, with which others are compared, as a Markdown table.
func baseTable() string {
	var b strings.Builder
	b.WriteString("## Base configuration of the retries\n| State | Errors | Retries | First delay | Rate | Cap | Jitter |\n|---|---|---|---|---|---|---|\n")
	for _, s := range statemachine.DefaultTable().States {
		for _, r := range s.Rows {
			if p := r.Policy; p.MaxAttempts > 0 {
				fmt.Fprintf(&b, "| %s | %s | %d | %s | %v | %s | %s |\n", s.State, strings.Join(r.Errors, ", "),
					p.MaxAttempts,
					p.Interval.Round(time.Millisecond), p.Rate, p.MaxDelay.Round(time.Millisecond), p.Jitter)
			}
		}
	}
	return b.String()
}
