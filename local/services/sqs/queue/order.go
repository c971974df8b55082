package queue

// order is a heap of elements. Each element stores its own position in the heap, so that it can be removed.
type order[T any] struct {
	list   []T
	before func(a, b T) bool
	// returns the pointer to an element's position, counted from 1; 0 means that it is not in the heap
	place func(T) *int
}

func (o *order[T]) first() (T, bool) {
	if len(o.list) == 0 {
		var none T
		return none, false
	}
	return o.list[0], true
}

func (o *order[T]) push(x T) {
	o.list = append(o.list, x)
	*o.place(x) = len(o.list)
	o.up(len(o.list) - 1)
}

// remove removes an element, if it is in the heap.
func (o *order[T]) remove(x T) {
	i := *o.place(x) - 1
	if i < 0 {
		return
	}
	last := len(o.list) - 1
	o.swap(i, last)
	var none T
	o.list[last] = none
	o.list = o.list[:last]
	*o.place(x) = 0
	if i < last {
		o.down(i)
		o.up(i)
	}
}

func (o *order[T]) swap(i, j int) {
	o.list[i], o.list[j] = o.list[j], o.list[i]
	*o.place(o.list[i]), *o.place(o.list[j]) = i+1, j+1
}

func (o *order[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !o.before(o.list[i], o.list[parent]) {
			return
		}
		o.swap(i, parent)
		i = parent
	}
}

func (o *order[T]) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(o.list) {
			return
		}
		if child+1 < len(o.list) && o.before(o.list[child+1], o.list[child]) {
			child++
		}
		if !o.before(o.list[child], o.list[i]) {
			return
		}
		o.swap(i, child)
		i = child
	}
}
