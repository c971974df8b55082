package breaker

import (
	"encoding/json"
	"errors"
	"fmt"
)

// stored is the JSON of a [State]. Times are Unix nanoseconds.
type stored struct {
	Version     int       `json:"v"`
	Circuit     Circuit   `json:"circuit"`
	Generation  uint64    `json:"generation"`
	Since       int64     `json:"since"`
	Consecutive int64     `json:"consecutive,omitempty"`
	Failing     int64     `json:"failing,omitempty"`
	Reopened    int64     `json:"reopened,omitempty"`
	Window      *inWindow `json:"window,omitempty"`
	Probing     *probing  `json:"probing,omitempty"`
	Totals      Totals    `json:"totals"`
	LastProbe   uint64    `json:"lastProbe,omitempty"`
}

// inWindow is the stored form of a window. Slices holds a window of time; Calls holds a window of calls, 64 to a
// word.
type inWindow struct {
	Width    int64    `json:"width"`
	Head     int64    `json:"head,omitempty"`
	Slices   []slice  `json:"slices,omitempty"`
	Requests int64    `json:"requests,omitempty"`
	Next     uint16   `json:"next,omitempty"`
	Calls    []uint64 `json:"calls,omitempty"`
}

type probing struct {
	Admits    int64         `json:"admits"`
	AtLevel   int64         `json:"atLevel,omitempty"`
	Successes int64         `json:"successes,omitempty"`
	Failures  int64         `json:"failures,omitempty"`
	Probes    []storedProbe `json:"probes,omitempty"`
}

type storedProbe struct {
	ID      uint64 `json:"id"`
	Expires int64  `json:"expires"`
}

const storedVersion = 1

// MarshalJSON encodes the whole state; decoding the result gives an equal state.
func (s State) MarshalJSON() ([]byte, error) {
	out := stored{
		Version: storedVersion, Circuit: s.circuit, Generation: s.generation, Since: s.since,
		Consecutive: s.consecutive, Failing: s.failing, Reopened: s.reopened,
		Totals: s.totals, LastProbe: s.totals.probes,
	}
	if w := s.window; w.width > 0 {
		out.Window = &inWindow{Width: w.width, Head: w.head, Slices: w.time[:]}
	} else if w.width < 0 {
		out.Window = &inWindow{Width: w.width, Requests: w.requests, Next: w.next, Calls: w.calls[:]}
	}
	if s.circuit == HalfOpen {
		p := &probing{Admits: s.admits, AtLevel: s.atLevel, Successes: s.successes, Failures: s.failures}
		for _, pr := range s.probes {
			if pr.id != 0 {
				p.Probes = append(p.Probes, storedProbe{pr.id, pr.expires})
			}
		}
		out.Probing = p
	}
	return json.Marshal(out)
}

// UnmarshalJSON decodes the output of MarshalJSON. It returns an error for anything that is not a possible State, and
// leaves s unchanged then.
func (s *State) UnmarshalJSON(text []byte) error {
	var in stored
	if err := json.Unmarshal(text, &in); err != nil {
		return fmt.Errorf("breaker: stored state: %w", err)
	}
	if in.Version != storedVersion {
		return fmt.Errorf("breaker: stored state has version %d; this program reads version %d", in.Version,
			storedVersion)
	}
	read := State{
		circuit:     in.Circuit,
		generation:  in.Generation,
		since:       in.Since,
		consecutive: in.Consecutive,
		failing:     in.Failing,
		reopened:    in.Reopened,
		totals:      in.Totals,
	}
	read.totals.probes = in.LastProbe
	if in.Consecutive < 0 {
		return fmt.Errorf("breaker: stored state counts %d consecutive failures", in.Consecutive)
	}
	if in.Reopened < 0 {
		return fmt.Errorf("breaker: stored state has opened again %d times", in.Reopened)
	}
	if in.Window != nil {
		w, err := in.Window.read()
		if err != nil {
			return err
		}
		read.window = w
	}
	if (in.Probing != nil) != (in.Circuit == HalfOpen) {
		return fmt.Errorf("breaker: stored state is %s, and only a half-open one has probing", in.Circuit)
	}
	if in.Probing != nil {
		if err := in.Probing.read(&read); err != nil {
			return err
		}
	}
	*s = read
	return nil
}

func (in *inWindow) read() (window, error) {
	w := window{width: in.Width, head: in.Head, requests: in.Requests, next: in.Next}
	switch {
	case in.Width > 0 && len(in.Slices) == slices && in.Head >= 0:
		copy(w.time[:], in.Slices)
		w.requests, w.next = 0, 0
		for _, s := range w.time {
			if s.Requests < 0 || s.Failures < 0 || s.Failures > s.Requests || s.Requests > 1<<56 {
				return w, fmt.Errorf("breaker: stored window counts %d failures of %d calls", s.Failures, s.Requests)
			}
		}
	case in.Width < 0 && in.Width >= -MaxWindowRequests && len(in.Calls) == len(w.calls) &&
		in.Requests >= 0 && in.Requests <= -in.Width && int64(in.Next) < -in.Width:
		copy(w.calls[:], in.Calls)
	default:
		return w, errors.New("breaker: stored window is malformed")
	}
	w.recount()
	if w.failures > w.requests {
		return w, fmt.Errorf("breaker: stored window counts %d failures of %d calls", w.failures, w.requests)
	}
	return w, nil
}

func (in *probing) read(s *State) error {
	if in.Admits < 1 || in.Admits > MaxProbes || in.AtLevel < 0 || in.Successes < 0 || in.Failures < 0 ||
		len(in.Probes) > MaxProbes {
		return errors.New("breaker: stored probing is malformed")
	}
	s.admits, s.atLevel, s.successes, s.failures = in.Admits, in.AtLevel, in.Successes, in.Failures
	for i, p := range in.Probes {
		if p.ID == 0 || p.ID > s.totals.probes {
			return fmt.Errorf("breaker: stored probe %d was never issued", p.ID)
		}
		s.probes[i] = probe{p.ID, p.Expires}
	}
	return nil
}
