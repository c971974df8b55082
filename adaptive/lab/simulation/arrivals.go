package simulation

import (
	"math"
	"time"

	"stepback/adaptive/lab/draw"
	"stepback/adaptive/lab/scenario"
)

// arrivals is the state of an open stream.
type arrivals struct {
	n     uint64 // numbers drawn
	state int    // index of the current rate of mmpp
	until int64  // time at which mmpp changes its state
	turns uint64
}

// next returns the time of the next arrival after now, or math.MaxInt64 if that is after the duration.
func (a *arrivals) next(r *run, w *workload) int64 {
	at := a.candidate(r, w)
	if at >= int64(r.Scenario.Duration) {
		return math.MaxInt64
	}
	return at
}

func (a *arrivals) candidate(r *run, w *workload) int64 {
	s := w.Arrivals
	switch s.Process {
	case scenario.Constant:
		a.n++
		return int64(math.Round(float64(a.n-1) / s.Rate * 1e9))
	case scenario.Trace:
		a.n++
		if a.n > uint64(len(s.Times)) {
			return math.MaxInt64
		}
		return int64(s.Times[a.n-1])
	case scenario.MMPP:
		return a.modulated(r, w)
	case scenario.Diurnal:
		return a.thinned(r, w)
	default:
		return r.now + a.gap(r, w, s.Rate)
	}
}

// gap draws the time to the next arrival of a Poisson process.
func (a *arrivals) gap(r *run, w *workload, rate float64) int64 {
	a.n++
	stream := draw.Of(r.Seed, forArrivals, uint64(r.workloadIndex(w)), a.n)
	return nanoseconds(stream.Exp() / rate)
}

func nanoseconds(seconds float64) int64 { return int64(math.Min(math.Round(seconds*1e9), 1e18)) }

// modulated returns the next arrival of an mmpp process. Within a state arrivals are Poisson, and each new state
// restarts them.
func (a *arrivals) modulated(r *run, w *workload) int64 {
	s := w.Arrivals
	now := r.now
	for now < int64(r.Scenario.Duration) {
		if a.until <= now {
			if a.turns > 0 {
				a.state = (a.state + 1) % len(s.Rates)
			}
			a.turns++
			stream := draw.Of(r.Seed, forModulation, uint64(r.workloadIndex(w)), a.turns)
			a.until = now + max(1, nanoseconds(stream.Exp()*s.Holds[a.state].Seconds()))
		}
		if rate := s.Rates[a.state]; rate > 0 {
			if at := now + a.gap(r, w, rate); at < a.until {
				return at
			}
		}
		now = a.until
	}
	return math.MaxInt64
}

// thinned returns the next arrival of a process whose rate changes over time. It draws from a Poisson process of
// the highest rate, and keeps each arrival with the probability that corresponds to the rate at its time.
func (a *arrivals) thinned(r *run, w *workload) int64 {
	s := w.Arrivals
	highest := s.Rate * (1 + s.Amplitude)
	at := r.now
	for at < int64(r.Scenario.Duration) {
		at += a.gap(r, w, highest)
		angle := 2 * math.Pi * time.Duration(at-int64(s.Peak)).Seconds() / s.Period.Seconds()
		a.n++
		u := draw.Float(r.Seed, forArrivals, uint64(r.workloadIndex(w)), a.n)
		if highest*u < s.Rate*(1+s.Amplitude*math.Cos(angle)) {
			return at
		}
	}
	return math.MaxInt64
}

// stay draws how long a fault of Gilbert's model stays in its present state.
func (f *fault) stay(seed, index uint64) time.Duration {
	mean := f.MeanGood
	if f.on {
		mean = f.MeanBad
	}
	stream := draw.Of(seed, forGilbert, index, f.turns)
	return time.Duration(max(1, nanoseconds(stream.Exp()*mean.Seconds())))
}
