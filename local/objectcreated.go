package local

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"stepback/internal/objectevent"
	"stepback/tasks/lambda/invocation"
)

// listeners are told of new objects: of each bucket the one that came last.
type listeners struct {
	mu   sync.Mutex
	next int
	of   map[string][]listener // by bucket
}

type listener struct {
	number int
	tell   func(objectevent.Event)
}

// OnObjectCreated has the platform call tell for every object that is put into a bucket, before the request that put it
// there is answered, until stop is called. Meanwhile it takes the place of who has listened to the bucket before. It is
// called from many goroutines.
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

// objectCreated tells who listens to the bucket.
func (p *Platform) objectCreated(e objectevent.Event) {
	l := &p.listeners
	l.mu.Lock()
	all := l.of[e.Detail.Bucket.Name]
	l.mu.Unlock()
	if len(all) > 0 {
		all[len(all)-1].tell(e)
	}
	if function, ok := p.cfg.ObjectCreated[e.Detail.Bucket.Name]; ok {
		p.announceTo(function, e)
	}
}

// announceTo hands the event of a new object to a function, which is tried again as Lambda tries events again.
func (p *Platform) announceTo(function string, e objectevent.Event) {
	payload, err := json.Marshal(e)
	if err == nil {
		_, err = p.Functions.Invoke(context.Background(), p.Scope, &invocation.Request{FunctionName: function,
			Payload: payload, Type: invocation.Event})
	}
	if err != nil {
		p.cfg.Log.Error("no function has heard of a new object", "bucket", e.Detail.Bucket.Name,
			"key", e.Detail.Object.Key, "function", function, "error", err.Error())
	}
}
