package predict

import "strconv"

// Rates holds success rates per error and attempt. They are shrunk towards the rate of the error, which is itself
// shrunk towards the base rate. Each is the posterior mean under a Beta prior that weighs as much as Prior
// examples.
type Rates struct {
	Base  float64          `json:"base"`
	Prior float64          `json:"prior"`
	Cells map[string]Count `json:"cells"`
}

// Count holds the number of examples, and the number of them that succeeded.
type Count struct {
	N         float64 `json:"n"`
	Succeeded float64 `json:"succeeded"`
}

// prior is the weight of the prior, in examples.
const prior = 20

// lastAttempt is the first attempt that shares one cell with all later ones.
const lastAttempt = 6

func newRates(all []Example) Rates {
	r := Rates{Prior: prior, Cells: map[string]Count{}}
	var succeeded float64
	for i := range all {
		s := outcome(&all[i])
		succeeded += s
		for _, key := range []string{all[i].Error, cell(all[i].Error, all[i].Attempt)} {
			c := r.Cells[key]
			c.N++
			c.Succeeded += s
			r.Cells[key] = c
		}
	}
	r.Base = (succeeded + 0.5) / (float64(len(all)) + 1)
	return r
}

func cell(name string, attempt int) string {
	return name + "/" + strconv.Itoa(min(max(attempt, 1), lastAttempt))
}

// ofError returns the shrunk success rate of an error over all attempts.
func (r *Rates) ofError(name string) float64 { return r.shrunk(name, r.Base) }

// of returns the shrunk success rate of an error and an attempt.
func (r *Rates) of(name string, attempt int) float64 {
	return r.shrunk(cell(name, attempt), r.ofError(name))
}

func (r *Rates) shrunk(key string, towards float64) float64 {
	c := r.Cells[key]
	return (c.Succeeded + r.Prior*towards) / (c.N + r.Prior)
}

func outcome(e *Example) float64 {
	if e.Succeeded {
		return 1
	}
	return 0
}
