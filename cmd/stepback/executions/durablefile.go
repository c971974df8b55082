package executions

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"

	"stepback/cmd/stepback/terminal"
)

// maxHistory is the most bytes of a file with a history: 100 MB of data in an execution, and as much for their events.
const maxHistory = 200 << 20

// DurableHistoryFile returns the events in a file with the history of a durable execution: what
// GetDurableExecutionHistory returns, an array of events, or one event a line. ok is false for other files.
func DurableHistoryFile(path string) (events []json.RawMessage, ok bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxHistory {
		return nil, false
	}
	text, err := terminal.ReadFile(path)
	if err != nil {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		var value json.RawMessage
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			return events, len(events) > 0
		} else if err != nil {
			return nil, false
		}
		var page struct{ Events []json.RawMessage }
		var list []json.RawMessage
		var event struct{ EventType string }
		switch {
		case json.Unmarshal(value, &list) == nil:
			events = append(events, list...)
		case json.Unmarshal(value, &page) == nil && page.Events != nil:
			events = append(events, page.Events...)
		case json.Unmarshal(value, &event) == nil && event.EventType != "":
			events = append(events, value)
		default:
			return nil, false
		}
		if json.Unmarshal(events[0], &event) != nil || event.EventType == "" {
			return nil, false
		}
	}
}
