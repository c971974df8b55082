package poison

import (
	"math"
	"time"

	"stepback/adaptive/breaker"
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
	// Records are given up while at most the share fine of the recent first attempts failed, and at most the share well
	// of those in the present slice and the one before.
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
	// A record is to blame if retries like its own succeed less than half as often as first attempts do at the same
	// time, by the upper bound of the 95 % interval. That takes four retries if none succeeds. It is not to blame if
	// the share many of the first attempts fails: a part of the callee is down, and its records will recover with it.
	toBlame, many = 0.5, 0.4
)

// futile is the chance of success, compared with that of first attempts, below which a retry is futile, by the upper
// bound of the 95 % interval. After an error this takes 22 retries if none succeeds. Timeouts take 45, because those of
// ordinary records are often among them.
var futile = [Kinds]float64{Answered: 0.15, TimedOut: 0.08}

// Kind is a kind of failure. Retries after different kinds of failures have different chances: a call that timed out
// may be an ordinary one that met a slow callee.
type Kind uint8

// The kinds of failures: an error with which the callee answers, and a timeout.
const (
	Answered Kind = iota
	TimedOut
	Kinds
)

// KindOf returns the kind of a failure.
func KindOf(o breaker.Outcome) Kind {
	if o == breaker.TimedOut {
		return TimedOut
	}
	return Answered
}

// Attempt describes a call that ended.
type Attempt struct {
	// Retry is the number of the record's calls before, which all failed: 0 for a first attempt, 1 for the first retry.
	// A negative one is unknown. Refused calls are no attempts.
	Retry int
	// After is the kind of the failure before a retry.
	After Kind
	// Failed is true if the call failed. Cheap is true if it took less time than a success.
	Failed, Cheap bool
}

// Counts adds up how first attempts and retries ended. Only successes and load errors count.
type Counts struct {
	// Ended is the number of calls that ended, and Failed the number of those that failed, whatever is known of them.
	Ended, Failed int64
	// First is the number of first attempts that ended, FirstFailed the number of those that failed.
	First, FirstFailed int64
	// Retried is the number of retries that ended, and Recovered the number of those that succeeded, by the kind of the
	// failure before and the number of the retry: 1, 2, and 3 or more.
	Retried, Recovered [Kinds][Stages]int64
}

// Plus returns the sum of two counts.
func (c Counts) Plus(o Counts) Counts {
	c.Ended += o.Ended
	c.Failed += o.Failed
	c.First += o.First
	c.FirstFailed += o.FirstFailed
	for k := range Kinds {
		for i := range Stages {
			c.Retried[k][i] += o.Retried[k][i]
			c.Recovered[k][i] += o.Recovered[k][i]
		}
	}
	return c
}

// Negative returns −c. Adding it to a count subtracts c.
func (c Counts) Negative() Counts {
	c.Ended, c.Failed, c.First, c.FirstFailed = -c.Ended, -c.Failed, -c.First, -c.FirstFailed
	for k := range Kinds {
		for i := range Stages {
			c.Retried[k][i], c.Recovered[k][i] = -c.Retried[k][i], -c.Recovered[k][i]
		}
	}
	return c
}

// Add counts one call of a record whose earlier calls all failed. A failure is cheap if it took less time than a
// success: a rejection or an error that comes at once. A retry with a cheap failure is not counted as a retry.
func (c *Counts) Add(a Attempt) {
	c.Ended++
	if a.Failed {
		c.Failed++
	}
	switch {
	case a.Retry < 0, a.Retry > 0 && a.Failed && a.Cheap:
	case a.Retry == 0:
		c.First++
		if a.Failed {
			c.FirstFailed++
		}
	default:
		i := stage(a.Retry)
		c.Retried[a.After][i]++
		if !a.Failed {
			c.Recovered[a.After][i]++
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
	// Retried and Recovered count retries by the kind of the failure before. A retry counts in Retried with the share
	// of the first attempts that succeeded at the same time, and in Recovered with 1 if it succeeded. They grow alike
	// if retries succeed as often as first attempts do, whatever the load.
	Retried   [Kinds][Stages]float64 `json:"retriedAfter"`
	Recovered [Kinds][Stages]float64 `json:"recoveredAfter"`
}

// Record counts a call that ended now; see [Counts.Add].
func (s *State) Record(a Attempt, now time.Time) {
	var c Counts
	c.Add(a)
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
	if s.Slice.First > 0 {
		s.retried(1 - s.Last)
	}
	s.Slice, s.Began = Counts{}, at
}

// retried adds the retries of the slice, in which the given share of the first attempts succeeded.
func (s *State) retried(succeeded float64) {
	for k := range Kinds {
		for i := range Stages {
			of, have := &s.Retried[k][i], &s.Recovered[k][i]
			*of += succeeded * float64(s.Slice.Retried[k][i])
			*have += float64(s.Slice.Recovered[k][i])
			if *of > most {
				*of, *have = *of/2, *have/2
			}
		}
	}
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
// ten minutes, because records wait for as long, and have no retry left when they come back. It is to blame if records
// that failed as often, the last time in the same way, do not recover while most first attempts succeed: they would
// keep the callee busy that they make ill.
func (s *State) Blameless(failures int, last Kind) bool {
	failing, _ := s.failing()
	if failures > 0 && failing < many {
		i := stage(failures)
		if chance(s.Retried[last][i], s.Recovered[last][i]) < toBlame {
			return false
		}
	}
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

// stage returns the index of the stage of a retry: 1, 2, ….
func stage(retry int) int { return min(retry, Stages) - 1 }

// chance returns the upper bound of the chance that a retry succeeds, compared with first attempts; 1 if nothing is
// known.
func chance(of, recovered float64) float64 {
	return decide.Share{Of: of, Have: min(recovered, of)}.High()
}

// Futile reports whether the given retry (1, 2, …) of a record is known to be futile, and the callee is well: it served
// nine of ten recent first attempts, and also most of those of the present slice and the one before, so that no record
// is given up when an outage begins. after is the kind of the record's last failure. Earlier retries count too: a
// record that failed more often is no more likely to recover. Do not ask for a record whose failure was cheap: its
// retries hold nothing, and they may be rejected only because first attempts take every place that falls free, as in a
// Map.
func (s *State) Futile(retry int, after Kind) bool {
	if share, known := s.failing(); !known || share > fine || retry < 1 || s.failingNow() {
		return false
	}
	last := stage(retry)
	of, recovered := 0.0, 0.0
	for i := range last + 1 {
		of += s.Retried[after][i]
		recovered += s.Recovered[after][i]
	}
	return min(chance(s.Retried[after][last], s.Recovered[after][last]), chance(of, recovered)) < futile[after]
}
