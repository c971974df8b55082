package sns

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"stepback/aws"
)

// FileName is the name of the file of messages in the data directory.
const FileName = "notifications.jsonl"

// Options are the settings of Topics; the zero value is usable.
type Options struct {
	// Region and Account appear in ARNs; the defaults are us-east-1 and 000000000000.
	Region, Account string
	// Received, when set, is called with each message after it has been kept. It is called from many goroutines.
	Received func(Notification)
	// Now gives the time of a message; the default is time.Now.
	Now func() time.Time
}

// Notification is a message as it is kept and delivered, one JSON object in a line, with the member names that SNS uses
// for its deliveries.
type Notification struct {
	Type      string    `json:"Type"` // "Notification"
	MessageID string    `json:"MessageId"`
	TopicARN  string    `json:"TopicArn"`
	Subject   string    `json:"Subject,omitempty"`
	Message   string    `json:"Message"`
	Timestamp time.Time `json:"Timestamp"`
}

func invalidParameter(what string) *aws.Error {
	return &aws.Error{Code: "InvalidParameter", Message: "Invalid parameter: " + what, Status: http.StatusBadRequest}
}

// Topics is the SNS service of the laptop. It is safe for concurrent use.
type Topics struct {
	opts Options

	mu   sync.Mutex
	arns []string

	// writing keeps the lines of the file whole; it is held for one write.
	writing sync.Mutex
	file    *os.File
	torn    bool // the file ends in the middle of a line
}

// Open opens or makes the file of messages in dir. A line that a crash or a full disk cut off is ended, so that the
// next one can be read.
func Open(dir string, opts Options) (*Topics, error) {
	if opts.Region == "" {
		opts.Region = "us-east-1"
	}
	if opts.Account == "" {
		opts.Account = "000000000000"
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	torn, err := endsTorn(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Topics{opts: opts, file: f, torn: torn}, nil
}

func endsTorn(f *os.File) (bool, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return false, err
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], size-1)
	return last[0] != '\n', err
}

var topicName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// CreateTopic makes the topic, if need be, and returns its ARN.
func (t *Topics) CreateTopic(name string) (string, error) {
	if !topicName.MatchString(name) {
		return "", invalidParameter("Topic Name")
	}
	arn := aws.Scope{Account: t.opts.Account, Region: t.opts.Region}.ARN("sns", name)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.arns, arn) {
		t.arns = append(t.arns, arn)
	}
	return arn, nil
}

func (t *Topics) exists(arn string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Contains(t.arns, arn)
}

// keep appends n to the file in one write.
func (t *Topics) keep(n Notification) error {
	line, err := json.Marshal(n)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	t.writing.Lock()
	defer t.writing.Unlock()
	if t.torn {
		line = append([]byte{'\n'}, line...)
	}
	written, err := t.file.Write(line)
	t.torn = err != nil && (written > 0 || t.torn)
	return err
}

// Close closes the file; nothing can be published any more.
func (t *Topics) Close() error { return t.file.Close() }
