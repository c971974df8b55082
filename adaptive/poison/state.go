package poison

import (
	"math"
	"time"

	"stepback/adaptive/controller/decide"
)

// Stages is the number of retries that are counted separately; the last stage counts all later ones.
const Stages = 3

// Explored is the share of futile retries that should be made nevertheless, because a retry that is not made shows no
// change.
const Explored = 0.02

const (
	// A slice ends after least first attempts, or five times as many calls, and lasts at least shortest and at most
	// longest.
	least    = 4
	shortest = time.Second
	longest  = 30 * time.Second
	// Retries count in slices in which at most the share fine of the first attempts failed, and records are given up
	// while no more of the recent ones failed, and at most the share well of those in the present slice and the one
	// before.
	fine, well = 0.1, 0.25
	// memory is the time constant with which calls are forgotten, and outages that of the peak. few is the number of
	// calls needed for a statement.
	memory  = 10 * time.Second
	outages = 10 * time.Minute
	few     = 5
	// plausible is the probability from which the failures of a record are plausible for one that is not poison.
	plausible = 0.001
	// most limits the retries remembered in a stage: older ones are forgotten by halves.
	most = 400
	// A retry is futile if its chance of success is below futile, by the upper bound of its 95 % interval. That takes
	// 73 retries if none succeeds.
	futile = 0.05
)

// Counts adds up how first attempts and retries ended. Only successes and load errors count.
type Counts struct {
	// Ended is the number of calls that ended, and Failed the number of those that failed, whatever is known of them.
	Ended, Failed int64
	// First is the number of first attempts that ended, FirstFailed the number of those that failed.
	First, FirstFailed int64
	// Retried is the number of retries that ended, and Recovered the number of those that succeeded, by the number of
	// the retry: 1, 2, and 3 or more.
	Retried, Recovered [Stages]int64
}

// Plus returns the sum of two counts.
func (c Counts) Plus(o Counts) Counts {
	c.Ended += o.Ended
	c.Failed += o.Failed
	c.First += o.First
	c.FirstFailed += o.FirstFailed
	for i := range Stages {
		c.Retried[i] += o.Retried[i]
		c.Recovered[i] += o.Recovered[i]
	}
	return c
}

// Negative returns −c. Adding it to a count subtracts c.
func (c Counts) Negative() Counts {
	c.Ended, c.Failed, c.First, c.FirstFailed = -c.Ended, -c.Failed, -c.First, -c.FirstFailed
	for i := range Stages {
		c.Retried[i], c.Recovered[i] = -c.Retried[i], -c.Recovered[i]
	}
	return c
}

// Add counts one call of a record whose earlier calls all failed. retry is their number: 0 for a first attempt, 1 for
// the first retry. A negative one is unknown. Refused calls are no attempts. A failure is cheap if it took less time
// than a success: a rejection or an error that comes at once. A retry with a cheap failure is not counted as a retry.
func (c *Counts) Add(retry int, failed, cheap bool) {
	c.Ended++
	if failed {
		c.Failed++
	}
	switch {
	case retry < 0, retry > 0 && failed && cheap:
	case retry == 0:
		c.First++
		if failed {
			c.FirstFailed++
		}
	default:
		i := min(retry, Stages) - 1
		c.Retried[i]++
		if !failed {
			c.Recovered[i]++
		}
	}
}

// failing returns the share of first attempts that failed; 0 if there were none.
func (c *Counts) failing() float64 { return float64(c.FirstFailed) / float64(max(c.First, 1)) }

