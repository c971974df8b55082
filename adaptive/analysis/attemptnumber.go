package analysis

import (
	"math"

	"stepback/adaptive/controller/decide"
)

// failures describes the failed attempts of a task before a retry: the last error, and whether another one came before.
// A task whose errors differ may be one that never succeeds, so its retries are counted apart.
type failures struct {
	last  string
	mixed bool
}

// then returns the failures after one more failed attempt.
func (f failures) then(name string) failures {
	return failures{last: name, mixed: f.mixed || f.last != "" && f.last != name}
}

// retryKey identifies retries that are alike: by the number of the attempt, from 2 on, and by the failures before it.
type retryKey struct {
	number int
	failures
}

// outcomes counts attempts and their successes.
type outcomes struct{ calls, succeeded int }

// retries holds what a callee's record says about retries.
type retries struct {
	// highest is the highest number of an attempt on record, by the failures before it.
	highest map[failures]int
	// next counts the errors of failed retries, by the failures before them.
	next    map[failures]map[string]int
	effects map[retryKey]numberEffect // fitted so far
}

// retried counts a retry whose outcome is known.
func (x *callee) retried(s *second, a *Attempt, k retryKey) {
	if x.retries.highest == nil {
		x.retries.highest, x.retries.next = map[failures]int{}, map[failures]map[string]int{}
	}
	if s.retries == nil {
		s.retries = map[retryKey]outcomes{}
	}
	o := s.retries[k]
	o.calls++
	if !a.failed() {
		o.succeeded++
	} else {
		if x.retries.next[k.failures] == nil {
			x.retries.next[k.failures] = map[string]int{}
		}
		x.retries.next[k.failures][a.Error]++
	}
	s.retries[k] = o
	x.retries.highest[k.failures] = max(x.retries.highest[k.failures], k.number)
}

// numberEffect compares retries that are alike with the other attempts of their time: the difference of their log odds
// of success. Tasks that need a third attempt are not like those that succeed at the first: some of them rarely
// succeed.
type numberEffect struct {
	// low and high bound the effect with 95 % confidence.
	low, high float64
}

// effectOf returns the effect of retries that are alike.
func (x *callee) effectOf(k retryKey) numberEffect {
	x.sorted() // drops effects that are out of date
	if x.retries.effects == nil {
		x.retries.effects = map[retryKey]numberEffect{}
	}
	e, known := x.retries.effects[k]
	if !known {
		e = x.fitEffect(k)
		x.retries.effects[k] = e
	}
	return e
}

// observed returns the highest number of an attempt on record that follows such failures; 0 if there is none.
func (x *callee) observed(before failures) int { return x.retries.highest[before] }

// fitEffect compares the successes of retries that are alike with what the attempts around them lead to expect.
func (x *callee) fitEffect(k retryKey) numberEffect {
	type expected struct{ odds, calls float64 }
	var (
		all []expected
		sum outcomes
	)
	for _, at := range x.sorted() {
		n := x.seconds[at].retries[k]
		if n.calls == 0 {
			continue
		}
		all = append(all, expected{logOdds(x.neighbourhood(at)), float64(n.calls)})
		sum.calls += n.calls
		sum.succeeded += n.succeeded
	}
	if sum.calls == 0 {
		return numberEffect{}
	}
	calls := float64(sum.calls)
	// shift returns the effect with which a share of the attempts is expected to succeed.
	shift := func(share float64) float64 {
		low, high := -20.0, 20.0
		for range 50 {
			middle, got := (low+high)/2, 0.0
			for _, e := range all {
				got += e.calls * chance(e.odds+middle)
			}
			if got < share*calls {
				low = middle
			} else {
				high = middle
			}
		}
		return (low + high) / 2
	}
	low, high := decide.Share{Of: calls, Have: float64(sum.succeeded)}.Interval()
	return numberEffect{shift(low), shift(high)}
}

// logOdds returns the log odds of success around a time, with half an attempt of each outcome added, so that they are
// finite.
func logOdds(near second) float64 {
	done := float64(near.succeeded)
	return math.Log((done + 0.5) / (float64(near.calls) - done + 0.5))
}

// chance returns the probability of the given log odds.
func chance(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }
