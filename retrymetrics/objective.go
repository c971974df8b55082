package retrymetrics

import (
	"fmt"
	"time"

	"stepback/engine/history"
)

// Objective is a service-level objective: in any Over, at least Share percent of the batches (child executions of
// distributed Maps) finish within Within of their start.
type Objective struct {
	Share        float64 // percent, below 100
	Within, Over time.Duration
}

// DefaultObjective returns the CSV import's objective: 99.5 % of the batches within 15 minutes, over 28 days. A batch
// that waits out a short outage meets it; one whose rows wait for a callee that stays down does not.
func DefaultObjective() Objective {
	return Objective{Share: 99.5, Within: 15 * time.Minute, Over: 28 * 24 * time.Hour}
}

// Budget returns the share of the batches that may miss the objective, in percent.
func (o Objective) Budget() float64 { return 100 - o.Share }

// String returns the objective as text: "99.5 % of the batches finish within 15 minutes of their start, over 28 days".
func (o Objective) String() string {
	return fmt.Sprintf("%g %% of the batches finish within %g minutes of their start, over %g days", o.Share,
		o.Within.Minutes(), o.Over.Hours()/24)
}

// MinimumBatches is the number of batches in a period below which a share of late ones has no meaning.
const MinimumBatches = 10

// LateShare returns the share of the batches that missed the objective, or 0 if fewer than MinimumBatches were decided
// in the period.
func LateShare() Rate {
	return Rate{
		Name: "LateShare", Unit: Percent,
		Description: fmt.Sprintf("Share of batches that missed the objective, in a period with %d or more batches; 0 otherwise.",
			MinimumBatches),
		Expression: fmt.Sprintf("IF(good + late >= %d, 100 * late / (good + late), 0)", MinimumBatches),
		Terms:      []Term{{"good", BatchesInTime, Sum}, {"late", BatchesLate, Sum}},
	}
}

// punctual decides whether one child execution meets the default objective. It decides once for each start and redrive:
// when the execution succeeds in time, fails, or when an event shows that the time is over, so that batches that wait
// for a callee count as late while they wait.
type punctual struct {
	began    int64 // nanoseconds since 1970
	awaiting bool  // the start was read, and nothing has been decided since
}

// read reads an event. ok is true if the event decides, and late is then the decision.
func (p *punctual) read(e history.Type, at int64) (late, ok bool) {
	if e == history.ExecutionStarted || e == history.ExecutionRedriven {
		*p = punctual{began: at, awaiting: true}
		return false, false
	}
	if !p.awaiting {
		return false, false
	}
	over := time.Duration(at-p.began) > DefaultObjective().Within
	if !over && !e.Terminal() {
		return false, false
	}
	p.awaiting = false
	return over || e != history.ExecutionSucceeded, true
}

// inTime counts a batch that met or missed the objective. The other count gets a zero, because metric math has no value
// if a term has none.
func (t *pointSink) inTime(late bool, at int64) {
	if !t.batch {
		return
	}
	good, bad := 1.0, 0.0
	if late {
		good, bad = 0, 1
	}
	l := Labels{StateMachine: t.machine}
	t.add(BatchesInTime, l, at, good)
	t.add(BatchesLate, l, at, bad)
}
