package local

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"stepback/internal/objectevent"
	"stepback/tasks/lambda/invocation"
)

// listeners holds the functions that are notified of new objects. For each bucket only the latest one is called.
type listeners struct {
	mu   sync.Mutex
	next int
	of   map[string][]listener // by bucket
}

type listener struct {
	number int
	tell   func(objectevent.Event)
}

// OnObjectCreated makes the platform call tell for every object put into a bucket, before the put request returns,
// until stop is called. Until then the bucket's earlier listener is not called. tell is called from many
// goroutines.
func (p *Platform) OnObjectCreated(bucket string, tell func(objectevent.Event)) (stop func()) {
	l := &p.listeners
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[string][]listener{}
	}
	l.next++
	n := l.next
	l.of[bucket] = append(l.of[bucket], listener{n, tell})
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.of[bucket] = slices.DeleteFunc(l.of[bucket], func(o listener) bool { return o.number == n })
	}
}

// objectCreated notifies the bucket's listener.
func (p *Platform) objectCreated(e objectevent.Event) {
	l := &p.listeners
	l.mu.Lock()
	all := l.of[e.Detail.Bucket.Name]
	l.mu.Unlock()
	if len(all) > 0 {
		all[len(all)-1].tell(e)
	}
	if function, ok := p.cfg.ObjectCreated[e.Detail.Bucket.Name]; ok {
		p.invokeOnCreated(function, e)
	}
}

// invokeOnCreated passes the event of a new object to a function, with Lambda's retries for asynchronous events.
func (p *Platform) invokeOnCreated(function string, e objectevent.Event) {
	payload, err := json.Marshal(e)
	if err == nil {
		_, err = p.Functions.Invoke(context.Background(), p.Scope, &invocation.Request{FunctionName: function,
			Payload: payload, Type: invocation.Event})
	}
	if err != nil {
		p.cfg.Log.Error("the event of a new object was not delivered", "bucket", e.Detail.Bucket.Name,
			"key", e.Detail.Object.Key, "function", function, "error", err.Error())
	}
}
