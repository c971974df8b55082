package simulation

import "time"

// patience is the real time spent on shrinking one failure.
const patience = 10 * time.Second

// shrink looks for fewer and smaller draws that fail as well, and returns the last failure it found.
func shrink(made []int, failure error, simulate func(*draws) error) ([]int, error) {
	until := time.Now().Add(patience)
	// attempt runs a candidate and keeps it if it fails.
	attempt := func(candidate []int) bool {
		d := repeated(candidate)
		err := simulate(d)
		if err == nil {
			return false
		}
		made, failure = candidate[:min(len(candidate), len(d.made))], err
		return true
	}
	for progress := true; progress && time.Now().Before(until); {
		progress = false
		for size := len(made) / 2; size > 0 && time.Now().Before(until); size /= 2 {
			for at := 0; at+size <= len(made) && time.Now().Before(until); {
				if attempt(without(made, at, size)) {
					progress = true
				} else {
					at += size
				}
			}
		}
		for at := 0; at < len(made) && time.Now().Before(until); at++ {
			for _, v := range []int{0, made[at] / 2, made[at] - 1} {
				if v >= 0 && v < made[at] && attempt(with(made, at, v)) {
					progress = true
					break
				}
			}
		}
	}
	return made, failure
}

func without(made []int, at, size int) []int {
	out := make([]int, 0, len(made))
	out = append(out, made[:at]...)
	return append(out, made[at+size:]...)
}

func with(made []int, at, v int) []int {
	out := append([]int(nil), made...)
	out[at] = v
	return out
}
