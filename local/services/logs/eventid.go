package logs

import (
	"fmt"
	"hash/fnv"
	"io"
	"regexp"

	"stepback/local/services/logs/logstore"
)

// idLength is how many digits the ID of an event has.
const idLength = 56

var eventID = regexp.MustCompile(`^\d{56}$`)

// idOf is the ID of an event: IDs sort as the events of a stream do.
func idOf(e *logstore.Event) string {
	h := fnv.New32a()
	_, _ = io.WriteString(h, e.Stream) // cannot fail
	return fmt.Sprintf("%020d%019d%017d", e.Time, e.Number, h.Sum32())
}
