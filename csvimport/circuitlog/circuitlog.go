// Package circuitlog prints the state of a callee's circuit, as a function sees it, in CloudWatch's embedded metric
// format. It prints CircuitBreakerState whenever the state has changed, and once a minute while the callee is in
// use. It prints SharedStateUnavailable if the shared state could not be reached. The system that collects the
// function's log turns these lines into metrics: CloudWatch on AWS, package local on the laptop.
package circuitlog

import (
	"io"
	"log/slog"
	"sync"
	"time"

	"stepback/adaptive/breaker"
	"stepback/retrymetrics"
)

// The callees of the import. All functions that call one share its breaker.
const (
	Database = "database" // the users' database
	Objects  = "objects"  // the buckets
)

// Printer prints the metrics of one callee. Its fields must be set before use; it is safe for concurrent use.
type Printer struct {
	// Callee is the callee's name in log lines.
	Callee string
	// Machine and State are the labels of the metrics; if Machine is empty, nothing is printed.
	Machine, State string
	Out            io.Writer
	Log            *slog.Logger
	// Now returns the current time.
	Now func() time.Time

	mu      sync.Mutex
	circuit breaker.Circuit
	minute  time.Time // the minute in which the circuit was last printed; zero means never
}

// Circuit prints the state of the circuit if it has changed, or if none was printed in this minute. It must be
// called whenever the state has been read.
func (p *Printer) Circuit(circuit breaker.Circuit) {
	minute := p.Now().UTC().Truncate(time.Minute)
	p.mu.Lock()
	changed := p.minute.IsZero() || p.circuit != circuit
	due := changed || !p.minute.Equal(minute)
	p.circuit, p.minute = circuit, minute
	p.mu.Unlock()
	if changed {
		p.Log.Info("circuit", "callee", p.Callee, "is", circuit.String())
	}
	if !due {
		return
	}
	value := 0.0
	if circuit != breaker.Closed {
		value = 1
	}
	p.print(retrymetrics.CircuitBreakerState, value)
}

// Unavailable prints that the shared state could not be reached, with a warning.
func (p *Printer) Unavailable(err error) {
	p.Log.Warn("the functions' shared state cannot be reached; no call is refused", "callee", p.Callee, "error", err.Error())
	p.print(retrymetrics.SharedStateUnavailable, 1)
}

func (p *Printer) print(m *retrymetrics.Metric, value float64) {
	if p.Machine == "" {
		return
	}
	lines, err := retrymetrics.AppendEMF(nil, []retrymetrics.Point{{
		Metric: m, Labels: retrymetrics.Labels{StateMachine: p.Machine, State: p.State},
		Start: p.Now().UTC().Truncate(time.Minute), Values: []float64{value}, Counts: []int64{1},
	}})
	if err != nil {
		p.Log.Error("metric", "error", err.Error())
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.Out.Write(lines); err != nil {
		p.Log.Error("metric", "error", err.Error())
	}
}
