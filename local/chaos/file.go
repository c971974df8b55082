package chaos

import (
	"time"

	"stepback/internal/strictyaml"
)

// longest is the maximum duration of a fault.
const longest = 365 * 24 * time.Hour

// ReadFile reads faults from a YAML file: an object whose member faults is a list of faults, either as on the
// command line or as objects {fault, for, seed}. A fault without its own for or seed gets that of the file, or else
// that of otherwise. Errors name line and column.
//
//	seed: 7
//	for: 10m
//	faults:
//	  - sqs:SendMessage*:throttle:10%
//	  - {fault: "dynamodb:*:latency:50ms-200ms", for: 30s}
func (s *Set) ReadFile(name string, text []byte, otherwise Wanted) ([]Wanted, error) {
	r, v := strictyaml.Read(name, text)
	o := v.Object("seed", "for", "faults")
	all := Wanted{Seed: seedOf(o.Get("seed"), otherwise.Seed), For: o.Get("for").DurationOr(otherwise.For, 0, longest)}
	const widest = 1000
	faults := o.Need("faults").List(1, maxFaults)
	wanted := make([]Wanted, 0, len(faults))
	for _, e := range faults {
		w, of := all, e
		if e.IsObject() {
			one := e.Object("fault", "for", "seed")
			of = one.Need("fault")
			w = Wanted{Seed: seedOf(one.Get("seed"), all.Seed), For: one.Get("for").DurationOr(all.For, 0, longest)}
		}
		if w.Fault = of.Text(widest); w.Fault != "" {
			if err := s.Check(w.Fault); err != nil {
				of.Problem("%v", err)
			}
		}
		wanted = append(wanted, w)
	}
	return wanted, r.Err()
}

// seedOf returns the seed in v, or otherwise if v is absent.
func seedOf(v strictyaml.Value, otherwise uint64) uint64 {
	if !v.Present() {
		return otherwise
	}
	const most = 1 << 31
	return uint64(v.Whole(0, most))
}
