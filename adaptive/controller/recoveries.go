package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/smithy-go"

	"stepback/adaptive/analysis"
	"stepback/adaptive/analysis/histories"
	"stepback/adaptive/configuration"
	"stepback/adaptive/controller/decide"
	"stepback/adaptive/predict"
	"stepback/adaptive/worth"
	"stepback/retry"
	"stepback/retrypatterns"
)

// Histories tell what the executions of a state machine did.
type Histories interface {
	// Collect hands a collector the executions that began since a time, those of the state machine of an ARN with their
	// child executions. It may leave out the older ones of very many.
	Collect(ctx context.Context, machine string, since time.Time, c *analysis.Collector) error
}

// HistoriesOf are the histories of Step Functions, or of whatever answers like it.
type HistoriesOf struct {
	Client histories.StepFunctions
	// Most bounds how many histories are read in one go; 0 for 1,000.
	Most int
}

// Collect implements [Histories].
func (h HistoriesOf) Collect(ctx context.Context, machine string, since time.Time, c *analysis.Collector) error {
	most := h.Most
	if most <= 0 {
		most = 1000
	}
	return histories.API(ctx, h.Client, histories.Selection{Machine: machine, Since: since, Most: most}, c)
}

// Economy is what retries are judged by.
type Economy struct {
	// Histories tell what retries came to.
	Histories Histories
	// Prices are those of a success, of delays and of functions.
	Prices analysis.Options
	// Tell keeps what the functions are told; nil tells them nothing.
	Tell Configurations
	// Model estimates chances for the functions; nil leaves them to what was measured.
	Model *predict.Model
}

// Configurations keep what functions are told.
type Configurations interface {
	// Save replaces the configuration of a state machine.
	Save(ctx context.Context, c *configuration.Configuration) error
}

// How far back histories are read, how often, and for how long functions go by what was found.
const (
	recoveriesFor   = 7 * 24 * time.Hour
	recoveriesEvery = time.Hour
	toldFor         = 3 * time.Hour
)

// recoveries measures what retries came to if the last time is an hour ago, and tells the functions. What goes wrong is
// a warning: the other rules need no histories.
func (t *tick) recoveries(ctx context.Context, targets []Target) {
	if t.Economy == nil || t.now.Sub(t.row.RecoveriesAt) < recoveriesEvery && !t.now.Before(t.row.RecoveriesAt) {
		return
	}
	var c analysis.Collector
	if err := t.Economy.Histories.Collect(ctx, t.Machine, t.now.Add(-recoveriesFor), &c); err != nil {
		t.warn("what retries came to could not be measured: %v", err)
		return
	}
	report, err := c.Analyze(t.Economy.Prices)
	if err != nil {
		t.warn("what retries came to could not be measured: %v", err)
		return
	}
	t.row.RecoveriesAt, t.row.Recoveries = t.now, map[string][]decide.Recovery{}
	told := &configuration.Configuration{
		Version: configuration.Version, Machine: nameOf(t.Machine), At: t.now, Until: t.now.Add(toldFor),
		Value: t.Economy.Prices.Value, States: map[string]configuration.State{}, Model: t.Economy.Model,
	}
	prices, err := worth.PricesOf(t.Economy.Prices.Region)
	if err != nil {
		t.warn("%v", err)
		return
	}
	for _, target := range targets {
		known := recovered{target: target, report: report, prices: prices, options: t.Economy.Prices}
		t.row.Recoveries[target.State] = known.byRetrier()
		told.States[target.State] = known.byError()
	}
	t.inform(ctx, told)
}

// inform tells the functions, with an entry in the audit record when they are told something else than before.
func (t *tick) inform(ctx context.Context, told *configuration.Configuration) {
	if t.Economy.Tell == nil || t.DryRun {
		return
	}
	if err := told.Validate(); err != nil {
		t.warn("%v", err)
		return
	}
	if err := t.Economy.Tell.Save(ctx, told); err != nil {
		t.warn("the functions could not be told what retries are worth: %v", err)
		return
	}
	same := *told
	same.At, same.Until = time.Time{}, time.Time{}
	text, err := json.Marshal(same)
	if err != nil || Hash(string(text)) == t.row.Told {
		return
	}
	t.row.Told = Hash(string(text))
	t.row.add(Entry{At: t.now, What: Told, After: t.row.Told,
		Text: "the functions are told what retries are worth, until " + told.Until.Format(time.RFC3339)})
}

func (t *tick) warn(format string, args ...any) {
	t.res.Warnings = append(t.res.Warnings, fmt.Sprintf(format, args...))
}

// recovered is what a report says of the retriers of one state.
type recovered struct {
	target  Target
	report  *analysis.Report
	prices  worth.Prices
	options analysis.Options
}

