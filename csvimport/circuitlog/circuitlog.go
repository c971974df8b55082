// Package circuitlog prints what a function knows of its callee's circuit, in CloudWatch's embedded metric format:
// CircuitBreakerState whenever it has changed and once a minute while the callee is asked for, and
// SharedStateUnavailable when what is shared was out of reach. Whoever collects the function's log makes metrics of it:
// CloudWatch on AWS, package local on the laptop.
package circuitlog

import (
	"io"
	"log/slog"
	"sync"
	"time"

	"stepback/adaptive/breaker"
	"stepback/retrymetrics"
)

// Printer prints for one callee. Its fields are set before it is used; it is safe for concurrent use.
type Printer struct {
	// Callee is the name in log lines.
	Callee string
	// Machine and State are the labels of the metrics; nothing is printed without a machine.
	Machine, State string
	Out            io.Writer
	Log            *slog.Logger
	// Now is the clock.
	Now func() time.Time

	mu      sync.Mutex
	circuit breaker.Circuit
	minute  time.Time // when the circuit was printed; zero for never
}

// Circuit is told where the circuit stands whenever that has been read.
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

// Unavailable is told that what is shared could not be reached.
func (p *Printer) Unavailable(err error) {
	p.Log.Warn("what the functions share is out of reach; nothing is refused", "callee", p.Callee, "error", err.Error())
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
