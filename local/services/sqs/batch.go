package sqs

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"sync"

	"stepback/aws"
)

// mostEntries is the maximum number of entries in a batch.
const mostEntries = 10

var entryID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`) })

// failed is a batch entry that was refused.
type failed struct {
	ID      string `json:"Id"`
	Sender  bool   `json:"SenderFault"`
	Code    string
	Message string
}

// identified is a batch entry that succeeded without a further result.
type identified struct {
	ID string `json:"Id"`
}

func batchTooLong(sent int) *aws.Error {
	return &aws.Error{Code: "BatchRequestTooLong", Message: fmt.Sprintf(
		"Batch requests cannot be longer than %d bytes. You have sent %d bytes.", MaxMessageBytes, sent)}
}

// checkBatch validates the number and IDs of the entries of a batch; kind is the name of their shape.
func checkBatch[T any](kind string, entries []T, id func(*T) string) error {
	switch {
	case len(entries) == 0:
		return &aws.Error{Code: "EmptyBatchRequest", Message: "There should be at least one " + kind +
			" in the request."}
	case len(entries) > mostEntries:
		return &aws.Error{Code: "TooManyEntriesInBatchRequest", Message: fmt.Sprintf(
			"Maximum number of entries per request are %d. You have sent %d.", mostEntries, len(entries))}
	}
	seen := map[string]bool{}
	for i := range entries {
		name := id(&entries[i])
		if !entryID().MatchString(name) {
			return &aws.Error{Code: "InvalidBatchEntryId", Message: "A batch entry id can only contain alphanumeric " +
				"characters, hyphens and underscores. It can be at most 80 letters long."}
		}
		if seen[name] {
			return &aws.Error{Code: "BatchEntryIdsNotDistinct", Message: "Id " + name + " repeated."}
		}
		seen[name] = true
	}
	return nil
}

// refused returns the failed entry for an error. ok is false for an error that is not the client's fault.
func refused(id string, err error) (failed, bool) {
	var e *aws.Error
	if !errors.As(err, &e) || e.ByServer() {
		return failed{}, false
	}
	return failed{id, true, cmp.Or(queryCodes[e.Code], e.Code), e.Message}, true
}
