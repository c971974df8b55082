package aggregate

import "stepback/csvimport"

// tally holds the outcome of each row, half a byte each.
type tally struct {
	nibbles []byte
	counts  [len(outcomes)]int64
}

// outcomes lists the outcomes by their codes in a tally. Code 0 means that no result has named the row.
var outcomes = [...]csvimport.Outcome{"", csvimport.Applied, csvimport.AlreadyApplied, csvimport.Rejected,
	csvimport.DeadLettered}

func newTally(rows int64) *tally {
	t := &tally{nibbles: make([]byte, (rows+1)/2)}
	t.counts[0] = rows
	return t
}

func (t *tally) code(row int64) byte { return t.nibbles[row/2] >> (4 * (row % 2)) & 0xF }

func (t *tally) outcome(row int64) csvimport.Outcome { return outcomes[t.code(row)] }

// set records the first outcome of a row.
func (t *tally) set(row int64, outcome csvimport.Outcome) {
	for code, o := range outcomes {
		if o == outcome {
			t.nibbles[row/2] |= byte(code) << (4 * (row % 2))
			t.counts[0]--
			t.counts[code]++
			return
		}
	}
}

// count returns the number of rows with an outcome; "" counts the rows without one.
func (t *tally) count(outcome csvimport.Outcome) int64 {
	for code, o := range outcomes {
		if o == outcome {
			return t.counts[code]
		}
	}
	return 0
}
