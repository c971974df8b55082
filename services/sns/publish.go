package sns

import (
	"context"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"stepback/aws"
)

// SNS's limits of a message.
const (
	MaxMessageBytes      = 256 << 10
	MaxSubjectCharacters = 100
)

// PublishInput is a message and the topic that it goes to.
type PublishInput struct {
	TopicARN string
	Subject  string // may be empty; no line breaks or control characters
	Message  string // UTF-8, not empty
}

// Publish keeps the message, hands it to the subscriber and returns its id. An error is an *aws.Error: NotFound for an
// unknown topic, InvalidParameter for a message or subject that SNS would refuse, InternalError when the file cannot be
// written; or ctx's.
func (t *Topics) Publish(ctx context.Context, in PublishInput) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := t.check(in); err != nil {
		return "", err
	}
	n := Notification{
		Type: "Notification", MessageID: aws.NewID(), TopicARN: in.TopicARN,
		Subject: in.Subject, Message: in.Message, Timestamp: t.opts.Now().UTC(),
	}
	if err := t.keep(n); err != nil {
		return "", internal("The message could not be kept and was not delivered", err)
	}
	if t.opts.Received != nil {
		t.opts.Received(n)
	}
	return n.MessageID, nil
}

// check returns an error without a type, because a nil *aws.Error would be none.
func (t *Topics) check(in PublishInput) error {
	switch {
	case strings.Count(in.TopicARN, ":") != 5 || !strings.HasPrefix(in.TopicARN, "arn:"):
		return invalidParameter("TopicArn Reason: An ARN must have at least 6 elements, not " + quoteShort(in.TopicARN))
	case !t.exists(in.TopicARN):
		return &aws.Error{Code: "NotFound", Message: "Topic does not exist", Status: http.StatusNotFound}
	case in.Message == "":
		return invalidParameter("Empty message")
	case len(in.Message) > MaxMessageBytes:
		return invalidParameter("Message too long")
	case !utf8.ValidString(in.Message):
		return invalidParameter("Message Reason: not UTF-8")
	case !validSubject(in.Subject):
		return invalidParameter("Subject")
	}
	return nil
}

func validSubject(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= MaxSubjectCharacters &&
		!strings.ContainsFunc(s, unicode.IsControl)
}

func quoteShort(s string) string {
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return `"` + strings.ToValidUTF8(s, "?") + `"`
}
