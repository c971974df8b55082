package sns

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/internal/ownerfs"
	"stepback/local/services/documents"
	"stepback/local/services/inventory"
)

// The files in the data directory. FileName holds the messages of topics without subscriptions. OldFileName holds
// older such messages, after a rotation. ListName is the file in which earlier versions stored the ARNs of topics;
// it is read once.
const (
	FileName    = "notifications.jsonl"
	OldFileName = "notifications.1.jsonl"
	ListName    = "topics.txt"
)

// mostFileBytes is the size at which the file is rotated.
const mostFileBytes = 64 << 20

// Notification is a message in the file, one JSON object per line, with the member names that SNS uses for its
// deliveries.
type Notification struct {
	Type      string    `json:"Type"` // "Notification"
	MessageID string    `json:"MessageId"`
	TopicARN  string    `json:"TopicArn"`
	Subject   string    `json:"Subject,omitempty"`
	Message   string    `json:"Message"`
	Timestamp time.Time `json:"Timestamp"`
}

// file stores the messages of topics without subscriptions, which would be lost on AWS.
type file struct {
	dir string

	files *inventory.Files // nil if the files are in no inventory

	mu   sync.Mutex
	file *os.File
	size int64
	sum  uint32 // checksum of the file
	// damaged says that the file differs from what was written. The inventory keeps what it was, until a repair.
	damaged error
	torn    bool // the file ends within a line
}

// open opens or creates the file. If the last line was cut off by a crash or a full disk, a line end is added so that
// the next line can be read.
func (f *file) open(dir string) error {
	f.dir, f.size, f.sum, f.damaged = dir, 0, 0, nil
	if err := os.MkdirAll(dir, ownerfs.Dir); err != nil {
		return err
	}
	opened, err := os.OpenFile(filepath.Join(dir, FileName), os.O_APPEND|os.O_CREATE|os.O_RDWR, ownerfs.File)
	if err != nil {
		return err
	}
	f.file = opened
	content, err := os.ReadFile(opened.Name())
	if err != nil {
		return err
	}
	f.size, f.sum, f.torn = int64(len(content)), inventory.Sum(0, content), len(content) > 0 &&
		content[len(content)-1] != '\n'
	e, known, err := f.files.Entry(opened.Name())
	if err == nil && known {
		f.damaged = inventory.VerifyGrown(opened.Name(), content, e)
	}
	return err
}

// note notes the size and the checksum of the file.
func (f *file) note() {
	if f.damaged != nil {
		return
	}
	f.files.Note(filepath.Join(f.dir, FileName), inventory.Entry{Length: f.size, Sum: f.sum})
}

// keep appends a message in one write.
func (f *file) keep(m *message) error {
	line, err := json.Marshal(Notification{m.Type, m.ID, m.Topic, m.Subject, m.Body, m.Time.UTC()})
	if err != nil {
		return err
	}
	line = append(line, '\n')
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size > mostFileBytes {
		if err := f.turn(); err != nil {
			return err
		}
	}
	if f.torn {
		line = append([]byte{'\n'}, line...)
	}
	written, err := f.file.Write(line)
	f.size, f.sum = f.size+int64(written), inventory.Sum(f.sum, line[:written])
	f.note()
	f.torn = err != nil && (written > 0 || f.torn)
	return err
}

// turn rotates the file. mu is held.
func (f *file) turn() error {
	path, old := filepath.Join(f.dir, FileName), filepath.Join(f.dir, OldFileName)
	if err := errors.Join(f.file.Close(), f.files.Forget(path, old), os.Rename(path, old)); err != nil {
		return err
	}
	f.files.Note(old, inventory.Entry{Length: f.size, Sum: f.sum})
	return f.open(f.dir)
}

func (f *file) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// migrate imports the topics from a directory written by an earlier version.
func (s *Service) migrate() error {
	path := filepath.Join(s.opts.Dir, ListName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	arns := strings.Fields(string(text))
	slices.Sort(arns)
	if err := s.change(func(now int64, b *documents.Batch) error {
		for _, arn := range arns {
			a, ok := aws.ParseARN(arn)
			if !ok || s.topics[arn] != nil {
				continue
			}
			if err := s.keepTopic(b, s.addTopic(topicRecord{Account: a.Account, Region: a.Region, Name: a.Resource,
				Created: now})); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return os.Remove(path)
}
