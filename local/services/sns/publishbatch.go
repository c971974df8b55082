package sns

import (
	"context"
	"slices"

	"stepback/aws"
)

// mostEntries is the maximum number of entries in a batch.
const mostEntries = 10

type publishEntry struct {
	ID         string `json:"Id"`
	Message    string
	Subject    *string
	Structure  string               `json:"MessageStructure"`
	Attributes map[string]attribute `json:"MessageAttributes"`
	Duplicate  string               `json:"MessageDeduplicationId"`
	Group      string               `json:"MessageGroupId"`
}

type publishBatchRequest struct {
	topicName
	Entries []publishEntry `json:"PublishBatchRequestEntries"`
}

type publishedEntry struct {
	ID string `json:"Id"`
	publishAnswer
}

type failedEntry struct {
	ID      string `json:"Id"`
	Code    string
	Message string `json:",omitempty"`
	Sender  bool   `json:"SenderFault"`
}

type publishBatchAnswer struct {
	Successful []publishedEntry
	Failed     []failedEntry
}

func (s *Service) publishBatch(ctx context.Context, scope aws.Scope, in *publishBatchRequest) (*publishBatchAnswer,
	error) {
	s.mu.RLock()
	t, err := s.find(scope, in.ARN)
	s.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	if err := checkEntries(in.Entries); err != nil {
		return nil, err
	}
	messages := make([]*message, len(in.Entries))
	size := 0
	for i := range in.Entries {
		e := &in.Entries[i]
		m := &message{Type: typeNotification, Topic: t.arn, Body: e.Message, Attributes: e.Attributes, Group: e.Group,
			Deduplication: e.Duplicate, Trace: traceOf(ctx)}
		if e.Subject != nil {
			if m.Subject = *e.Subject; m.Subject == "" {
				return nil, invalid("Subject")
			}
		}
		if size += m.size(); size > MaxMessageBytes {
			return nil, errBatchTooLong
		}
		if err := m.check(); err != nil {
			return nil, err
		}
		if err := m.structured(e.Structure); err != nil {
			return nil, err
		}
		messages[i] = m
	}
	if err := s.publishTo(scope, in.ARN, slices.Clone(messages)); err != nil {
		return nil, err
	}
	out := &publishBatchAnswer{Successful: make([]publishedEntry, len(messages)), Failed: []failedEntry{}}
	for i, m := range messages {
		out.Successful[i] = publishedEntry{in.Entries[i].ID, publishAnswer{m.ID, m.Sequence}}
	}
	return out, nil
}

// checkEntries validates the number and IDs of the entries of a batch.
func checkEntries(entries []publishEntry) error {
	switch {
	case len(entries) == 0:
		return &aws.Error{Code: "EmptyBatchRequest", Message: "The batch request doesn't contain any entries."}
	case len(entries) > mostEntries:
		return &aws.Error{Code: "TooManyEntriesInBatchRequest",
			Message: "The batch request contains more entries than permissible."}
	}
	const mostCharacters = 80
	seen := map[string]bool{}
	for i := range entries {
		id := entries[i].ID
		if seen[id] {
			return &aws.Error{Code: "BatchEntryIdsNotDistinct",
				Message: "Two or more batch entries in the request have the same Id."}
		}
		seen[id] = true
		if len(id) > mostCharacters {
			return &aws.Error{Code: "InvalidBatchEntryId",
				Message: "The Id of a batch entry in the batch request is too long: " + id}
		}
		if !standardName().MatchString(id) {
			return &aws.Error{Code: "InvalidBatchEntryId",
				Message: "The Id of a batch entry in the batch request contains an impermissible character: " + id}
		}
	}
	return nil
}
