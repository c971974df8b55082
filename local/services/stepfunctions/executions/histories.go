package executions

import (
	"slices"
	"sync"

	"stepback/engine/history"
)

// maxHistories is the maximum size of the cached histories in bytes.
const maxHistories = 64 << 20

// histories caches the histories that clients are paging through, so that a page does not require reading the whole
// history again. It only contains histories of executions that have ended.
type histories struct {
	mu   sync.Mutex
	kept []keptHistory // oldest first
	size int           // total size
}

type keptHistory struct {
	of     string
	events []history.Event
	size   int
}

// keep caches a history and evicts older ones if needed.
func (h *histories) keep(of string, events []history.Event) {
	const overhead = 128 // of an event in addition to its data
	size := 0
	for i := range events {
		size += overhead + len(events[i].Data)
	}
	h.forget(of)
	if size > maxHistories {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.size+size > maxHistories {
		h.drop(0)
	}
	h.kept, h.size = append(h.kept, keptHistory{of, events, size}), h.size+size
}

// get returns a cached history, or nil.
func (h *histories) get(of string) []history.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := h.index(of); i >= 0 {
		return h.kept[i].events
	}
	return nil
}

// forget removes a history whose last page has been read.
func (h *histories) forget(of string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := h.index(of); i >= 0 {
		h.drop(i)
	}
}

func (h *histories) index(of string) int {
	return slices.IndexFunc(h.kept, func(k keptHistory) bool { return k.of == of })
}

func (h *histories) drop(i int) {
	h.size -= h.kept[i].size
	h.kept = slices.Delete(h.kept, i, i+1)
}
