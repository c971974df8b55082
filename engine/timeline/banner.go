package timeline

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"stepback/asl"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/retry"
)

// Now describes what a running execution is doing, or is waiting for, in one of its states.
type Now struct {
	State string `json:"state"`
	// Visit is the number of the state's visit.
	Visit   int     `json:"visit"`
	Outcome Outcome `json:"outcome"` // Running or Waiting
	// Since is when the running attempt or the waiting started.
	Since time.Time `json:"since"`
	// Attempt is the number, from 1, of the running attempt or of the one that failed last, since the last redrive of
	// the execution. Attempts is the maximum number of attempts under the retrier that handles the last error; 0 if it
	// is unknown or there is no retrier.
	Attempt  int   `json:"attempt"`
	Attempts int64 `json:"attempts,omitempty"`
	// Failure is the failure of the last attempt; zero if none failed.
	Failure history.Failure `json:"failure,omitzero"`
	// Next is when a waiting state continues. If that is not known, Earliest and Latest are the limits that the
	// retrier sets.
	Next     time.Time `json:"next,omitzero"`
	Earliest time.Time `json:"earliest,omitzero"`
	Latest   time.Time `json:"latest,omitzero"`
	// GivesUp is the latest time at which the last attempt fails if this error persists; zero if it is unknown, for
	// example because an attempt may take any time.
	GivesUp time.Time `json:"givesUp,omitzero"`
	// Policy describes the retrier's waits: "waits start at 1s and double, at most 1m, full jitter".
	Policy string `json:"policy,omitempty"`
	// Pending is the ID with which the engine can be asked to retry now; 0 if there is none.
	Pending int64 `json:"pendingId,omitempty"`
	// Token is true if a task token ends it.
	Token bool `json:"token,omitempty"`
	// Operation, Type and CallbackID are those of the operation of a durable function; empty for states. With the Type
	// EXECUTION, the function waits to be invoked again because the latest invocation failed; Visit is then -1.
	Operation  string `json:"operationId,omitempty"`
	Type       string `json:"type,omitempty"`
	CallbackID string `json:"callbackId,omitempty"`
	MapRunARN  string `json:"mapRunArn,omitempty"`
}

// Now returns what the execution is doing now: first the states that wait for a retry, then other waits and running
// work, each oldest first. The retriers are taken from m, which may be nil; pending lists what the engine knows the
// execution to be waiting for, and may be empty. The result is empty if the execution has ended.
func (t *Timeline) Now(m *asl.Machine, pending []history.Pending) []Now {
	if t.Status != history.Running {
		return nil
	}
	known := make(map[int64]*history.Pending, len(pending))
	for i := range pending {
		known[pending[i].Entered] = &pending[i]
	}
	var retrying, others []Now
	for _, v := range t.Visits {
		if v.over || v.fan && v.MapRunARN == "" && v.Outcome == Running && known[v.Entry] == nil {
			continue // what is inside it is reported instead
		}
		n := t.now(v, m, known[v.Entry])
		if v.Type == durable.TypeContext {
			continue // what is inside it is reported instead
		}
		if n.Outcome == Waiting && !v.Passive() {
			retrying = append(retrying, n)
		} else {
			others = append(others, n)
		}
	}
	return append(retrying, others...)
}

func (t *Timeline) now(v *Visit, m *asl.Machine, p *history.Pending) Now {
	n := Now{State: v.State, Visit: v.Number, Outcome: v.Outcome, Since: v.Entered, Failure: v.Failure,
		Token: v.Token, MapRunARN: v.MapRunARN, Operation: v.Operation, Next: v.Next, CallbackID: v.CallbackID}
	if v.Operation != "" {
		n.Type, n.GivesUp = v.Type, t.TimesOut
	}
	if a := v.last(); a != nil {
		current, _ := v.SinceRedrive()
		n.Attempt, n.Since = len(current), a.Scheduled
		if v.Outcome == Waiting {
			n.Since = a.Ended
		}
	}
	if p != nil {
		switch p.Kind {
		case history.PendingRetry:
			n.Outcome, n.Next, n.Pending = Waiting, p.At, p.ID
			if a := v.last(); a != nil && a.Ended.IsZero() { // of branches or iterations: their failure is not an event
				n.Since = t.End
			}
		case history.PendingWait:
			n.Next = p.At
		case history.PendingTask, history.PendingMapRun:
		}
	}
	s := State(m, v.State)
	if s == nil || v.Failure.IsZero() {
		return n
	}
	i, ok := Retrier(s.Retry, v.Failure.Name)
	if !ok {
		return n
	}
	n.retries(v, s, i, p)
	return n
}

