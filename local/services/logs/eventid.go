package logs

import (
	"fmt"
	"hash/fnv"
	"io"

	"stepback/internal/lazyregexp"
	"stepback/local/services/logs/logstore"
)

// idLength is the number of digits of an event ID.
const idLength = 56

var eventID = lazyregexp.New(`^\d{56}$`)

// idOf returns the ID of an event. IDs sort in the order of a stream's events.
func idOf(e *logstore.Event) string {
	h := fnv.New32a()
	_, _ = io.WriteString(h, e.Stream) // cannot fail
	return fmt.Sprintf("%020d%019d%017d", e.Time, e.Number, h.Sum32())
}
