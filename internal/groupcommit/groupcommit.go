// Package groupcommit collects work that several goroutines submit at about the same time, so that one commit serves
// all of it. It never waits for work that no goroutine is about to submit.
package groupcommit

import "runtime"

// patience is the number of consecutive yields without new work after which a group is complete.
const patience = 2

// Await yields to goroutines that are ready to run until they submit nothing more. grew reports whether work has
// arrived since its last call.
func Await(grew func() bool) {
	for quiet := 0; quiet < patience; quiet++ {
		runtime.Gosched()
		if grew() {
			quiet = -1
		}
	}
}

// Gather appends the work that is waiting in queue to a group, and the work that goroutines submit while Gather yields
// to them, until full reports that the group takes no more.
func Gather[T any](group []T, queue <-chan T, full func(group []T) bool) []T {
	Await(func() bool {
		before := len(group)
		group = Collect(group, queue, full)
		return len(group) > before && !full(group)
	})
	return group
}

// Collect appends the work that is waiting in queue to a group, until full reports that the group takes no more.
func Collect[T any](group []T, queue <-chan T, full func(group []T) bool) []T {
	for !full(group) {
		select {
		case w := <-queue:
			group = append(group, w)
		default:
			return group
		}
	}
	return group
}