// State tells from a callee's first attempts and retries. The zero State knows nothing. It is a plain value that
// can be copied and stored as JSON; it is not safe for concurrent use.
type State struct {
	// Slice holds the calls of the present slice, which began at Began, in Unix nanoseconds.
	Slice Counts `json:"slice"`
	Began int64  `json:"began"`
	// Last is the share of first attempts that failed in the slice before.
	Last float64 `json:"last"`
	// First and FirstFailed count the first attempts of the last slices, and Ended and Failed all calls, with weights
	// that decrease over time.
	First       float64 `json:"first"`
	FirstFailed float64 `json:"firstFailed"`
	Ended       float64 `json:"ended"`
	Failed      float64 `json:"failed"`
	// Peak is the largest share of calls that failed, and decreases over time.
	Peak float64 `json:"peak"`
	// Retried and Recovered count the retries made while the callee was well.
	Retried   [Stages]float64 `json:"retried"`
	Recovered [Stages]float64 `json:"recovered"`
}

// Record counts a call that ended now; see [Counts.Add].
func (s *State) Record(retry int, failed, cheap bool, now time.Time) {
	var c Counts
	c.Add(retry, failed, cheap)
	s.Advance(c, now)
}

// Advance counts calls that other processes made and added up, as if they had ended now.
func (s *State) Advance(c Counts, now time.Time) {
	at := now.UnixNano()
	age := time.Duration(at - s.Began)
	if s.Began == 0 || age < 0 { // new, or the clock was set back
		s.Began, age = at, 0
	}
	s.Slice = s.Slice.Plus(c)
	if age < shortest || s.Slice.First < least && s.Slice.Ended < 5*least && age < longest {
		return
	}
	keep := math.Exp(-age.Seconds() / memory.Seconds())
	s.First = s.First*keep + float64(s.Slice.First)
	s.FirstFailed = s.FirstFailed*keep + float64(s.Slice.FirstFailed)
	s.Ended = s.Ended*keep + float64(s.Slice.Ended)
	s.Failed = s.Failed*keep + float64(s.Slice.Failed)
	s.Last = s.Slice.failing()
	s.Peak *= math.Exp(-age.Seconds() / outages.Seconds())
	if s.Ended >= few {
		s.Peak = max(s.Peak, s.Failed/s.Ended)
	}
	if s.Slice.First > 0 && s.Last <= fine {
		for i := range Stages {
			s.Retried[i] += float64(s.Slice.Retried[i])
			s.Recovered[i] += float64(s.Slice.Recovered[i])
			if s.Retried[i] > most {
				s.Retried[i], s.Recovered[i] = s.Retried[i]/2, s.Recovered[i]/2
			}
		}
	}
	s.Slice, s.Began = Counts{}, at
}

// failing returns the recent share of first attempts that failed; known is false if there were too few.
func (s *State) failing() (share float64, known bool) {
	first := s.First + float64(s.Slice.First)
	if !(first >= few) {
		return 0, false
	}
	return (s.FirstFailed + float64(s.Slice.FirstFailed)) / first, true
}

// Blameless reports whether a record that failed so many times in a row may be one like any other: the share of calls
// that failed lately, to the power of the failures, is not negligible. An outage of all calls is remembered for about
// ten minutes, because records wait for as long, and have no retry left when they come back.
func (s *State) Blameless(failures int) bool {
	ended := s.Ended + float64(s.Slice.Ended)
	if !(ended >= few) {
		return false
	}
	share := max((s.Failed+float64(s.Slice.Failed))/ended, s.Peak)
	return math.Pow(share, float64(failures)) >= plausible
}

// failingNow reports whether more first attempts than of a callee that is well failed in the present slice or the one
// before.
func (s *State) failingNow() bool {
	return s.Last > well || s.Slice.First >= least && s.Slice.failing() > well
}

// Futile reports whether the given retry (1, 2, …) of a record that failed is known to be futile, and the callee is
// well: it served nine of ten recent first attempts, and also most of those of the present slice and the one before, so
// that no record is given up when an outage begins. Do not ask for a record whose failure was cheap: its retries hold
// nothing, and they may be rejected only because first attempts take every place that falls free, as in a Map.
func (s *State) Futile(retry int) bool {
	if share, known := s.failing(); !known || share > fine || retry < 1 || s.failingNow() {
		return false
	}
	i := min(retry, Stages) - 1
	return decide.Share{Of: s.Retried[i], Have: s.Recovered[i]}.High() < futile
}
