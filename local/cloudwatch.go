package local

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"stepback/aws"
	"stepback/local/console"
	"stepback/local/endpoint"
	"stepback/local/services/cloudwatch"
	"stepback/local/services/cloudwatch/datapoints"
	"stepback/local/services/lambda/durablefunctions"
	"stepback/local/services/lambda/runner"
	"stepback/local/services/logs"
	"stepback/local/services/logs/logstore"
)

// openCloudWatch opens CloudWatch and the meter that measures the other services for it.
func (p *Platform) openCloudWatch(context.Context) (err error) {
	p.meter.asks, p.meter.done = make(chan chan<- error), make(chan struct{})
	p.CloudWatch, err = cloudwatch.Open(cloudwatch.Options{Documents: p.Documents, Clock: p.Clock, Targets: &p.Targets,
		Scope: p.Scope, Log: p.cfg.Log, Measure: p.meter.flushed,
		Link: func(address string) string { return console.Address(p.Endpoint, address) }})
	if err != nil {
		return err
	}
	p.onClose(p.CloudWatch.Close)
	p.offer(served{model: "cloudwatch", about: "metric data, dashboards and alarms",
		Service: endpoint.Service{Name: "CloudWatch", Signing: "monitoring", Target: "GraniteServiceVersion20100801",
			Handler: lazily(p.CloudWatch.Handler)}})
	p.onClose(p.meter.measure(p))
	return nil
}

// meter collects measurements of the services until they are put into CloudWatch together.
type meter struct {
	mu       sync.Mutex
	measured map[measure]*datapoints.Summary
	embedded map[aws.Scope][]cloudwatch.Datum // embedded in logs, or produced by metric filters
	filters  logs.MetricFilters
	sampled  int64                   // the minute in which queues and engines were last sampled
	engines  atomic.Pointer[engines] // nil until there are any
	durable  atomic.Pointer[durablefunctions.Service]

	asks chan chan<- error // requests of readers to flush everything measured so far
	done chan struct{}     // closed when nothing more is put into CloudWatch
}

// measure identifies a metric of a resource in a minute.
type measure struct {
	scope                                      aws.Scope
	namespace, name, dimension, resource, unit string
	minute                                     int64
	stage                                      string // for an API in AWS/ApiGateway
	bus                                        string // for a rule in AWS/Events that is not on the default bus
}

// flushEvery is the interval at which measurements are put into CloudWatch.
const flushEvery = time.Second

// measure puts measurements into CloudWatch until stop is called, which puts the last ones.
func (m *meter) measure(p *Platform) (stop func() error) {
	ending := make(chan struct{})
	go func() {
		defer close(m.done)
		tick := time.NewTicker(flushEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if err := m.flush(p); err != nil {
					p.cfg.Log.Warn("metrics could not be stored", "error", err)
				}
			case answer := <-m.asks:
				answer <- m.flush(p)
			case <-ending:
				return
			}
		}
	}()
	return func() error {
		close(ending)
		<-m.done
		m.measureQueues(p, true)
		return m.flush(p)
	}
}

// flushed waits until everything measured so far is in CloudWatch. One goroutine flushes for all callers: otherwise
// another caller's flush might have taken the measurements but not yet put them.
func (m *meter) flushed() error {
	answer := make(chan error, 1)
	select {
	case m.asks <- answer:
		return <-answer
	case <-m.done:
		return nil
	}
}

func (m *meter) flush(p *Platform) error {
	m.measureQueues(p, false)
	for scope, due := range m.filters.Due(p.Clock.Now()) {
		m.keep(scope, filtered(due))
	}
	m.mu.Lock()
	all, measured := m.embedded, m.measured
	m.embedded, m.measured = nil, nil
	m.mu.Unlock()
	if all == nil {
		all = map[aws.Scope][]cloudwatch.Datum{}
	}
	for of, sum := range measured {
		sum.Unit = of.unit
		all[of.scope] = append(all[of.scope], cloudwatch.Datum{At: time.Unix(60*of.minute, 0), Data: *sum,
			Metric: cloudwatch.Metric{Namespace: of.namespace, Name: of.name, Dimensions: of.dimensions()}})
	}
	for scope, data := range all {
		if err := p.CloudWatch.Put(scope, data); err != nil {
			return err
		}
	}
	return nil
}