// takes is the index of the retrier that takes an error, or -1.
func (r recovered) takes(name string) int {
	return slices.IndexFunc(r.target.Base, func(x retrypatterns.Retrier) bool {
		return slices.ContainsFunc(x.ErrorEquals, func(e string) bool {
			return e == name || e == "States.ALL" || e == "States.TaskFailed" && name != "States.Timeout"
		})
	})
}

// retries adds up what is known of the retries of one retrier, after the errors that are wanted; there are as many as
// it allows, with what one costs.
func (r recovered) retries(retrier int, wanted func(name string) bool) []configuration.Retry {
	x := r.target.Base[retrier]
	out := make([]configuration.Retry, x.MaxAttempts)
	costs := make([]float64, len(out))
	for i := range r.report.Classes {
		class := &r.report.Classes[i]
		if class.State != r.target.State || r.takes(class.Error) != retrier || !wanted(class.Error) {
			continue
		}
		for _, retry := range class.Retries {
			if retry.Number < 1 || retry.Number > len(out) || !(retry.Effective > 0) {
				continue
			}
			k := retry.Number - 1
			out[k].Started += retry.Effective
			out[k].Succeeded += retry.Effective * min(max(retry.Rate, 0), 1)
			costs[k] += retry.Effective * retry.USD
		}
	}
	policy := x.Policy()
	for k := range out {
		out[k].Succeeded = min(out[k].Succeeded, out[k].Started)
		if out[k].Started > 0 {
			out[k].Cost = costs[k] / out[k].Started
			continue
		}
		out[k].Cost = r.prices.Cost(worth.Attempt{MemoryMB: r.options.MemoryMB, Architecture: r.options.Architecture,
			Wait: policy.Delay(k+1, nil), DelayPerHour: r.options.DelayPerHour}).Total()
	}
	return out
}

// byRetrier are the recoveries for R-pay, under the first error name of each retrier.
func (r recovered) byRetrier() []decide.Recovery {
	var all []decide.Recovery
	for i, x := range r.target.Base {
		if !retried(x) {
			continue
		}
		for k, retry := range r.retries(i, func(string) bool { return true }) {
			if retry.Started > 0 {
				all = append(all, decide.Recovery{Error: x.ErrorEquals[0], Retry: k + 1, Started: retry.Started,
					Succeeded: retry.Succeeded, Value: r.options.Value, Cost: retry.Cost})
			}
		}
	}
	return all
}

// byError are the retries for the functions, under the names that the retriers have.
func (r recovered) byError() configuration.State {
	all := configuration.State{}
	for i, x := range r.target.Base {
		if !retried(x) {
			continue
		}
		for _, name := range x.ErrorEquals {
			if _, twice := all[name]; twice {
				continue
			}
			wanted := func(e string) bool { return e == name }
			if name == "States.ALL" || name == "States.TaskFailed" {
				wanted = func(e string) bool { return !slices.Contains(x.ErrorEquals, e) || e == name }
			}
			all[name] = r.retries(i, wanted)
		}
	}
	return all
}

// retried reports whether a retrier retries something that a function could give up: what was put off has its own
// measure.
func retried(x retrypatterns.Retrier) bool {
	return x.MaxAttempts > 0 && x.MaxAttempts <= mostTold && len(x.ErrorEquals) > 0 &&
		!slices.Contains(x.ErrorEquals, retry.CircuitOpen) &&
		!slices.Contains(x.ErrorEquals, retry.RetryBudgetExhausted)
}

// mostTold bounds the retries of one error that functions are told of.
const mostTold = 100

// DynamoConfigurations keep configurations in the table of [DynamoRows], under the names of the state machines.
type DynamoConfigurations struct {
	// Client calls the service "dynamodb".
	Client Caller
	Table  string
}

// Save implements [Configurations]. The item goes by the table's TTL when the configuration has ended.
func (d DynamoConfigurations) Save(ctx context.Context, c *configuration.Configuration) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	err = d.Client.Call(ctx, "PutItem", putItem{TableName: d.Table, Item: map[string]attribute{
		"state_machine": words(c.Machine),
		"config":        words(string(text)),
		"updated_at":    words(c.At.UTC().Format(time.RFC3339)),
		"ttl":           number(c.Until.Unix()),
	}}, nil)
	var large smithy.APIError
	if errors.As(err, &large) && c.Model != nil && len(text) > 300_000 {
		return fmt.Errorf("table %s: the configuration has %d bytes, nearly all of them its %s model: %w", d.Table,
			len(text), c.Model.Kind, err)
	}
	if err != nil {
		return fmt.Errorf("table %s: %w", d.Table, err)
	}
	return nil
}
