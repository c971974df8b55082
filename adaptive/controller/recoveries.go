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

// Histories reads what the executions of a state machine did.
type Histories interface {
	// Collect adds to c the executions of the given state machine (an ARN) that began since the given time,
	// including their child executions. If there are very many, it may leave out the older ones.
	Collect(ctx context.Context, machine string, since time.Time, c *analysis.Collector) error
}

// HistoriesOf reads histories from Step Functions, or from any compatible API.
type HistoriesOf struct {
	Client histories.StepFunctions
	// Most limits how many histories are read at once; 0 means 1,000.
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

// Economy configures how retries are valued.
type Economy struct {
	// Histories provides the outcomes of retries.
	Histories Histories
	// Prices are the prices of a success, of delays and of functions.
	Prices analysis.Options
	// Tell stores the configurations for the functions; nil publishes none.
	Tell Configurations
	// Model estimates the chance of success for the functions. If it is nil, or does not predict better than the base
	// rate, functions use the measurements instead.
	Model *predict.Model
}

// Configurations stores the configurations that functions read.
type Configurations interface {
	// Save replaces the configuration of a state machine.
	Save(ctx context.Context, c *configuration.Configuration) error
}

// recoveriesFor is the period of histories that is read. recoveriesEvery is the interval between reads.
// publishedFor is the time for which functions use the results.
const (
	recoveriesFor   = 7 * 24 * time.Hour
	recoveriesEvery = time.Hour
	publishedFor    = 3 * time.Hour
)

// recoveries measures the outcomes of retries and publishes them to the functions, if the last measurement is at
// least an hour old. A failure is only a warning, because the other rules need no histories.
func (t *tick) recoveries(ctx context.Context, targets []Target) {
	if t.Economy == nil || t.now.Sub(t.row.RecoveriesAt) < recoveriesEvery && !t.now.Before(t.row.RecoveriesAt) {
		return
	}
	var c analysis.Collector
	if err := t.Economy.Histories.Collect(ctx, t.Machine, t.now.Add(-recoveriesFor), &c); err != nil {
		t.warn("the outcomes of retries could not be measured: %v", err)
		return
	}
	report, err := c.Analyze(t.Economy.Prices)
	if err != nil {
		t.warn("the outcomes of retries could not be measured: %v", err)
		return
	}
	if m := t.Economy.Model; m != nil && !m.BeatsBaseRate() {
		t.warn("the model of retry success does not predict better than the base rate; functions use the measured rates")
	}
	t.row.RecoveriesAt, t.row.Recoveries = t.now, map[string][]decide.Recovery{}
	told := &configuration.Configuration{
		Version: configuration.Version, Machine: nameOf(t.Machine), At: t.now, Until: t.now.Add(publishedFor),
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
	t.publish(ctx, told)
}

// publish publishes the configuration for the functions, with an entry in the audit record if it differs from the
// previous one.
func (t *tick) publish(ctx context.Context, told *configuration.Configuration) {
	if t.Economy.Tell == nil || t.DryRun && !t.Proposes {
		return
	}
	if err := told.Validate(); err != nil {
		t.warn("%v", err)
		return
	}
	if err := t.Economy.Tell.Save(ctx, told); err != nil {
		t.warn("the worth of retries could not be sent to the functions: %v", err)
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
		Text: "the worth of retries was sent to the functions, valid until " + told.Until.Format(time.RFC3339)})
}

func (t *tick) warn(format string, args ...any) {
	t.res.Warnings = append(t.res.Warnings, fmt.Sprintf(format, args...))
}

// recovered converts an analysis report into the results of one state's retriers.
type recovered struct {
	target  Target
	report  *analysis.Report
	prices  worth.Prices
	options analysis.Options
}

// retrierFor returns the index of the retrier that matches an error, or -1.
func (r recovered) retrierFor(name string) int {
	return slices.IndexFunc(r.target.Base, func(x retrypatterns.Retrier) bool {
		return slices.ContainsFunc(x.ErrorEquals, func(e string) bool {
			return e == name || e == "States.ALL" || e == "States.TaskFailed" && name != "States.Timeout"
		})
	})
}

// retries adds up the results of one retrier's retries after the errors that wanted selects. The list has one entry
// for each retry that the retrier allows, with the cost of one such retry.
func (r recovered) retries(retrier int, wanted func(name string) bool) []configuration.Retry {
	x := r.target.Base[retrier]
	out := make([]configuration.Retry, x.MaxAttempts)
	costs := make([]float64, len(out))
	for i := range r.report.Classes {
		class := &r.report.Classes[i]
		if class.State != r.target.State || r.retrierFor(class.Error) != retrier || !wanted(class.Error) {
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

// byRetrier returns the recoveries for R-pay. Each carries the first error name of its retrier.
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

// byError returns the retries for the functions, by the error names of the retriers.
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

// retried reports whether a retrier retries attempts that a function could give up. Retriers of deferred work do
// not count; they are measured differently.
func retried(x retrypatterns.Retrier) bool {
	return x.MaxAttempts > 0 && x.MaxAttempts <= maxPublished && len(x.ErrorEquals) > 0 &&
		!slices.ContainsFunc(x.ErrorEquals, retry.IsDeferral)
}

// maxPublished limits the retries of one error that are published to functions.
const maxPublished = 100

// DynamoConfigurations stores configurations in the table of [DynamoRows], under the names of the state machines.
type DynamoConfigurations struct {
	// Client calls the service "dynamodb".
	Client Caller
	Table  string
}

// Save implements [Configurations]. The table's TTL deletes the item after the configuration has expired.
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