func (of *measure) dimensions() []cloudwatch.Dimension {
	if of.dimension == "" { // a metric of the account
		return nil
	}
	d := []cloudwatch.Dimension{{Name: of.dimension, Value: of.resource}}
	if of.stage != "" {
		d = append(d, cloudwatch.Dimension{Name: "Stage", Value: of.stage})
	}
	if of.bus != "" {
		d = append([]cloudwatch.Dimension{{Name: "EventBusName", Value: of.bus}}, d...)
	}
	return d
}

// add adds a value of a metric.
func (m *meter) add(of measure, at time.Time, name, unit string, value float64) {
	m.addTimes(of, at, name, unit, value, 1)
}

// addTimes adds a value that occurred n times.
func (m *meter) addTimes(of measure, at time.Time, name, unit string, value, n float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.summary(of, at, name, unit).Add(value, n)
}

// merge adds the values of a summary.
func (m *meter) merge(of measure, at time.Time, name, unit string, values *datapoints.Summary) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if sum := m.summary(of, at, name, unit); sum.Count > 0 {
		sum.Merge(values)
	} else {
		*sum = *values
	}
}

// summary returns the summary of a metric in the minute of a time. mu must be held.
func (m *meter) summary(of measure, at time.Time, name, unit string) *datapoints.Summary {
	of.minute, of.name, of.unit = at.Unix()/60, name, unit
	sum := m.measured[of]
	if sum == nil {
		if m.measured == nil {
			m.measured = map[measure]*datapoints.Summary{}
		}
		sum = &datapoints.Summary{}
		m.measured[of] = sum
	}
	return sum
}

// ran records an invocation of a function, as AWS/Lambda does.
func (p *Platform) ran(scope aws.Scope, r runner.Ran) {
	p.tracer.Ran(scope, &r)
	of, at := measure{scope: scope, namespace: namespaceOfLambda, dimension: "FunctionName", resource: r.Function}, p.Clock.Now()
	if r.Throttled {
		p.meter.add(of, at, "Throttles", "Count", 1)
		return
	}
	failed := 0.0
	if r.Failed {
		failed = 1
	}
	p.meter.add(of, at, "Invocations", "Count", 1)
	p.meter.add(of, at, "Errors", "Count", failed)
	p.meter.add(of, at, "ConcurrentExecutions", "Count", float64(r.Active))
	p.meter.add(of, at, "Duration", "Milliseconds", float64(r.Took)/float64(time.Millisecond))
}

// logged extracts the metrics embedded in log events, and those that metric filters produce.
func (p *Platform) logged(scope aws.Scope, g logstore.Group, events []logstore.Event) {
	if data := p.meter.filters.Appended(scope, g, events); len(data) > 0 {
		p.meter.keep(scope, filtered(data))
	}
	for i := range events {
		if all := cloudwatch.Embedded(events[i].Message); len(all) > 0 {
			p.meter.keep(scope, all)
		}
	}
}

// filtered converts data of metric filters to CloudWatch's form.
func filtered(data []logs.MetricDatum) []cloudwatch.Datum {
	all := make([]cloudwatch.Datum, len(data))
	for i, d := range data {
		all[i] = cloudwatch.Datum{At: d.At, Metric: cloudwatch.Metric{Namespace: d.Namespace, Name: d.Metric}}
		for _, name := range slices.Sorted(maps.Keys(d.Dimensions)) {
			all[i].Dimensions = append(all[i].Dimensions, cloudwatch.Dimension{Name: name, Value: d.Dimensions[name]})
		}
		all[i].Data.Unit = cmp.Or(d.Unit, "None")
		all[i].Data.Add(d.Value, 1)
	}
	return all
}

// keep adds data extracted from logs.
func (m *meter) keep(scope aws.Scope, all []cloudwatch.Datum) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.embedded == nil {
		m.embedded = map[aws.Scope][]cloudwatch.Datum{}
	}
	m.embedded[scope] = append(m.embedded[scope], all...)
}
