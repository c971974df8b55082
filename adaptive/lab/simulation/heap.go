package simulation

// kind is the kind of an event.
type kind uint32

const (
	serviceEnd   kind = iota // ref: a request
	fastFailure              // ref: a request that never reached its service
	retryDue                 // ref: a record
	edge                     // ref: a fault whose window starts or ends
	mapStart                 // ref: a workload
	drainStart               // arrivals end
	periodEnd                // a period of the metrics ends and the controller decides
	loadMeasured             // ref: a pool whose autoscaler ends a period
	scaled                   // ref: a pool whose number of servers changes
	descends                 // ref: a request that calls the next service again
	redriveStep              // a step ends after which a redrive may start
	redriveDue               // the next dead letter may begin
)

// event is an entry of the event heap. It has 16 bytes and is stored by value. order is the event's number: of two
// events at one time, the one scheduled first is executed first. The number may wrap.
type event struct {
	at    int64
	order uint32
	ref   uint32 // kind in the upper 4 bits
}

const refBits = 28

func (e event) kind() kind     { return kind(e.ref >> refBits) }
func (e event) target() uint32 { return e.ref & (1<<refBits - 1) }

func (e event) before(f event) bool {
	return e.at < f.at || e.at == f.at && int32(e.order-f.order) < 0
}

// eventHeap is a heap with four children per node: half as deep as a binary one, with the children in one cache line.
type eventHeap struct {
	events []event
	order  uint32
}

func (h *eventHeap) push(at int64, k kind, target uint32) {
	h.order++
	e := event{at, h.order, uint32(k)<<refBits | target}
	h.events = append(h.events, e)
	i := len(h.events) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(h.events[parent]) {
			break
		}
		h.events[i] = h.events[parent]
		i = parent
	}
	h.events[i] = e
}

// pop removes and returns the earliest event; the heap must not be empty.
func (h *eventHeap) pop() event {
	top := h.events[0]
	n := len(h.events) - 1
	last := h.events[n]
	h.events = h.events[:n]
	i := 0
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, n); c++ {
			if h.events[c].before(h.events[least]) {
				least = c
			}
		}
		if !h.events[least].before(last) {
			break
		}
		h.events[i] = h.events[least]
		i = least
	}
	if n > 0 {
		h.events[i] = last
	}
	return top
}
