package engine

import "sync"

// queue hands runs with pending signals to the workers, in order. It is unbounded, because delivering a signal must
// never block on a worker.
type queue struct {
	mu      sync.Mutex
	ready   sync.Cond
	runs    []*run
	head    int
	stopped bool
	workers sync.WaitGroup
}

func (q *queue) start(workers int, work func(*run)) {
	q.ready.L = &q.mu
	for range workers {
		q.workers.Add(1)
		go func() {
			defer q.workers.Done()
			for {
				r := q.take()
				if r == nil {
					return
				}
				work(r)
			}
		}()
	}
}

func (q *queue) put(r *run) {
	q.mu.Lock()
	q.runs = append(q.runs, r)
	q.mu.Unlock()
	q.ready.Signal()
}

// take waits for a run; it returns nil once the queue has been stopped.
func (q *queue) take() *run {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.head == len(q.runs) && !q.stopped {
		q.ready.Wait()
	}
	if q.stopped {
		return nil
	}
	r := q.runs[q.head]
	q.runs[q.head] = nil
	q.head++
	if q.head == len(q.runs) {
		q.runs, q.head = q.runs[:0], 0
	} else if q.head > 1024 && q.head > len(q.runs)/2 {
		left := copy(q.runs, q.runs[q.head:])
		clear(q.runs[left:]) // otherwise ended runs would be retained with all their payloads
		q.runs, q.head = q.runs[:left], 0
	}
	return r
}

// stop ends the workers and waits for them. Runs still in the queue are not processed.
func (q *queue) stop() {
	q.mu.Lock()
	q.stopped = true
	q.mu.Unlock()
	q.ready.Broadcast()
	q.workers.Wait()
}
