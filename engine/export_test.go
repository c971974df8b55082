package engine

// Pollers counts the workers that are polling for tasks of an activity.
func Pollers(e *Engine, arn string) int {
	e.activities.mu.Lock()
	defer e.activities.mu.Unlock()
	if q := e.activities.queues[arn]; q != nil {
		return q.pollers.Len()
	}
	return 0
}

// PatienceOf is patienceOf.
var PatienceOf = patienceOf
