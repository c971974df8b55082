package events

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"stepback/aws"
	"stepback/jsonvalue"
)

// event is an event being delivered to rules.
type event struct {
	id       string
	value    jsonvalue.Value // in the shape in which targets receive it
	json     string          // filled in by the first call of text
	ingested time.Time
	trace    string
	// forwarded is true if the event came from another bus. It is not forwarded to a third one.
	forwarded bool
	// replayed is true if the event comes from an archive; the archive does not store it again. occasion is the
	// name of the replay. It becomes part of all names derived from the event, so that a replayed event is not
	// taken for the original.
	replayed bool
	occasion string
}

// name returns a name that is unique to the event. A replayed event has another name than the original.
func (e *event) name() string {
	if e.occasion == "" {
		return e.id
	}
	return nameOf(e.id + "\x00" + e.occasion)
}

// text returns the event as JSON.
func (e *event) text() string {
	if e.json == "" {
		e.json = e.value.JSON()
	}
	return e.json
}

// eventTime is the time format used in events.
const eventTime = "2006-01-02T15:04:05Z"

// newEvent returns an event with a new ID.
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

// nameOf returns a UUID derived from text; equal texts give equal UUIDs.
func nameOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return aws.UUID(binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:]))
}