// retries sets how many attempts the retrier allows and the latest time at which it gives up.
func (n *Now) retries(v *Visit, s *asl.State, retrier int, p *history.Pending) {
	policy := policyOf(s.Retry[retrier])
	n.Policy = describe(policy)
	used := v.retriesByRetrier(s.Retry)
	if p != nil && retrier < len(p.Retrier) {
		used[retrier] = p.Retrier[retrier]
	}
	n.Attempts = 1
	for i, count := range used { // attempts after other retriers' errors come in addition
		if i == retrier {
			count = int64(policy.MaxAttempts)
		}
		n.Attempts += count
	}
	if n.Outcome != Waiting {
		return
	}
	schedule := policy.Schedule()
	k := int(used[retrier]) - 1
	next := n.Next
	if next.IsZero() && k >= 0 && k < len(schedule.Waits) {
		n.Earliest, n.Latest = n.Since.Add(schedule.Waits[k].Min), n.Since.Add(schedule.Waits[k].Max)
		next = n.Latest
	}
	limit := seconds(s.TimeoutSeconds)
	if next.IsZero() || limit == 0 {
		return
	}
	const horizon = 100 * 365 * 24 * time.Hour
	left := limit
	for k++; k < schedule.Retries && left < horizon; k++ {
		if k >= len(schedule.Waits) {
			return
		}
		left += min(schedule.Waits[k].Max, horizon) + limit
	}
	n.GivesUp = next.Add(left)
}

// retriesByRetrier counts the visit's retries since the last redrive for each element of the Retry array.
func (v *Visit) retriesByRetrier(retry []asl.Retrier) []int64 {
	used := make([]int64, len(retry))
	for i := range v.Attempts {
		a := &v.Attempts[i]
		if a.Redrive != v.last().Redrive || !a.Outcome.Bad() || i == len(v.Attempts)-1 && v.Outcome != Waiting {
			continue
		}
		if r, ok := Retrier(retry, a.Failure.Name); ok {
			used[r]++
		}
	}
	return used
}

// Retrier returns the index of the first retrier that handles an error name. Retriers that only handle
// States.HeartbeatTimeout cannot be recognized, because histories record that error as States.Timeout.
func Retrier(retry []asl.Retrier, name string) (int, bool) {
	for i := range retry {
		for _, n := range retry[i].ErrorEquals {
			if n == name || n == "States.ALL" && name != "States.Runtime" && name != "States.DataLimitExceeded" ||
				n == "States.TaskFailed" && name != "States.Timeout" && name != "States.Runtime" {
				return i, name != "States.Runtime"
			}
		}
	}
	return 0, false
}

func policyOf(r asl.Retrier) retry.Policy {
	p := retry.Policy{Interval: time.Duration(r.IntervalSeconds) * time.Second, Rate: r.BackoffRate,
		MaxDelay: time.Duration(r.MaxDelaySeconds) * time.Second, MaxAttempts: int(r.MaxAttempts)}
	if r.FullJitter {
		p.Jitter = retry.JitterFull
	}
	return p
}

func describe(p retry.Policy) string {
	text := "waits start at " + Short(p.Interval)
	switch p.Rate {
	case 1:
		text = "each wait is " + Short(p.Interval)
	case 2:
		text += " and double"
	default:
		text += fmt.Sprintf(" and grow by × %g", p.Rate)
	}
	if p.MaxDelay > 0 {
		text += ", at most " + Short(p.MaxDelay)
	}
	if p.Jitter == retry.JitterFull {
		text += ", full jitter"
	}
	return text
}

// seconds returns a literal number of seconds; 0 if there is none.
func seconds(s asl.Scalar) time.Duration {
	if s.Literal == nil {
		return 0
	}
	d, err := time.ParseDuration(s.Literal.Text() + "s")
	if err != nil || d < 0 {
		return 0
	}
	return d
}

// State returns the state with a name at any depth of a state machine, or nil if it does not exist or m is nil.
func State(m *asl.Machine, name string) *asl.State {
	if m == nil {
		return nil
	}
	return stateOf(&m.Graph, name)
}

func stateOf(g *asl.Graph, name string) *asl.State {
	for _, s := range g.States {
		if s.Name == name {
			return s
		}
		for _, b := range s.Branches {
			if found := stateOf(b, name); found != nil {
				return found
			}
		}
		if s.Map != nil && s.Map.Processor != nil {
			if found := stateOf(s.Map.Processor, name); found != nil {
				return found
			}
		}
	}
	return nil
}

