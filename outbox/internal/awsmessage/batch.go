package awsmessage

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"stepback/outbox"
)

// MaxMessages is the maximum number of messages in one batch of SNS or SQS.
const MaxMessages = 10

// Call is the part of *client.Named that a batch needs. It calls an operation; encoding/json encodes in and decodes
// out.
type Call func(ctx context.Context, operation string, in, out any) error

// Batch holds what differs between PublishBatch of SNS and SendMessageBatch of SQS.
type Batch struct {
	Service   string // in errors: SNS
	Operation string
	MaxBytes  int    // limit for one message with its attributes
	To        string // the member that names the destination: TopicArn
	At        string // the destination: a topic's ARN, a queue's URL
	Entries   string // the member that holds the entries
	Body      string // the member of an entry that holds the payload
}

// Send sends messages and returns one error for each. The error is nil if the message was accepted.
func (b *Batch) Send(ctx context.Context, call Call, all []*outbox.Message) []error {
	errs := make([]error, len(all))
	var entries []map[string]any
	for i, m := range all {
		entry, size := b.entry(i, m)
		if size > b.MaxBytes {
			errs[i] = TooLarge(b.Service, size, b.MaxBytes)
			continue
		}
		entries = append(entries, entry)
	}
	if len(entries) == 0 {
		return errs
	}
	var out answer
	if err := call(ctx, b.Operation, map[string]any{b.To: b.At, b.Entries: entries}, &out); err != nil {
		for i := range errs {
			if errs[i] == nil {
				errs[i] = err
			}
		}
		return errs
	}
	b.read(&out, errs)
	return errs
}

// read sets the error of each message from the output.
func (b *Batch) read(out *answer, errs []error) {
	answered := make([]bool, len(errs))
	for _, entry := range out.Successful {
		mark(answered, entry.ID)
	}
	for _, failed := range out.Failed {
		if i, ok := mark(answered, failed.ID); ok {
			errs[i] = Entry(b.Service, failed.Code, failed.Message, failed.SenderFault)
		}
	}
	for i := range errs {
		if !answered[i] && errs[i] == nil {
			errs[i] = fmt.Errorf("%s returned no result for the message", b.Service)
		}
	}
}

func mark(answered []bool, id string) (int, bool) {
	i, err := strconv.Atoi(id)
	if err != nil || i < 0 || i >= len(answered) {
		return 0, false
	}
	answered[i] = true
	return i, true
}

// entry converts a message to an entry whose ID is its index in the batch, and returns the entry's size. FIFO queues
// and topics also get the message's ID and group.
func (b *Batch) entry(i int, m *outbox.Message) (map[string]any, int) {
	body, encoded := Body(m)
	attributes := Attributes(m, encoded)
	values := make(map[string]any, len(attributes))
	for name, value := range attributes {
		values[name] = map[string]string{"DataType": "String", "StringValue": value}
	}
	e := map[string]any{"Id": strconv.Itoa(i), b.Body: body, "MessageAttributes": values}
	if strings.HasSuffix(b.At, ".fifo") {
		e["MessageDeduplicationId"], e["MessageGroupId"] = m.ID, group(m)
	}
	return e, Size(body, attributes)
}

// answer is the output of both operations.
type answer struct {
	Successful []struct {
		ID string `json:"Id"`
	}
	Failed []struct {
		ID            string `json:"Id"`
		Code, Message string
		SenderFault   bool
	}
}
