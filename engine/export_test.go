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

// OnEvaluating sets a function that is called from time to time while an expression is evaluated.
func OnEvaluating(e *Engine, f func(arn string)) { e.evaluating = f }

// Stopping reports whether Close has begun.
func Stopping(e *Engine) bool { return e.stopping.Load() }

// Ending reports whether a signal that ends the execution is queued.
func Ending(e *Engine, arn string) bool {
	r := e.running(arn)
	return r == nil || r.ending.Load()
}

// InMemory returns the executions whose runs are in memory.
func InMemory(e *Engine) (arns []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for arn := range e.runs {
		arns = append(arns, arn)
	}
	return arns
}