// Text describes n in one line:
//
//	Charge: attempt 4 of 6 failed with Busy; the next one comes at 02:13:41 (in 38s) and it gives up by 02:19:00
func (n Now) Text(at time.Time) string {
	var b strings.Builder
	b.WriteString(n.State + ": ")
	attempt := ""
	if n.Attempt > 0 {
		attempt = fmt.Sprintf("attempt %d", n.Attempt)
		if n.Attempts > 0 {
			attempt += fmt.Sprintf(" of %d", n.Attempts)
		}
	}
	switch {
	case n.Type == durable.TypeCallback:
		fmt.Fprintf(&b, "waits for its callback since %s", clock(n.Since, at))
		if !n.Next.IsZero() {
			fmt.Fprintf(&b, " and times out at %s (%s)", clock(n.Next, at), within(n.Next.Sub(at)))
		}
	case (n.Type == durable.TypeStep || n.Type == durable.TypeExecution) && n.Outcome == Waiting:
		if n.Failure.IsZero() {
			fmt.Fprintf(&b, "%s at %s asked to be repeated", attempt, clock(n.Since, at))
		} else {
			fmt.Fprintf(&b, "%s failed with %s at %s", attempt, cmp.Or(n.Failure.Name, "an error without a type"), clock(n.Since, at))
		}
		fmt.Fprintf(&b, "; the next attempt is at %s (%s)", clock(n.Next, at), within(n.Next.Sub(at)))
		if !n.GivesUp.IsZero() {
			fmt.Fprintf(&b, ", and the execution times out at %s", clock(n.GivesUp, at))
		}
	case n.Outcome == Waiting && attempt != "":
		fmt.Fprintf(&b, "%s failed with %s", attempt, n.Failure.Name)
		switch {
		case !n.Next.IsZero():
			fmt.Fprintf(&b, "; the next attempt is at %s (%s)", clock(n.Next, at), within(n.Next.Sub(at)))
		case !n.Latest.IsZero() && n.Latest.Equal(n.Earliest):
			fmt.Fprintf(&b, "; the next attempt is at about %s (%s)", clock(n.Latest, at), within(n.Latest.Sub(at)))
		case !n.Latest.IsZero():
			fmt.Fprintf(&b, "; the next attempt is between %s and %s", clock(n.Earliest, at), clock(n.Latest, at))
		}
		if !n.GivesUp.IsZero() {
			fmt.Fprintf(&b, " and it gives up by %s", clock(n.GivesUp, at))
		}
		if n.Policy != "" {
			fmt.Fprintf(&b, " (%s)", n.Policy)
		}
	case n.Outcome == Waiting && !n.Next.IsZero():
		fmt.Fprintf(&b, "waits until %s (%s)", clock(n.Next, at), within(n.Next.Sub(at)))
	case n.Outcome == Waiting:
		fmt.Fprintf(&b, "waits since %s", clock(n.Since, at))
	case n.MapRunARN != "":
		fmt.Fprintf(&b, "its Map Run has been running for %s", Short(at.Sub(n.Since)))
	case n.Token:
		fmt.Fprintf(&b, "has been waiting for its task token for %s", Short(at.Sub(n.Since)))
	case attempt != "":
		fmt.Fprintf(&b, "%s has been running for %s", attempt, Short(at.Sub(n.Since)))
		if !n.Failure.IsZero() {
			fmt.Fprintf(&b, "; the previous one failed with %s", n.Failure.Name)
		}
	default:
		fmt.Fprintf(&b, "has been running for %s", Short(at.Sub(n.Since)))
	}
	return b.String()
}

// clock formats a time of day in UTC, with the date if it is a different day.
func clock(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

func within(d time.Duration) string {
	if d <= 0 {
		return "now"
	}
	return "in " + Short(d)
}

// Short formats a duration with at most two units: 340ms, 3.2s, 4m 10s, 2h 5m, 3d 4h.
func Short(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 0:
		return "-" + Short(-d)
	case d == 0:
		return "0s"
	case d < time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + "s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return two(int(d/time.Minute), "m", int(d%time.Minute/time.Second), "s")
	case d < day:
		return two(int(d/time.Hour), "h", int(d%time.Hour/time.Minute), "m")
	default:
		return two(int(d/day), "d", int(d%day/time.Hour), "h")
	}
}

func two(a int, unit string, b int, lesser string) string {
	if b == 0 {
		return fmt.Sprintf("%d%s", a, unit)
	}
	return fmt.Sprintf("%d%s %d%s", a, unit, b, lesser)
}
