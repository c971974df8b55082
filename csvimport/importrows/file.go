package importrows

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"stepback/csvimport"
	"stepback/csvimport/csvfile"
	"stepback/outbox/deadletters"
	"stepback/retry"
)

// The headers of a row's letter.
const (
	headerBucket = "Bucket"
	headerLine   = "Line"
	headerChild  = "Child-Execution"
)

func bucketOf(it *deadletters.Item) string { return it.Found.Headers[headerBucket] }

// readRecord parses a record from a payload. Counts may be numbers.
func readRecord(payload []byte) (csvimport.Record, error) {
	var record csvimport.Record
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		return record, wrong("it is not a JSON object: %v", err)
	}
	into := map[string]*string{"user_id": &record.UserID, "login_count": &record.LoginCount,
		"post_count": &record.PostCount}
	for name, value := range members {
		to := into[name]
		switch {
		case to != nil:
			text, err := textOf(name, value)
			if err != nil {
				return record, err
			}
			*to = text
		case name != "line" && name != "problem" && name != "letter": // members of a normalised copy
			return record, wrong("column %q is not known: write user_id, login_count and post_count", name)
		}
	}
	for name := range into {
		if _, ok := members[name]; !ok {
			return record, wrong("%s is missing", name)
		}
	}
	return record, nil
}

func wrong(format string, args ...any) error {
	return csvimport.Fail(retry.ValidationError, format, args...)
}

func textOf(name string, value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	}
	return "", wrong("%s is neither text nor a number", name)
}

// fileOf returns the text of the file with those items of a delivery that come from one bucket. An item that is not a
// record becomes an empty record, which the import rejects.
func fileOf(d *deadletters.Delivery, bucket string) string {
	var records []csvimport.Record
	for i := range d.Items {
		if bucketOf(&d.Items[i]) != bucket {
			continue
		}
		record, _ := readRecord(d.Items[i].Payload)
		record.Letter = d.Items[i].ID
		records = append(records, record)
	}
	var b strings.Builder
	_ = csvfile.LettersFile(&b, records) // into memory: cannot fail
	return b.String()
}

// linesOf returns the line of each item in the file that an earlier version wrote for a delivery, without letters.
func linesOf(d *deadletters.Delivery, bucket string) []int64 {
	lines := make([]int64, len(d.Items))
	next := int64(2)
	for i := range d.Items {
		if bucketOf(&d.Items[i]) == bucket {
			record, _ := readRecord(d.Items[i].Payload)
			lines[i] = next
			next += 1 + int64(strings.Count(record.UserID+record.LoginCount+record.PostCount, "\n"))
		}
	}
	return lines
}

func line(n int64) string { return strconv.FormatInt(n, 10) }
