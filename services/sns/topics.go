package sns

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/internal/atomicfile"
)

// The files in the data directory: FileName has the messages, ListName the ARNs of the topics, one in a line.
const (
	FileName = "notifications.jsonl"
	ListName = "topics.txt"
)

// Options are the settings of Topics; the zero value is usable.
type Options struct {
	// Scope is the account and region of requests that name none; empty means 000000000000 and us-east-1.
	Scope aws.Scope
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

func internal(what string, err error) *aws.Error {
	return &aws.Error{Code: "InternalError", Status: http.StatusInternalServerError, Message: what + ": " + err.Error()}
}

// Topics is the SNS service of the laptop. It is safe for concurrent use.
type Topics struct {
	opts Options

	list string // the file of ARNs

	mu   sync.Mutex
	arns []string // sorted

	// writing keeps the lines of the file whole; it is held for one write.
	writing sync.Mutex
	file    *os.File
	torn    bool // the file ends in the middle of a line
}

// Open opens or makes the file of messages in dir. A line that a crash or a full disk cut off is ended, so that the
// next one can be read.
func Open(dir string, opts Options) (*Topics, error) {
	opts.Scope.Region = cmp.Or(opts.Scope.Region, "us-east-1")
	opts.Scope.Account = cmp.Or(opts.Scope.Account, "000000000000")
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
	t := &Topics{opts: opts, file: f, torn: torn, list: filepath.Join(dir, ListName)}
	if t.arns, err = readList(t.list); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
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

// CreateTopic makes the topic of an account and region, if need be, and returns its ARN.
func (t *Topics) CreateTopic(scope aws.Scope, name string) (string, error) {
	if !topicName.MatchString(name) {
		return "", invalidParameter("Topic Name")
	}
	arn := scope.ARN("sns", name)
	return arn, t.change(func(arns []string) []string {
		at, found := slices.BinarySearch(arns, arn)
		if found {
			return arns
		}
		return slices.Insert(arns, at, arn)
	})
}

// DeleteTopic forgets a topic, if there is one of that ARN. Its messages stay.
func (t *Topics) DeleteTopic(arn string) error {
	return t.change(func(arns []string) []string {
		return slices.DeleteFunc(arns, func(other string) bool { return other == arn })
	})
}

// change keeps another list of topics, and only then lets it take effect.
func (t *Topics) change(edit func([]string) []string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	arns := edit(slices.Clone(t.arns))
	if slices.Equal(arns, t.arns) {
		return nil
	}
	text := strings.Join(arns, "\n") + "\n"
	if err := atomicfile.Write(t.list, []byte(text), 0o600); err != nil {
		return internal("The list of topics could not be kept", err)
	}
	t.arns = arns
	return nil
}

func readList(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	arns := strings.Fields(string(text))
	slices.Sort(arns)
	return arns, err
}

// of returns the topics of an account and region, sorted.
func (t *Topics) of(scope aws.Scope) []string {
	prefix := scope.ARN("sns", "")
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []string
	for _, arn := range t.arns {
		if strings.HasPrefix(arn, prefix) {
			found = append(found, arn)
		}
	}
	return found
}

func (t *Topics) exists(arn string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, found := slices.BinarySearch(t.arns, arn)
	return found
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
