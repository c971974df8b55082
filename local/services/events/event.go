package events

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"stepback/aws"
	"stepback/jsonvalue"
)

// event is an event on its way to rules.
type event struct {
	id       string
	value    jsonvalue.Value // in the shape in which targets get it
	json     string          // made when it is first asked for
	ingested time.Time
	trace    string
	// forwarded says that the event came from another bus. It is not sent on to a third one.
	forwarded bool
	// replayed says that the event comes from an archive, which does not keep it again. occasion is the name of the
	// replay: what is named after the event is named after that, too, since it happens once more.
	replayed bool
	occasion string
}

// name is what tells the event apart from others, and from itself when it is replayed.
func (e *event) name() string {
	if e.occasion == "" {
		return e.id
	}
	return nameOf(e.id + "\x00" + e.occasion)
}

// text is the event's JSON text.
func (e *event) text() string {
	if e.json == "" {
		e.json = e.value.JSON()
	}
	return e.json
}

// eventTime is how events write times.
const eventTime = "2006-01-02T15:04:05Z"

// newEvent puts an event together.
func newEvent(scope aws.Scope, source, detailType string, at time.Time, resources []string, detail jsonvalue.Value) *event {
	e := &event{id: aws.NewID()}
	list := make([]jsonvalue.Value, len(resources))
	for i, r := range resources {
		list[i] = jsonvalue.OfString(r)
	}
	b := jsonvalue.NewObject(9)
	b.Set("version", jsonvalue.OfString("0"))
	b.Set("id", jsonvalue.OfString(e.id))
	b.Set("detail-type", jsonvalue.OfString(detailType))
	b.Set("source", jsonvalue.OfString(source))
	b.Set("account", jsonvalue.OfString(scope.Account))
	b.Set("time", jsonvalue.OfString(at.UTC().Format(eventTime)))
	b.Set("region", jsonvalue.OfString(scope.Region))
	b.Set("resources", jsonvalue.OfArray(list))
	b.Set("detail", detail)
	e.value = b.Value()
	return e
}

// nameOf is a UUID that is always the same for the same text.
func nameOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return aws.UUID(binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:]))
}
