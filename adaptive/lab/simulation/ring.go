package simulation

// ring is a double-ended queue in a circular buffer that grows by doubling.
type ring[T any] struct {
	buffer      []T
	first, size int
}

func (r *ring[T]) push(v T) {
	if r.size == len(r.buffer) {
		grown := make([]T, max(16, 2*len(r.buffer)))
		for i := range r.size {
			grown[i] = r.buffer[(r.first+i)&(len(r.buffer)-1)]
		}
		r.buffer, r.first = grown, 0
	}
	r.buffer[(r.first+r.size)&(len(r.buffer)-1)] = v
	r.size++
}

// front returns the oldest element, which must exist.
func (r *ring[T]) front() *T { return &r.buffer[r.first] }

func (r *ring[T]) popFront() T {
	v := r.buffer[r.first]
	r.first = (r.first + 1) & (len(r.buffer) - 1)
	r.size--
	return v
}

func (r *ring[T]) popBack() T {
	r.size--
	return r.buffer[(r.first+r.size)&(len(r.buffer)-1)]
}
