package queue

// Interval is the time for which a queue remembers deduplication IDs and receive attempts, in milliseconds.
const Interval = 5 * 60 * 1000

// recent remembers values for Interval after they were added.
type recent[V any] struct {
	values map[string]timed[V]
	keys   []timed[string] // in order of addition
}

type timed[V any] struct {
	value V
	at    int64
}

func (r *recent[V]) put(now int64, key string, value V) {
	if r.values == nil {
		r.values = map[string]timed[V]{}
	}
	r.values[key] = timed[V]{value, now}
	r.keys = append(r.keys, timed[string]{key, now})
}

func (r *recent[V]) get(now int64, key string) (V, bool) {
	v, ok := r.values[key]
	return v.value, ok && now < v.at+Interval
}

// expire removes the values that are older than Interval, and returns their keys.
func (r *recent[V]) expire(now int64) (gone []string) {
	n := 0
	for n < len(r.keys) && r.keys[n].at+Interval <= now {
		k := r.keys[n]
		if r.values[k.value].at == k.at { // it has not been added again
			delete(r.values, k.value)
			gone = append(gone, k.value)
		}
		n++
	}
	r.keys = r.keys[n:]
	if len(r.keys) == 0 {
		r.keys = nil
	}
	return gone
}
