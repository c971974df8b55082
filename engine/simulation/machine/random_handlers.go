package machine

// errorNames are the names that retriers and catchers of random machines list. Some are never raised, some match many
// errors.
var errorNames = []string{"Boom", "Throttled", "Odd", "States.Timeout", "States.TaskFailed", "States.HeartbeatTimeout",
	"Never", "States.Runtime"}

// handlers draws Retry and Catch. A list with States.ALL comes last and names nothing else, as the language demands.
func (d *draw) handlers(st *State, s *Scope) {
	for range d.n(4) {
		st.Retry = append(st.Retry, d.retrier(d.errorEquals()))
	}
	if d.one(4) {
		st.Retry = append(st.Retry, d.retrier([]string{"States.ALL"}))
	}
	for range d.n(3) {
		st.Catch = append(st.Catch, d.catcher(d.errorEquals(), s))
	}
	if d.one(4) {
		st.Catch = append(st.Catch, d.catcher([]string{"States.ALL"}, s))
	}
}

func (d *draw) errorEquals() []string {
	names := []string{pick(d, errorNames...)}
	for d.one(3) {
		names = append(names, pick(d, errorNames...))
	}
	return names
}

func (d *draw) retrier(names []string) Retrier {
	r := Retrier{
		ErrorEquals: names, IntervalSeconds: pick(d, 1, 2, 5, 60), MaxAttempts: pick(d, 3, 0, 1, 2, 5),
		BackoffRate: pick(d, 2, 1, 1.5, 3.7, 30), FullJitter: d.one(3),
	}
	if d.one(3) {
		r.MaxDelaySeconds = r.IntervalSeconds + 1 + d.n(10)
	}
	return r
}

func (d *draw) catcher(names []string, s *Scope) Catcher {
	return Catcher{ErrorEquals: names, Next: s.States[d.n(len(s.States))].Name, Discard: d.one(3)}
}
