package logstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const segmentSuffix = ".log"

// Event is a log event. Times are in milliseconds since 1970.
type Event struct {
	Time      int64
	Ingestion int64 // when it was received
	Message   string
	// Stream is the name of the event's stream. Number orders those events of a stream that have the same time, by
	// arrival.
	Stream string
	Number int64
}

// segment is a file with events of one stream: a header that names the stream, then one event per line.
type segment struct {
	path        string
	number      int
	bytes       int64
	events      int64  // the number of events
	first, last int64  // event times
	sum         uint32 // checksum of the file's first bytes, which are written
	damaged     error  // why its events cannot be read; nil if they can
}

// header is the first line of a segment.
type header struct {
	Stream  string `json:"stream"`
	Created int64  `json:"created"`
}

func (st *stream) header() ([]byte, error) {
	text, err := json.Marshal(header{st.Name, st.Created})
	return append(text, '\n'), err
}

// appendEvent appends the line of an event: its times, then its message as a JSON string.
func appendEvent(dst []byte, e *Event) ([]byte, error) {
	message, err := json.Marshal(e.Message)
	if err != nil {
		return dst, err
	}
	dst = append(strconv.AppendInt(dst, e.Time, 10), ' ')
	dst = append(strconv.AppendInt(dst, e.Ingestion, 10), ' ')
	return append(append(dst, message...), '\n'), nil
}

var errLine = errors.New("logs: a line is not an event")

func parseEvent(line []byte) (e Event, err error) {
	const parts = 3
	fields := bytes.SplitN(line, []byte(" "), parts)
	if len(fields) != parts {
		return e, errLine
	}
	e.Time, err = strconv.ParseInt(string(fields[0]), 10, 64)
	if err == nil {
		e.Ingestion, err = strconv.ParseInt(string(fields[1]), 10, 64)
	}
	if err == nil {
		err = json.Unmarshal(fields[2], &e.Message)
	}
	return e, err
}

// scan calls each for the events of a segment with the given content. It ignores an incomplete line left by a crash.
func scan(path string, text []byte, each func(line int64, e Event)) (h header, err error) {
	first, rest, whole := bytes.Cut(text, []byte{'\n'})
	err = io.ErrUnexpectedEOF
	if whole {
		err = json.Unmarshal(first, &h)
	}
	if err != nil {
		return h, fmt.Errorf("logs: %s does not begin with the name of a stream: %w", path, err)
	}
	for line := int64(1); ; line++ {
		text, rest, whole = bytes.Cut(rest, []byte{'\n'})
		if !whole {
			return h, nil
		}
		if e, err := parseEvent(text); err == nil {
			each(line, e)
		}
	}
}
